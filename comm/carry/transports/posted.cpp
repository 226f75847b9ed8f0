#include "comm/carry/transports/posted.hpp"

#include <algorithm>
#include <thread>

namespace keel {

PostedMessages::PostedMessages(const TransportOptions& options, const RankSchedule& schedule)
    : comm_(options.comm),
      topology_(options.topology),
      schedule_(schedule),
      first_tag_(options.tag * 2 * static_cast<int>(names_of(Phase{}).size())),
      meanwhile_(options.meanwhile),
      ledger_(options.ledger),
      level_(options.level) {
    if (comm_.kept_messages() == nullptr) return;
    for (const MessageEnd& message : schedule.receives) keep(message);
    for (const SendStage& stage : schedule.stages)
        for (const MessageEnd& message : stage.sends) keep(message);
}

void PostedMessages::start(const void* send, void* receive, std::size_t fields, Precision precision) {
    flight_ = {static_cast<const std::byte*>(send), static_cast<std::byte*>(receive), fields, precision};
    arrived_ = 0;
    book(Op::send, [&] {
        if (!comm_.is_virtual()) post_receives();
        post(0);
    });
}

void PostedMessages::await(std::size_t stage) {
    book(Op::wait, [&] { wait_for(schedule_.stages[stage].receives, false); });
}

void PostedMessages::send(std::size_t stage) {
    book(Op::send, [&] { post(stage); });
}

void PostedMessages::wait() {
    book(Op::wait, [&] { wait_for(schedule_.receives.size(), true); });
}

void PostedMessages::post(std::size_t stage) {
    if (!comm_.is_virtual()) post_sends(stage);
    if (ledger_ == nullptr) return;
    for (const MessageEnd& message : schedule_.stages[stage].sends) {
        const auto bytes = static_cast<long>(flight_.bytes(message));
        const bool off_node = !topology_.same_node(schedule_.rank, message.peer);
        ledger_->at(Op::send, level_).traffic += Traffic{1, bytes, off_node ? 1 : 0, off_node ? bytes : 0};
    }
}

void PostedMessages::keep(const MessageEnd& message) const {
    KeptMessages& kept = *comm_.kept_messages();
    ++kept.messages;
    kept.items += message.items.size();
    kept.relayed += message.relayed ? message.items.size() : 0;
}

std::vector<std::int64_t> PostedMessages::places_at_receivers(std::span<const std::int64_t> received) const {
    std::vector<MPI_Request> given(received.size(), MPI_REQUEST_NULL);
    for (std::size_t n = 0; n < received.size(); ++n) {
        const MessageEnd& message = schedule_.receives[n];
        require(MPI_Isend(&received[n], 1, MPI_INT64_T, message.peer, tag(message), comm(), &given[n]),
                "MPI_Isend");
    }
    std::vector<std::int64_t> sent;
    for (const SendStage& stage : schedule_.stages)
        for (const MessageEnd& message : stage.sends)
            require(MPI_Recv(&sent.emplace_back(), 1, MPI_INT64_T, message.peer, tag(message), comm(),
                             MPI_STATUS_IGNORE),
                    "MPI_Recv");
    require(MPI_Waitall(static_cast<int>(given.size()), given.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    return sent;
}

void PostedMessages::keep_window(std::int64_t bytes) {
    if (comm_.kept_messages() == nullptr) return;
    comm_.kept_messages()->window_bytes += static_cast<std::size_t>(bytes) - window_bytes_;
    window_bytes_ = static_cast<std::size_t>(bytes);
}

void PostedMessages::idle() const {
    if (meanwhile_) meanwhile_();
    int found = 0;
    require(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm(), &found, MPI_STATUS_IGNORE), "MPI_Iprobe");
    std::this_thread::yield();
}

void PostedMessages::wait_for(std::size_t end, bool all) {
    if (is_virtual()) return;
    complete(arrived_, end);
    const std::span<MPI_Request> open = requests(arrived_, end, all);
    arrived_ = end;
    until_done(open);
}

void PostedMessages::until_done(std::span<MPI_Request> open) const {
    if (std::ranges::count(open, MPI_REQUEST_NULL) == std::ssize(open)) return;
    const auto count = static_cast<int>(open.size());
    int done = 0;
    while (!done && meanwhile_ && meanwhile_())
        require(MPI_Testall(count, open.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
    if (!done) require(MPI_Waitall(count, open.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
}

MessagesByRequest::MessagesByRequest(const TransportOptions& options, const RankSchedule& schedule)
    : PostedMessages(options, schedule) {
    first_.push_back(schedule.receives.size());
    for (const SendStage& stage : schedule.stages) first_.push_back(first_.back() + stage.sends.size());
    open_.resize(first_.back(), MPI_REQUEST_NULL);
}

void MessagesByRequest::post_receives() {
    auto request = of_receives().begin();
    for (const MessageEnd& message : schedule().receives) post_receive(message, *request++);
}

void MessagesByRequest::post_sends(std::size_t stage) {
    auto request = of_sends(stage).begin();
    for (const MessageEnd& message : schedule().stages[stage].sends) post_send(message, *request++);
}

void MessagesByRequest::post_receive(const MessageEnd& message, MPI_Request& request) const {
    require(
        MPI_Irecv(flight().receive + flight().place(message), count(message, message.peer, schedule().rank),
                  flight().type(), message.peer, tag(message), comm(), &request),
        "MPI_Irecv");
}

void MessagesByRequest::post_send(const MessageEnd& message, MPI_Request& request) const {
    require(MPI_Isend(flight().send + flight().place(message), count(message, schedule().rank, message.peer),
                      flight().type(), message.peer, tag(message), comm(), &request),
            "MPI_Isend");
}

std::unique_ptr<Transport> make_isend(const TransportOptions& options, const RankSchedule& schedule) {
    return std::make_unique<MessagesByRequest>(options, schedule);
}

std::vector<int> translated(const std::vector<int>& ranks, MPI_Comm from, MPI_Comm to) {
    MPI_Group all = MPI_GROUP_NULL, some = MPI_GROUP_NULL;
    MPI_Comm_group(from, &all);
    MPI_Comm_group(to, &some);
    std::vector<int> numbers(ranks.size());
    MPI_Group_translate_ranks(all, static_cast<int>(ranks.size()), ranks.data(), some, numbers.data());
    MPI_Group_free(&all);
    MPI_Group_free(&some);
    return numbers;
}

}  // namespace keel
