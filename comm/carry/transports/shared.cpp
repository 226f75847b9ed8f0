// Messages between ranks that share memory lie in windows of MPI_Win_allocate_shared, each in two places in
// turn: the sender copies it into the receiver's window, the receiver out of it. Others travel as by isend.

#include <atomic>

#include "comm/carry/transports/windows.hpp"
#include "comm/patterns/pattern.hpp"

namespace keel {
namespace {

// How many messages have been written and read, each on a line of its own in the widest caches.
struct Counts {
    alignas(256) std::uint64_t written = 0;
    alignas(256) std::uint64_t read = 0;
};

// One message in its receiver's window: its counts, and behind them its two places.
struct Place {
    std::byte* at = nullptr;  // null: the other end shares no memory
    std::size_t bytes = 0;    // of either place

    Counts& counts() const { return *reinterpret_cast<Counts*>(at); }
    std::byte* half(std::uint64_t exchange) const { return at + sizeof(Counts) + exchange % 2 * bytes; }
};

class Shared : public WindowMessages {
  public:
    // Collective, as all that makes an exchange.
    Shared(const TransportOptions& options, const RankSchedule& schedule)
        : WindowMessages(options, schedule, alignof(Counts), sizeof(Counts)) {
        if (is_virtual()) return;
        require(MPI_Comm_split_type(comm(), MPI_COMM_TYPE_SHARED, schedule.rank, MPI_INFO_NULL, &node_),
                "MPI_Comm_split_type");
        on_node_ = translated(numbers_below(options.comm.size()), comm(), node_);
    }
    ~Shared() override {
        close();
        if (node_ != MPI_COMM_NULL && std::uncaught_exceptions() == 0) MPI_Comm_free(&node_);
    }

  private:
    void allocate(std::int64_t bytes) override {
        std::byte* base = nullptr;
        require(MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, node_, static_cast<void*>(&base), &window_),
                "MPI_Win_allocate_shared");
        from_.clear();
        for (const MessageEnd& message : schedule().receives) {
            from_.push_back(place(schedule().rank, message, received_[from_.size()]));
            new (from_.back().at) Counts();
            if (on_node(message.peer) == MPI_UNDEFINED) from_.back().at = nullptr;
        }
    }
    void opened() override {
        to_.clear();
        for (const SendStage& stage : schedule().stages)
            for (const MessageEnd& message : stage.sends)
                to_.push_back(place(message.peer, message, sent_[to_.size()]));
    }
    int on_node(int rank) const { return on_node_[static_cast<std::size_t>(rank)]; }
    // A place in the window of a rank of the exchange; null if that rank shares no memory.
    Place place(int owner, const MessageEnd& message, std::int64_t offset) const {
        if (on_node(owner) == MPI_UNDEFINED) return {};
        MPI_Aint bytes = 0;
        int unit = 0;
        std::byte* base = nullptr;
        require(MPI_Win_shared_query(window_, on_node(owner), &bytes, &unit, static_cast<void*>(&base)),
                "MPI_Win_shared_query");
        // MPI aligns as it likes; pages are alike in all ranks.
        const auto beyond = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(base)) % line_;
        return {base + (line_ - beyond) % line_ + offset, static_cast<std::size_t>(room(message))};
    }

    void post_receives() override {
        ++exchange_;
        for (std::size_t n = 0; n < from_.size(); ++n)
            if (from_[n].at == nullptr) post_receive(schedule().receives[n], of_receives()[n]);
    }
    void post_sends(std::size_t stage) override {
        const std::span<MPI_Request> requests = of_sends(stage);
        const std::size_t first = sends_before(stage);
        for (std::size_t n = 0; n < requests.size(); ++n) {
            const MessageEnd& message = schedule().stages[stage].sends[n];
            const Place& place = to_[first + n];
            if (place.at == nullptr) {
                post_send(message, requests[n]);
                continue;
            }
            // The message of the exchange before the last, which lay there, has been read.
            until(place.counts().read, exchange_ - std::min<std::uint64_t>(exchange_, 2));
            std::copy_n(flight().send + flight().place(message), flight().bytes(message),
                        place.half(exchange_));
            std::atomic_ref(place.counts().written).store(exchange_, std::memory_order_release);
        }
    }
    void complete(std::size_t first, std::size_t end) override {
        for (std::size_t n = first; n < end; ++n) {
            const Place& place = from_[n];
            if (place.at == nullptr) continue;
            const MessageEnd& message = schedule().receives[n];
            until(place.counts().written, exchange_);
            std::copy_n(place.half(exchange_), flight().bytes(message),
                        flight().receive + flight().place(message));
            std::atomic_ref(place.counts().read).store(exchange_, std::memory_order_release);
        }
    }
    void until(std::uint64_t& count, std::uint64_t least) const {
        while (std::atomic_ref(count).load(std::memory_order_acquire) < least) idle();
    }

    MPI_Comm node_ = MPI_COMM_NULL;
    std::vector<int> on_node_;      // each rank's number among those of the node; MPI_UNDEFINED elsewhere
    std::vector<Place> from_, to_;  // in the order of the schedule
};

}  // namespace

std::unique_ptr<Transport> make_shared_memory(const TransportOptions& options, const RankSchedule& schedule) {
    return std::make_unique<Shared>(options, schedule);
}

}  // namespace keel
