#pragma once

// The time that a plan takes on a machine, from its real messages: exact duplicates, sends and receives, the
// protocol of each message. Pure.

#include <array>
#include <span>

#include "comm/costs/machine.hpp"
#include "comm/ranks/locality.hpp"

namespace keel {

// The cost of all messages that one process sends, or receives, in a phase: seconds by alpha and by beta, and
// the bytes that the node's injection rate limits. Each message takes (1 - concurrency) of its alpha, at
// least its overhead, one after the other; the latency that is left passes once for all, so that the longest
// counts.
struct Load {
    double overhead = 0;
    double latency = 0;
    double on_node = 0;
    double off_node = 0;
    double off_node_bytes = 0;

    // Adds one message. Throws MissingParameter.
    void add(const Machine& machine, Memory memory, Locality locality, double bytes,
             Carrier carrier = Carrier::isend);
    Load& operator+=(const Load& other);
};

// Seconds that the slowest process takes for a phase, from the loads of all ranks, sent or received (a phase
// takes the larger of the two): overhead and latency of its messages, and the sum of beta times bytes, but
// for those to or from other nodes no less than all such bytes of its node at the rate R_N. Throws
// MissingParameter.
double slowest(const Machine& machine, std::span<const int> node_of, std::span<const Load> loads);

struct PlanTime {
    double local = 0;                // the phase that overlaps the others
    std::array<double, 3> stages{};  // as in the plan, one after the other
    double first = 0;  // `local` and the first stage, for the process that both together take longest

    double between_nodes() const;  // the stages
    // The seconds to choose a scheme by. A process works on `local` and the first stage at once, with one
    // core, so that their times add up for it; processes do not wait for each other between the two. Then
    // come the other stages.
    double total() const;
};

}  // namespace keel
