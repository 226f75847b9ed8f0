#include "comm/carry/item_exchange.hpp"

#include <utility>

namespace keel {

// Staged messages are packed and passed on in host memory, also where the operations compute elsewhere.
ItemExchange::ItemExchange(Operations& operations, Plan plan, int rank, const TransportOptions& transport)
    : rank_(rank), exchanger_(operations, std::move(plan), rank, {}, transport) {}

void ItemExchange::run(const Give& give, const Take& take) {
    const RankSchedule& schedule = exchanger_.schedule();
    if (schedule.empty()) return;
    auto* const to_send = static_cast<double*>(exchanger_.to_send().wire);
    const auto* const received = static_cast<const double*>(exchanger_.received().wire);
    for (const SendStage& stage : schedule.stages)
        for (const MessageEnd& message : stage.sends)
            message.for_each_item([&](const Item& item, std::size_t at) {
                if (item.owner == rank_)
                    give(item, std::span(to_send + at, static_cast<std::size_t>(item.values)));
            });
    exchanger_.start(1);
    exchanger_.finish();
    for (const MessageEnd& message : schedule.receives)
        message.for_each_item([&](const Item& item, std::size_t at) {
            take(item, std::span(received + at, static_cast<std::size_t>(item.values)));
        });
}

}  // namespace keel
