#include <map>

#include "comm/plan.hpp"

namespace keel {
namespace {

std::vector<Message> one_message_per_peer(const std::vector<Need>& needs, int Need::*peer) {
    std::map<int, Message> by_peer;
    for (const Need& need : needs) {
        Message& message = by_peer.try_emplace(need.*peer, Message{need.*peer, {}, 0, 0}).first->second;
        message.needs.push_back(need);
        message.values += need.source.cells();
    }
    std::vector<Message> messages;
    std::size_t offset = 0;
    for (auto& [rank, message] : by_peer) {
        message.offset = offset;
        offset += message.values;
        messages.push_back(std::move(message));
    }
    return messages;
}

std::size_t values_of(const std::vector<Message>& messages) {
    return messages.empty() ? 0 : messages.back().offset + messages.back().values;
}

}  // namespace

Plan plan_standard(const Pattern& pattern) {
    return {pattern.rank, one_message_per_peer(pattern.sends, &Need::receiver),
            one_message_per_peer(pattern.receives, &Need::owner), pattern.copies};
}

std::size_t Plan::send_values() const {
    return values_of(sends);
}
std::size_t Plan::receive_values() const {
    return values_of(receives);
}

Traffic Plan::traffic(const Topology& topology, std::size_t fields) const {
    Traffic total;
    for (const Message& message : sends) {
        const auto bytes = static_cast<long>(message.values * fields * sizeof(double));
        const bool off_node = !topology.same_node(rank, message.peer);
        total += {1, bytes, off_node ? 1 : 0, off_node ? bytes : 0};
    }
    return total;
}

}  // namespace keel
