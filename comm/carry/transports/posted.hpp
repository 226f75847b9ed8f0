#pragma once

// Private to comm/: what all transports have in common. Each posts the messages of a schedule in its own way.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "comm/carry/transport.hpp"
#include "comm/ranks/mpi.hpp"

namespace keel {

// The exchange in flight: its buffers, and the number of its fields.
struct Flight {
    const std::byte* send = nullptr;
    std::byte* receive = nullptr;
    std::size_t fields = 0;
    Precision precision = Precision::fp64;

    MPI_Datatype type() const { return precision == Precision::fp32 ? MPI_FLOAT : MPI_DOUBLE; }
    std::size_t place(const MessageEnd& message) const {
        return message.offset * fields * bytes_of_value(precision);
    }
    std::size_t bytes(const MessageEnd& message) const {
        return message.values * fields * bytes_of_value(precision);
    }
    bool operator==(const Flight&) const = default;
};

// Books what is posted and waited for. The messages of a virtual rank are booked and not posted.
class PostedMessages : public Transport {
  public:
    PostedMessages(const TransportOptions& options, const RankSchedule& schedule);

    void start(const void* send, void* receive, std::size_t fields, Precision precision) final;
    void await(std::size_t stage) final;
    void send(std::size_t stage) final;
    void wait() final;

  protected:
    // Posts all receives of the flight.
    virtual void post_receives() = 0;
    virtual void post_sends(std::size_t stage) = 0;
    // Completes those of the receives from `first` up to `end` that have no request; waits by idle().
    virtual void complete(std::size_t /*first*/, std::size_t /*end*/) {}
    // The requests of the receives from `first` up to `end`; with `all` also all others.
    virtual std::span<MPI_Request> requests(std::size_t first, std::size_t end, bool all) = 0;

    // Waits for all requests, and progresses what else is in flight.
    void until_done(std::span<MPI_Request> open) const;
    // Counts the window of a virtual rank, in place of the one before.
    void keep_window(std::int64_t bytes);
    // Progresses what else is in flight, and gives the processor to another rank.
    void idle() const;
    bool is_virtual() const { return comm_.is_virtual(); }
    MPI_Comm comm() const { return comm_.impl().comm; }
    const RankSchedule& schedule() const { return schedule_; }
    const Flight& flight() const { return flight_; }
    int count(const MessageEnd& message, int from, int to) const {
        return mpi_count(message.values * flight_.fields, "message of an exchange", from, to);
    }
    // Each phase has a tag of its own; within one, messages between two ranks do not overtake each other.
    int tag(const MessageEnd& message) const { return first_tag_ + static_cast<int>(message.phase); }
    // The tag of answers to the messages of a phase.
    int answer_tag(const MessageEnd& message) const {
        return tag(message) + static_cast<int>(names_of(Phase{}).size());
    }
    // Gives each message's place in the receiver's window to its sender: returns those of the sends, stage
    // after stage. Collective.
    std::vector<std::int64_t> places_at_receivers(std::span<const std::int64_t> received) const;

  private:
    template <class Action>
    void book(Op op, const Action& action) {
        if (ledger_ == nullptr) return action();
        timed(*ledger_, op, level_, action);
    }
    void post(std::size_t stage);
    void keep(const MessageEnd& message) const;
    void wait_for(std::size_t end, bool all);

    Communicator comm_;
    Topology topology_;
    const RankSchedule& schedule_;
    int first_tag_;
    Meanwhile meanwhile_;
    Ledger* ledger_;
    int level_;
    Flight flight_;
    std::size_t arrived_ = 0;  // receives waited for
    std::size_t window_bytes_ = 0;
};

// A request for each message: of the receives, then of the sends, stage after stage. By itself it is `isend`,
// which posts each message anew.
class MessagesByRequest : public PostedMessages {
  public:
    MessagesByRequest(const TransportOptions& options, const RankSchedule& schedule);

  protected:
    std::span<MPI_Request> requests(std::size_t first, std::size_t end, bool all) override {
        return std::span(open_).subspan(first, (all ? open_.size() : end) - first);
    }
    std::size_t sends_before(std::size_t stage) const { return first_[stage] - first_.front(); }
    // A stage's requests, in the order of its sends.
    std::span<MPI_Request> of_sends(std::size_t stage) {
        return std::span(open_).subspan(first_[stage], schedule().stages[stage].sends.size());
    }
    std::span<MPI_Request> of_receives() { return std::span(open_).first(schedule().receives.size()); }
    void post_receives() override;
    void post_sends(std::size_t stage) override;
    void post_receive(const MessageEnd& message, MPI_Request& request) const;
    void post_send(const MessageEnd& message, MPI_Request& request) const;

    std::vector<MPI_Request> open_;

  private:
    std::vector<std::size_t> first_;  // request of each stage
};

// The numbers of ranks of one communicator in another; MPI_UNDEFINED of those that are not in it.
std::vector<int> translated(const std::vector<int>& ranks, MPI_Comm from, MPI_Comm to);

// make_transport() by each Carrier.
std::unique_ptr<Transport> make_isend(const TransportOptions& options, const RankSchedule& schedule);
std::unique_ptr<Transport> make_persistent(const TransportOptions& options, const RankSchedule& schedule);
std::unique_ptr<Transport> make_partitioned(const TransportOptions& options, const RankSchedule& schedule);
std::unique_ptr<Transport> make_neighbour(const TransportOptions& options, const RankSchedule& schedule);
std::unique_ptr<Transport> make_shared_memory(const TransportOptions& options, const RankSchedule& schedule);
std::unique_ptr<Transport> make_put(const TransportOptions& options, const RankSchedule& schedule);

}  // namespace keel
