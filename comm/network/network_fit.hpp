#pragma once

// From timed messages to a machine's parameters. Pure.

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "comm/costs/machine.hpp"

namespace keel {

// The least seconds that a message of this length took.
struct TimedMessage {
    double bytes = 0;
    double seconds = 0;
};

// The samples that a line goes through: those of its protocol's lengths; those of all lengths, if their line
// is rejected; or only the shortest and the longest, if that is, too.
enum class LineThrough { own_lengths, all_lengths, ends };
constexpr auto names_of(LineThrough) {
    return std::array{"own_lengths", "all_lengths", "ends"};
}

// The messages of one class and protocol as alpha + beta bytes, and how far off the samples are, relative to
// them.
struct Fit {
    Locality locality = Locality::socket;
    Protocol protocol = Protocol::rendezvous;
    Postal cost;
    std::size_t samples = 0;
    double rms_residual = 0;
    double max_residual = 0;
    LineThrough through = LineThrough::own_lengths;

    // Messages that cost nothing, or that get cheaper with their length, are no model.
    bool accepted() const { return cost.alpha > 0 && cost.beta > 0; }
};

// Least squares of the relative residuals, (alpha + beta bytes) / seconds - 1: with plain ones the longest
// messages alone would decide alpha. Needs two different lengths.
Fit fit_postal(std::span<const TimedMessage> samples);

// Bytes of the first eager and of the first rendezvous message.
struct Switches {
    std::size_t eager_from = 0;       // 0: no short ones
    std::size_t rendezvous_from = 0;  // 0: no others
};

// The switches, at lengths that were sampled, with which one line for each protocol and class fits best by
// Schwarz's criterion: a switch must lower the residuals by more than its parameters would by chance. All
// classes switch at the same lengths, and each has its own noise, so that the quiet ones decide. Their
// samples are in ascending order of bytes. Fewer than 3 lengths are never a protocol of their own.
Switches find_switches(std::span<const std::vector<TimedMessage>> classes);

// The lines of one class, one for each protocol that there is by these switches. One that is rejected, or has
// fewer than two lengths, gives way to the line of all lengths, and if that is rejected, to the one through
// the shortest and the longest message: with a hole a machine could predict nothing. Needs two different
// lengths.
std::vector<Fit> fit_protocols(Locality locality, std::span<const TimedMessage> samples,
                               const Switches& switches);

// `messages` messages of one length that a rank sends and receives at once: seconds until all have arrived.
struct Burst {
    int messages = 1;
    double seconds = 0;
};

// Machine::concurrency by one rank's bursts: the median of n rounds, and their range, which contains the true
// median with a probability of 1 - 2^(1 - n).
struct Concurrency {
    double median = 0, least = 0, most = 0;

    // The range does not contain 0 and 1, nor misses all between them by more than 0.1: bytes are mispriced.
    bool identifiable() const { return (least > 0 || most < 1) && least < 1.1 && most > -0.1; }
};

// Each round's bursts as the line a + b messages: a is the part of alpha that passes once, and alpha is a + b
// less the `seconds_of_bytes` of a message. Nothing if a message's bytes alone take as long in a round. Each
// round needs two different numbers of messages.
std::optional<Concurrency> fit_concurrency(std::span<const std::vector<Burst>> rounds,
                                           double seconds_of_bytes);

// `processes` of a node at once, each its share of `node_bytes` to another node.
struct TimedNode {
    int processes = 1;
    double node_bytes = 0;
    double seconds = 0;
};

// 1 / R_N: <x, t - alpha> / <x, x> over the samples whose messages are rendezvous and whose processes are 4
// or more (or the most there are), x their node's bytes. Nothing if there is no such sample, alpha is
// unknown, or the result is not positive.
std::optional<double> fit_injection(std::span<const TimedNode> samples, const MessageCosts& costs);

}  // namespace keel
