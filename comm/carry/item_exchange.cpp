#include "comm/carry/item_exchange.hpp"

#include <utility>

namespace keel {

// Staged messages are packed and passed on in host memory, also where the operations compute elsewhere.
ItemExchange::ItemExchange(Operations& operations, Plan plan, int rank, const TransportOptions& transport)
    : rank_(rank), exchanger_(operations, std::move(plan), rank, Wire::staged, transport) {}

void ItemExchange::run(const Give& give, const Take& take) {
    const RankSchedule& schedule = exchanger_.schedule();
    if (schedule.empty()) return;
    auto* const to_send = static_cast<double*>(exchanger_.to_send().wire);
    const auto* const received = static_cast<const double*>(exchanger_.received().wire);
    const auto each_item = [](const MessageEnd& message, const auto& visit) {
        std::size_t at = message.offset;
        for (const Item& item : message.items) {
            const auto values = static_cast<std::size_t>(item.values);
            visit(item, at, values);
            at += values;
        }
    };
    for (const SendStage& stage : schedule.stages)
        for (const MessageEnd& message : stage.sends)
            each_item(message, [&](const Item& item, std::size_t at, std::size_t values) {
                if (item.owner == rank_) give(item, std::span(to_send + at, values));
            });
    exchanger_.start(1);
    exchanger_.finish();
    for (const MessageEnd& message : schedule.receives)
        each_item(message, [&](const Item& item, std::size_t at, std::size_t values) {
            take(item, std::span(received + at, values));
        });
}

}  // namespace keel
