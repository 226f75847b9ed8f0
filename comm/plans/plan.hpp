#pragma once

// A communication plan: which rank sends what to which, in which order. Pure data, made by a planner, run by
// an exchange. Lengths are in values of one field; a span of fields multiplies them.

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "comm/patterns/pattern.hpp"
#include "comm/plans/carrier.hpp"
#include "comm/ranks/topology.hpp"
#include "kernels/names.hpp"
#include "kernels/timing/ledger.hpp"

namespace keel {

// `sequence` tells apart messages of one phase between the same two ranks; they are sent and received in its
// order.
struct Message {
    int source = 0;
    int target = 0;
    int sequence = 0;
    std::vector<Item> items;  // ascending, distinct, not empty

    std::size_t values() const;
    friend bool operator==(const Message&, const Message&) = default;
};

// The node-aware schemes' phases: within a node straight to the ranks that need it, to the node's sender, to
// another node, from the node's receiver to the ranks that need it. The staged axes have their own.
enum class Phase { local, local_s, global, local_r, axis_x, axis_y, axis_z };
constexpr auto names_of(Phase) {
    return std::array{"local", "local_S", "global", "local_R", "axis_x", "axis_y", "axis_z"};
}

// The messages of one phase, ordered by source, target and sequence.
struct PhaseMessages {
    Phase phase = Phase::local;
    std::vector<Message> messages;

    friend bool operator==(const PhaseMessages&, const PhaseMessages&) = default;
};

// All ranks' messages, or those that one rank sends or receives. A message carries items that its source owns
// or that an earlier phase brought it.
struct Plan {
    PhaseMessages local;                // depends on nothing and overlaps all phases
    std::vector<PhaseMessages> phases;  // in this order; any may have no messages
    Carrier carrier = Carrier::isend;

    std::span<const Message> messages(Phase phase) const;  // none where the plan has no such phase
    // Calls visit(phase) for all of them, `local` first.
    template <class Visit>
    void for_each_phase(const Visit& visit) const {
        visit(local);
        for (const PhaseMessages& phase : phases) visit(phase);
    }

    // Everything that `rank` sends when the plan is run once for `fields` fields.
    Traffic traffic(int rank, const Topology& topology, std::size_t fields) const;

    friend bool operator==(const Plan&, const Plan&) = default;
};

// Messages sent, or received, by a rank or several; also means and estimates of these.
struct Volume {
    double messages = 0;
    double bytes = 0;
    double off_node_messages = 0;
    double off_node_bytes = 0;

    Volume& add(const Volume& other, double times = 1);
    Volume& raise_to(const Volume& other);  // each number to the larger of both
};
inline constexpr std::array volume_members{&Volume::messages, &Volume::bytes, &Volume::off_node_messages,
                                           &Volume::off_node_bytes};
Volume volume_of(const Traffic& traffic);

// The same messages with cells of one colour: half of the cells of each item, rounded up.
Plan of_one_colour(Plan plan);

// Whose messages, sent or received, a plan has: all ranks', or those of one.
struct RanksPlanned {
    RanksPlanned() = default;
    RanksPlanned(int rank) : one(rank) {}

    bool all() const { return !one; }
    // Whether a message between the two is one of theirs.
    bool concern(int source, int target) const { return all() || source == *one || target == *one; }

    std::optional<int> one;
};

// One item on one message.
struct Transfer {
    int source;
    int target;
    int sequence;
    Item item;

    friend auto operator<=>(const Transfer&, const Transfer&) = default;
};

// Messages with these items, each item once a message; only those of the ranks planned.
std::vector<Message> messages_of(std::vector<Transfer> transfers, const RanksPlanned& whose);

}  // namespace keel
