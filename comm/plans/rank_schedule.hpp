#pragma once

// One rank's part of a plan, in the order of execution: the places of its messages in two buffers, one for
// all that it sends and one for all that it receives, and the values forwarded from one to the other. Pure
// data.

#include <cstddef>
#include <vector>

#include "comm/plans/plan.hpp"
#include "kernels/bodies/pack.hpp"

namespace keel {

// A message as one of its ends sees it. Lengths are for one field.
struct MessageEnd {
    Phase phase = Phase::local;
    int peer = 0;
    std::size_t offset = 0;  // values before it in the buffer
    std::size_t values = 0;
    bool relayed = false;  // may carry what others own, or bring what others need: packed item by item
    std::vector<Item> items;

    // Calls visit(item, offset in the buffer) for each item of a message that is laid out item by item.
    template <class Visit>
    void for_each_item(const Visit& visit) const {
        std::size_t place = offset;
        for (const Item& item : items) {
            visit(item, place);
            place += static_cast<std::size_t>(item.values);
        }
    }
};

// Messages that can be sent once the first `receives` messages have arrived, and what is forwarded into them
// before.
struct SendStage {
    std::size_t receives = 0;
    std::vector<BlockCopy> forwards;
    std::vector<MessageEnd> sends;
};

struct RankSchedule {
    int rank = 0;
    std::vector<MessageEnd>
        receives;                   // in the order in which they are waited for: phase by phase, `local` last
    std::vector<SendStage> stages;  // the first waits for nothing

    RankSchedule() = default;
    // A message leaves as soon as its values have come.
    RankSchedule(const Plan& plan, int rank);

    bool empty() const { return receives.empty() && stages.front().sends.empty(); }
    std::size_t send_values() const;
    std::size_t receive_values() const;
};

}  // namespace keel
