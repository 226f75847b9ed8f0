#include "comm/plans/plan.hpp"

#include <algorithm>

namespace keel {

std::size_t Message::values() const {
    std::size_t total = 0;
    for (const Item& item : items) total += static_cast<std::size_t>(item.values);
    return total;
}

std::span<const Message> Plan::messages(Phase phase) const {
    if (phase == local.phase) return local.messages;
    for (const PhaseMessages& one : phases)
        if (one.phase == phase) return one.messages;
    return {};
}

Traffic Plan::traffic(int rank, const Topology& topology, std::size_t fields) const {
    Traffic total;
    for_each_phase([&](const PhaseMessages& phase) {
        for (const Message& message : phase.messages) {
            if (message.source != rank) continue;
            const auto bytes = static_cast<long>(message.values() * fields * sizeof(double));
            const bool off_node = !topology.same_node(message.source, message.target);
            total += {1, bytes, off_node ? 1 : 0, off_node ? bytes : 0};
        }
    });
    return total;
}

Volume& Volume::add(const Volume& other, double times) {
    for (double Volume::*const number : volume_members) this->*number += other.*number * times;
    return *this;
}

Volume& Volume::raise_to(const Volume& other) {
    for (double Volume::*const number : volume_members)
        this->*number = std::max(this->*number, other.*number);
    return *this;
}

Volume volume_of(const Traffic& traffic) {
    return {static_cast<double>(traffic.messages), static_cast<double>(traffic.bytes),
            static_cast<double>(traffic.off_node_messages), static_cast<double>(traffic.off_node_bytes)};
}

Plan of_one_colour(Plan plan) {
    const auto halve = [](PhaseMessages& phase) {
        for (Message& message : phase.messages)
            for (Item& item : message.items) item.values = (item.values + 1) / 2;
    };
    halve(plan.local);
    for (PhaseMessages& phase : plan.phases) halve(phase);
    return plan;
}

std::vector<Message> messages_of(std::vector<Transfer> transfers, const RanksPlanned& whose) {
    if (!whose.all())
        std::erase_if(transfers, [&](const Transfer& t) { return !whose.concern(t.source, t.target); });
    sort_distinct(transfers);
    std::vector<Message> messages;
    for (auto first = transfers.begin(); first != transfers.end();) {
        const auto end = std::find_if(first, transfers.end(), [&](const Transfer& t) {
            return t.source != first->source || t.target != first->target || t.sequence != first->sequence;
        });
        Message& message = messages.emplace_back(Message{first->source, first->target, first->sequence, {}});
        message.items.reserve(static_cast<std::size_t>(end - first));
        for (; first != end; ++first) message.items.push_back(first->item);
    }
    return messages;
}

}  // namespace keel
