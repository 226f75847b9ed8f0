// Messages between ranks that share memory lie in windows of MPI_Win_allocate_shared, each in two places in
// turn: the sender copies it into the receiver's window, the receiver out of it. Others travel as by isend.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <numeric>

#include "comm/carry/transports/posted.hpp"

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

class Shared : public MessagesByRequest {
  public:
    // Collective, as all that makes an exchange.
    Shared(const TransportOptions& options, const RankSchedule& schedule)
        : MessagesByRequest(options, schedule) {
        if (is_virtual()) return;
        require(MPI_Comm_split_type(comm(), MPI_COMM_TYPE_SHARED, schedule.rank, MPI_INFO_NULL, &node_),
                "MPI_Comm_split_type");
        std::vector<int> ranks(static_cast<std::size_t>(options.comm.size()));
        std::iota(ranks.begin(), ranks.end(), 0);
        on_node_ = translated(ranks, comm(), node_);
    }
    ~Shared() override {
        // Windows are freed by all ranks together, of which another may not come here.
        if (is_virtual() || std::uncaught_exceptions() > 0) return;
        free_window();
        MPI_Comm_free(&node_);
    }

    void reserve(std::size_t fields) override {
        const auto bytes = [fields](const MessageEnd& message) {  // whole lines
            const std::size_t values = message.values * fields * sizeof(double);
            return (values + alignof(Counts) - 1) / alignof(Counts) * alignof(Counts);
        };
        std::vector<std::int64_t> places{alignof(Counts)};
        for (const MessageEnd& message : schedule().receives)
            places.push_back(places.back() + static_cast<std::int64_t>(sizeof(Counts) + 2 * bytes(message)));
        keep_window(places.back());
        if (is_virtual()) return;
        free_window();
        std::byte* base = nullptr;
        require(MPI_Win_allocate_shared(places.back(), 1, MPI_INFO_NULL, node_, static_cast<void*>(&base),
                                        &window_),
                "MPI_Win_allocate_shared");
        require(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_), "MPI_Win_lock_all");
        places.pop_back();
        // MPI aligns as it likes; pages are alike in all ranks.
        for (std::int64_t& place : places)
            place -= static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(base) % alignof(Counts));
        exchange_ = 0;
        received_.clear();
        for (const MessageEnd& message : schedule().receives) {
            std::byte* const place = base + places[received_.size()];
            new (place) Counts();
            received_.push_back({base_of(message.peer) ? place : nullptr, bytes(message)});
        }
        sent_.clear();
        const std::vector<std::int64_t> given = places_at_receivers(places);
        for (const SendStage& stage : schedule().stages)
            for (const MessageEnd& message : stage.sends) {
                std::byte* const others = base_of(message.peer);
                sent_.push_back({others ? others + given[sent_.size()] : nullptr, bytes(message)});
            }
    }

  private:
    // The window of a rank of the exchange, null of one that shares no memory.
    std::byte* base_of(int peer) const {
        const int rank = on_node_[static_cast<std::size_t>(peer)];
        if (rank == MPI_UNDEFINED) return nullptr;
        MPI_Aint bytes = 0;
        int unit = 0;
        std::byte* base = nullptr;
        require(MPI_Win_shared_query(window_, rank, &bytes, &unit, static_cast<void*>(&base)),
                "MPI_Win_shared_query");
        return base;
    }
    void free_window() {
        if (window_ == MPI_WIN_NULL) return;
        MPI_Win_unlock_all(window_);
        MPI_Win_free(&window_);
    }

    void post_receives() override {
        ++exchange_;
        for (std::size_t n = 0; n < received_.size(); ++n)
            if (received_[n].at == nullptr) post_receive(schedule().receives[n], of_receives()[n]);
    }
    void post_sends(std::size_t stage) override {
        const std::span<MPI_Request> requests = of_sends(stage);
        const auto first = static_cast<std::size_t>(requests.data() - open_.data()) - received_.size();
        for (std::size_t n = 0; n < requests.size(); ++n) {
            const MessageEnd& message = schedule().stages[stage].sends[n];
            const Place& place = sent_[first + n];
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
            const Place& place = received_[n];
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
    std::vector<int> on_node_;  // each rank's number among those of the node; MPI_UNDEFINED elsewhere
    MPI_Win window_ = MPI_WIN_NULL;
    std::vector<Place> received_, sent_;  // in the order of the schedule
    std::uint64_t exchange_ = 0;          // the number of the exchange in flight, from 1 on
};

}  // namespace

std::unique_ptr<Transport> make_shared_memory(const TransportOptions& options, const RankSchedule& schedule) {
    return std::make_unique<Shared>(options, schedule);
}

}  // namespace keel
