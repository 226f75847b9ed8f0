#pragma once

// The communication schemes side by side: what each makes of one pattern, counted from its plan, and the time
// that the plan takes on a machine. Pure but for gather() and times_by_nodes().

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "comm/costs/plan_time.hpp"
#include "comm/plans/counts.hpp"
#include "comm/plans/schemes.hpp"
#include "comm/ranks/communicator.hpp"

namespace keel {

// A machine to predict times on, and where the messages' data lie.
struct Model {
    Machine machine;
    Memory memory = Memory::host;
};
// Throws MissingParameter, with all that is missing, unless all is known that plans on these nodes may need.
void require_known(const Model& model, const Topology& topology);

// One rank's share of a plan.
struct Share {
    struct Side {
        Volume volume;
        double longest = 0;           // values of a message
        std::array<Load, 4> loads{};  // `local` and each stage; zero without a model
        std::array<Load, 4> near{};   // the same if all ranks of a node shared a socket
    };
    Side sent;
    Side received;
};

// The nodes of a pattern's ranks, and a model of their messages' cost if that is wanted.
struct Setup {
    const Topology& topology;
    const Model* model = nullptr;
    std::size_t value_bytes = sizeof(double);  // bytes of a value
};

// The shares of all ranks.
std::vector<Share> shares_of(const Plan& plan, std::size_t columns, const Setup& setup);
// The share of one rank, from its part of a plan.
Share share_of(const Plan& plan, int rank, std::size_t columns, const Setup& setup);
// Every rank's share by rank, on rank 0 (empty elsewhere). Collective.
std::vector<Share> gather(const Communicator& comm, const Share& mine);

// A scheme's numbers over all ranks.
struct SchemeRow {
    SchemeOptions scheme;
    Volume all;                  // sent by all ranks
    Volume most_sent;            // each number of the rank that has most
    Volume most_received;        // the same for receives
    double longest_message = 0;  // values
    // With a model. If sockets are unknown, `time` has no two ranks share one, and `near` all of a node.
    std::optional<PlanTime> time;
    std::optional<PlanTime> near;
    // In the row of `standard`, with a model and the whole pattern: input of the papers' closed forms
    // (scripts/papers/formulas.py).
    std::optional<PatternCounts> pattern;

    // With a model, the seconds to choose by: the mean of both if sockets are unknown.
    double seconds() const { return near ? (time->total() + near->total()) / 2 : time->total(); }
};
SchemeRow summary(const SchemeOptions& scheme, std::span<const Share> shares, const Setup& setup);
// The rows' times alone, from each rank's share by each scheme, equal on all ranks: the ranks of a node
// gather their shares, and the slowest node decides, so that no rank holds more than a node's shares. With a
// model. Collective over the topology's ranks; `node` has those of this rank's node.
std::vector<SchemeRow> times_by_nodes(const Communicator& comm, const Communicator& node,
                                      std::span<const SchemeOptions> schemes, std::span<const Share> mine,
                                      const Setup& setup);
// Doubles that times_by_nodes() communicates for a scheme: each rank's on its node, and those of the maximum.
inline constexpr std::size_t words_on_node = sizeof(Share) / sizeof(double);
inline constexpr std::size_t words_agreed = 2 * sizeof(PlanTime) / sizeof(double);

// Fills `pattern` of the rows, if the first is standard's and there is a model.
void count_pattern(std::span<SchemeRow> rows, const Pattern& pattern, const Setup& setup);

// The schemes' rows for a pattern that is known as a whole, by schemes that need no axes. (Ghosts of a
// layout: Representatives::compare.)
std::vector<SchemeRow> compare(const Pattern& pattern, std::span<const SchemeOptions> schemes,
                               const Setup& setup);

// The row of least predicted time; of those that differ by rounding the first.
const SchemeRow& fastest(std::span<const SchemeRow> rows);

}  // namespace keel
