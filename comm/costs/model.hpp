#pragma once

// Closed forms for the time that communication between nodes takes, from a few counts of a pattern. Equations (2.x),
// (3.x), (4.x) and Tables 3.7, 3.8: Lockhart, "Performance of communication in parallel solvers", PhD thesis, University of
// Illinois 2023; "2020": Bienz, Gropp, Olson, "Reducing communication in algebraic multigrid with multi-step node aware
// communication", IJHPCA 2020. Seconds and bytes. Where a page is in error, an enumeration tells what is printed from
// what is meant.
//
// All of them count what is sent, never what is received: for a gather to one rank they find m = 1 and choose the
// standard scheme, where counting receives gives the node-aware ones 5 to 25 times. Nor do they know of the messages that
// a plan really has. To choose a scheme, use plan_time().

#include "comm/costs/machine.hpp"

namespace keel {

// What the closed forms know of a pattern, in their letters: maxima over ranks or nodes of what is sent to other nodes,
// bytes of one column.
struct ModelCounts {
    double m = 0;            // messages of a rank, sent straight to who needs them
    double s = 0;            // and their bytes
    double s_proc = 0;       // the same bytes without duplicates: each once for each node
    double s_node = 0;       // of a node, without duplicates
    double m_proc_node = 0;  // nodes that a rank sends to
    // Nodes that a node sends to. The page says "maximum number of messages between two nodes", which would be 1 for
    // the 3-step scheme.
    double m_node_node = 0;
    double s_node_node = 0;  // from one node to another, without duplicates
};

// What the formulas of chapters 2 and 4 take: the costs of messages of one size.
struct Network {
    Postal off_node;
    Postal on_node;
    double injection_beta;  // 1 / R_N
    double ranks_per_node;
};
// Those of messages of so many bytes, `on_node` between sockets.
Network network(const Machine& machine, double message_bytes);

double postal_time(const Network& net, double bytes);  // (2.1)
double max_rate_time(const Network& net, double messages,
                     double bytes);  // (2.2): each rank of a node sends so
double on_node_time(const Network& net, double messages, double bytes);  // (2.4), 2020 (3)

// Which bytes of the 3-step scheme a rank sends through the network: those of one process (2.5), or those of a node to
// another, 2020 (6).
enum class ThreeStepBytes { of_process, of_node_pair };

// `columns` of a block vector; with one, the formulas for vectors.
double standard_time(const Network& net, const ModelCounts& counts, double columns);  // 2020 (4)
double two_step_time(const Network& net, const ModelCounts& counts,
                     double columns);  // (2.6), (4.9), 2020 (5)
double three_step_time(const Network& net, const ModelCounts& counts, double columns,
                       ThreeStepBytes bytes);  // (2.5), (4.10), 2020 (6)

// Gathering or spreading `bytes` in a node with so many active ranks (or devices) a socket, each message of the full
// `bytes`: (3.1), (3.2).
double gather_time(const Machine& machine, Memory memory, double per_socket, double bytes);
// The same for Split, where each device has `ranks_per_gpu` ranks: (3.4); with one, (3.3).
double split_gather_time(const Machine& machine, double ranks_per_gpu, double bytes);
// Between nodes from host memory, at most R_N: (3.5). Messages of `message_bytes`, by which the protocol goes.
double staged_time(const Machine& machine, double messages, double bytes, double node_bytes,
                   double message_bytes);
// Between nodes from device memory: (3.6).
double device_aware_time(const Machine& machine, double messages, double bytes, double message_bytes);

// (3.7) as printed has the sender copy to the device and the receiver to the host; the data go the other way.
enum class CopyLabels { printed, exchanged };
double copy_time(const CopyCosts& costs, double sent, double received, CopyLabels labels);

// Tables 3.7 and 3.8 charge each message within a node with all bytes, so that with s_node Split moves them 2 pps - 1
// times; `share` charges it with the part that one of the node's ranks has.
enum class OnNodeBytes { full, share };

struct SchemeTimes {
    double standard = 0;
    double two_step = 0;
    double three_step = 0;
    double split = 0;
};
// Between processor cores: Table 3.7, which unlike (2.5) does not divide the 3-step scheme's messages by the ranks.
// Neither with `full` nor with `share` is Split the least in any scenario of section 3.5.3.1, though the text says so.
SchemeTimes table_3_7(const Machine& machine, const ModelCounts& counts, double columns,
                      OnNodeBytes on_node = OnNodeBytes::full);

// Table 3.8 has no copies in the standard scheme through the host, though its data are staged like the others'.
enum class StandardCopies { printed, charged };

struct GpuSchemeTimes {
    double standard_host = 0;  // staged through host memory
    double standard_device = 0;
    double two_step_host = 0;
    double two_step_device = 0;
    double three_step_host = 0;
    double three_step_device = 0;
    double split_md = 0;  // one rank copies from the device and spreads over all cores' ranks
    double split_dd = 0;  // four ranks copy from the device
};
// Between devices, counts per device: Table 3.8. The gather of the 2-step scheme on devices is that of devices (the
// page has that of cores).
GpuSchemeTimes table_3_8(const Machine& machine, const ModelCounts& counts, double columns,
                         StandardCopies copies = StandardCopies::printed);

// One iteration of enlarged conjugate gradients with `columns` directions.
struct EnlargedIteration {
    double ranks = 1;
    double columns = 1;
    double rows = 0;  // of the matrix
    double nonzeros = 0;
    double seconds_per_flop = 0;  // gamma
};
// Two all-reduces of 4 t^2 words in all, of `word_bytes`: (4.5).
double enlarged_reduction_time(const Postal& cost, const EnlargedIteration& it, double word_bytes = 8);
double enlarged_work_time(const EnlargedIteration& it);  // (4.6)
// Communication alone, by the postal model: (4.4).
double enlarged_postal_time(const Network& net, const ModelCounts& counts, const EnlargedIteration& it);
// All of it, by the max-rate model: (4.7).
double enlarged_time(const Network& net, const ModelCounts& counts, const EnlargedIteration& it);

}  // namespace keel
