#pragma once

// The papers' closed forms for the time that communication between nodes takes, from a few counts of a
// pattern. Equations (2.x) and (4.x): Lockhart, "Reducing Communication Bottlenecks in Iterative Solvers",
// PhD thesis, University of Illinois 2023; "2020": Bienz, Gropp, Olson, "Reducing communication in algebraic
// multigrid with multi-step node aware communication", IJHPCA 2020. Seconds and bytes.
//
// All of them count what is sent, never what is received: for a gather to one rank they find one message and
// choose the standard scheme, where counting receives gives the node-aware ones 5 to 25 times. Nor do they
// know of the messages that a plan really has, or of those that stay within a node. To choose a scheme, use
// the time of its plan.
//
// Left out are Tables 3.7 and 3.8 of the thesis, the only ones with the split scheme: they charge each
// message within a node with all of the node's bytes, and so never find split the fastest in the scenarios
// where the text does.

#include <optional>

#include "comm/costs/machine.hpp"
#include "comm/plans/counts.hpp"
#include "comm/plans/schemes.hpp"

namespace keel {

// What the formulas take of a machine: the costs of messages of one size.
struct Network {
    Postal off_node;
    Postal on_node;         // between sockets
    double injection_beta;  // 1 / R_N
    double ranks_per_node;
};
// For messages of so many bytes. Nothing is passed on within nodes of one rank. Throws MissingParameter.
Network network(const Machine& machine, Memory memory, double message_bytes, double ranks_per_node);

double on_node_time(const Network& net, double messages, double bytes);  // (2.4), 2020 (3)

// `columns` of a block vector; with one, the formulas for vectors.
// 2020 (4). What leaves a node is counted with duplicates, as what leaves a rank is, for this scheme sends them; with the s_node of
// the other formulas, which has none, less might leave a node than one of its ranks sends.
double standard_time(const Network& net, const PatternCounts& counts, double columns);
double two_step_time(const Network& net, const PatternCounts& counts,
                     double columns);  // (2.6), (4.9), 2020 (5)
// 2020 (6). (2.5) and (4.10) are the same with the bytes of one process, not of a pair of nodes, in the
// network.
double three_step_time(const Network& net, const PatternCounts& counts, double columns);

// The closed form of a scheme, on nodes of so many ranks at the most: 2020 (4), (5) or (6), with the costs of
// messages of the mean size that the scheme sends between nodes. The papers have messages from host memory;
// those of another memory are charged with its costs. Nothing where there is no closed form, or nothing
// crosses between nodes. Throws MissingParameter.
std::optional<double> closed_form_time(const SchemeOptions& scheme, const PatternCounts& counts,
                                       const Machine& machine, Memory memory, double ranks_per_node);

}  // namespace keel
