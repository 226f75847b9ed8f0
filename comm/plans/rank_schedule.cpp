#include "comm/plans/rank_schedule.hpp"

#include <algorithm>

#include "kernels/check.hpp"

namespace keel {
namespace {

// The place of a relayed item, and how many receives must have arrived until it is there.
struct Arrival {
    std::size_t offset;
    std::size_t receives;
};

}  // namespace

RankSchedule::RankSchedule(const Plan& plan, int own_rank) : rank(own_rank), stages(1) {
    // With one phase nothing is passed on.
    const bool relays = plan.phases.size() > 1;
    std::size_t sent = 0;
    std::size_t received = 0;
    std::map<Item, Arrival> arrivals;
    const auto append = [](std::vector<MessageEnd>& ends, const PhaseMessages& phase, const Message& message,
                           int peer, std::size_t& used, bool relayed) {
        ends.push_back({phase.phase, peer, used, message.values(), relayed, message.items});
        used += ends.back().values;
    };
    // The stage that waits for `count` receives; they are made in ascending order, phase by phase.
    const auto stage_after = [&](std::size_t count) -> SendStage& {
        for (SendStage& stage : stages)
            if (stage.receives >= count) return stage;
        stages.push_back({count, {}, {}});
        return stages.back();
    };
    for (const Message& message : plan.local.messages)
        if (message.source == rank) append(stages[0].sends, plan.local, message, message.target, sent, false);
    for (const PhaseMessages& phase : plan.phases) {
        const std::size_t receives_before = receives.size();
        std::map<int, std::size_t> last;  // to each peer, for messages of a sequence leave in its order
        for (const Message& message : phase.messages) {
            if (message.source != rank) continue;
            std::size_t& after = last[message.target];
            for (const Item& item : message.items)
                if (item.owner != rank) {
                    const auto arrival = arrivals.find(item);
                    check(arrival != arrivals.end(), "a plan passes on what does not come");
                    after = std::max(after, arrival->second.receives);
                }
            SendStage& stage = stage_after(after);
            after = stage.receives;
            append(stage.sends, phase, message, message.target, sent, relays);
            stage.sends.back().for_each_item([&](const Item& item, std::size_t place) {
                if (item.owner != rank)
                    stage.forwards.push_back(
                        BlockCopy::forward(arrivals.at(item).offset, place, item.values));
            });
        }
        for (const Message& message : phase.messages)
            if (message.target == rank) append(receives, phase, message, message.source, received, relays);
        for (std::size_t r = receives_before; relays && r < receives.size(); ++r)
            receives[r].for_each_item([&](const Item& item, std::size_t place) {
                arrivals.try_emplace(item, Arrival{place, receives.size()});
            });
    }
    for (const Message& message : plan.local.messages)
        if (message.target == rank) append(receives, plan.local, message, message.source, received, false);
}

std::size_t RankSchedule::send_values() const {
    std::size_t values = 0;
    for (const SendStage& stage : stages)
        for (const MessageEnd& message : stage.sends) values += message.values;
    return values;
}

std::size_t RankSchedule::receive_values() const {
    return receives.empty() ? 0 : receives.back().offset + receives.back().values;
}

}  // namespace keel
