#include "comm/carry/transports/persistent.hpp"

#include <algorithm>

namespace keel {

Persistent::~Persistent() {
    free_all();
}

void Persistent::free_all() {
    for (Prepared& one : prepared_)
        for (MPI_Request& request : one.requests) MPI_Request_free(&request);
    prepared_.clear();
}

void Persistent::post_receives() {
    auto found = std::ranges::find(prepared_, flight(), &Prepared::flight);
    if (found == prepared_.end()) {
        prepare();
        found = prepared_.insert(found, {flight(), open_});
    }
    open_ = found->requests;
    start_all(of_receives());
}

void Persistent::prepare() {
    auto request = of_receives().begin();
    for (const MessageEnd& message : schedule().receives) init_receive(message, *request++);
    for (std::size_t stage = 0; stage < schedule().stages.size(); ++stage) {
        request = of_sends(stage).begin();
        for (const MessageEnd& message : schedule().stages[stage].sends) init_send(message, *request++);
    }
}

void Persistent::post_sends(std::size_t stage) {
    start_all(of_sends(stage));
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
