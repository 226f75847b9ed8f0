// Messages are put into windows of their receivers, each into two places in turn: MPI_Put, MPI_Win_flush, and
// an empty message that says so. Another empty one answers when the receiver has copied the message out.
//
// Fences and MPI_Win_start wait where sums in flight are not progressed, so that ranks could wait for each
// other; flags in the window took longer with 8 ranks on two cores (measured).

#include <array>

#include "comm/carry/transports/windows.hpp"

namespace keel {
namespace {

class Put : public WindowMessages {
  public:
    Put(const TransportOptions& options, const RankSchedule& schedule) : WindowMessages(options, schedule) {}
    ~Put() override { close(); }

  private:
    void allocate(std::int64_t bytes) override {
        require(MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, comm(), static_cast<void*>(&base_), &window_),
                "MPI_Win_allocate");
        for (std::vector<MPI_Request>& answers : answers_)
            answers.assign(open_.size() - received_.size(), MPI_REQUEST_NULL);
    }
    // No sum is progressed, as the reductions may be gone before this object is.
    void settle() override {
        for (std::vector<MPI_Request>& answers : answers_)
            if (std::ranges::count(answers, MPI_REQUEST_NULL) < std::ssize(answers))
                require(MPI_Waitall(static_cast<int>(answers.size()), answers.data(), MPI_STATUSES_IGNORE),
                        "MPI_Waitall");
    }
    std::int64_t of_this_exchange(std::int64_t place, const MessageEnd& message) const {
        return place + static_cast<std::int64_t>(exchange_ % 2) * room(message);
    }

    void post_receives() override {
        ++exchange_;
        auto request = of_receives().begin();
        for (const MessageEnd& message : schedule().receives)
            require(MPI_Irecv(nullptr, 0, MPI_BYTE, message.peer, tag(message), comm(), &*request++),
                    "MPI_Irecv");
    }
    void post_sends(std::size_t stage) override {
        const std::vector<MessageEnd>& sends = schedule().stages[stage].sends;
        const std::span<MPI_Request> told = of_sends(stage);
        const std::size_t first = sends_before(stage);
        // The messages of the exchange before the last, which lay there, have been read.
        const auto answers = std::span(answers_[exchange_ % 2]).subspan(first, sends.size());
        until_done(answers);
        for (std::size_t n = 0; n < sends.size(); ++n) {
            const MessageEnd& message = sends[n];
            const int values = count(message, schedule().rank, message.peer);
            require(MPI_Put(flight().send + flight().place(message), values, flight().type(), message.peer,
                            of_this_exchange(sent_[first + n], message), values, flight().type(), window_),
                    "MPI_Put");
        }
        for (std::size_t n = 0; n < sends.size(); ++n) {
            const MessageEnd& message = sends[n];
            require(MPI_Win_flush(message.peer, window_), "MPI_Win_flush");
            require(MPI_Irecv(nullptr, 0, MPI_BYTE, message.peer, answer_tag(message), comm(), &answers[n]),
                    "MPI_Irecv");
            require(MPI_Isend(nullptr, 0, MPI_BYTE, message.peer, tag(message), comm(), &told[n]),
                    "MPI_Isend");
        }
    }
    void complete(std::size_t first, std::size_t end) override {
        until_done(of_receives().subspan(first, end - first));
        require(MPI_Win_sync(window_), "MPI_Win_sync");
        for (std::size_t n = first; n < end; ++n) {
            const MessageEnd& message = schedule().receives[n];
            std::copy_n(base_ + of_this_exchange(received_[n], message), flight().bytes(message),
                        flight().receive + flight().place(message));
            // Its receive has been posted.
            require(MPI_Send(nullptr, 0, MPI_BYTE, message.peer, answer_tag(message), comm()), "MPI_Send");
        }
    }

    std::byte* base_ = nullptr;
    std::array<std::vector<MPI_Request>, 2> answers_;  // to the messages in either place
};

}  // namespace

std::unique_ptr<Transport> make_put(const TransportOptions& options, const RankSchedule& schedule) {
    return std::make_unique<Put>(options, schedule);
}

}  // namespace keel
