#include "comm/carry/transports/persistent.hpp"

#include <algorithm>

namespace keel {

void Persistent::free_all() {
    for (auto& [flight, requests] : prepared_)
        for (MPI_Request& request : requests) MPI_Request_free(&request);
    prepared_.clear();
}

void Persistent::post_receives() {
    auto found = std::ranges::find(prepared_, flight(), [](const auto& one) { return one.first; });
    if (found == prepared_.end()) {
        auto request = open_.begin();
        for (const MessageEnd& message : schedule().receives) init_receive(message, *request++);
        for (const SendStage& stage : schedule().stages)
            for (const MessageEnd& message : stage.sends) init_send(message, *request++);
        found = prepared_.insert(found, {flight(), open_});
    }
    open_ = found->second;
    start_all(of_receives());
}

void Persistent::start_all(std::span<MPI_Request> requests) {
    if (!requests.empty())
        require(MPI_Startall(static_cast<int>(requests.size()), requests.data()), "MPI_Startall");
}

void Persistent::init_receive(const MessageEnd& message, MPI_Request& request) const {
    require(MPI_Recv_init(flight().receive + flight().place(message),
                          count(message, message.peer, schedule().rank), flight().type(), message.peer,
                          tag(message), comm(), &request),
            "MPI_Recv_init");
}

void Persistent::init_send(const MessageEnd& message, MPI_Request& request) const {
    require(
        MPI_Send_init(flight().send + flight().place(message), count(message, schedule().rank, message.peer),
                      flight().type(), message.peer, tag(message), comm(), &request),
        "MPI_Send_init");
}

std::unique_ptr<Transport> make_persistent(const TransportOptions& options, const RankSchedule& schedule) {
    return std::make_unique<Persistent>(options, schedule);
}

}  // namespace keel
