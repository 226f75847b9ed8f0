#pragma once

// Private to comm/: messages lie in windows of their receivers, each in two places in turn.

#include <algorithm>
#include <cstdint>
#include <exception>

#include "comm/carry/transports/posted.hpp"

namespace keel {

class WindowMessages : public MessagesByRequest {
  public:
    void reserve(std::size_t fields) final {
        fields_ = fields;
        std::vector<std::int64_t> places{0};
        for (const MessageEnd& message : schedule().receives)
            places.push_back(places.back() + header_ + 2 * room(message));
        const std::int64_t bytes = places.back() + line_ - 1;
        keep_window(bytes);
        if (is_virtual()) return;
        close();
        places.pop_back();
        received_ = std::move(places);
        allocate(bytes);
        require(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_), "MPI_Win_lock_all");
        sent_ = places_at_receivers(received_);
        exchange_ = 0;
        opened();
    }

  protected:
    // Places are whole lines, of `line` bytes each, behind a header of whole lines.
    WindowMessages(const TransportOptions& options, const RankSchedule& schedule, std::int64_t line = 1,
                   std::int64_t header = 0)
        : MessagesByRequest(options, schedule), line_(line), header_(header) {}

    // Makes the window, and all of it ready that senders find there.
    virtual void allocate(std::int64_t bytes) = 0;
    // Finds the places of what this rank sends.
    virtual void opened() {}
    // Completes what other ranks still say about the window.
    virtual void settle() {}
    // Windows are freed by all ranks together, of which another may not come here after an exception.
    void close() {
        if (window_ == MPI_WIN_NULL || std::uncaught_exceptions() > 0) return;
        settle();
        MPI_Win_unlock_all(window_);
        MPI_Win_free(&window_);
    }
    // The bytes of one place.
    std::int64_t room(const MessageEnd& message) const {
        return (static_cast<std::int64_t>(message.values * fields_ * sizeof(double)) + line_ - 1) / line_ *
               line_;
    }

    std::int64_t line_, header_;
    MPI_Win window_ = MPI_WIN_NULL;
    std::size_t fields_ = 0;                     // for which there is room
    std::vector<std::int64_t> received_, sent_;  // places in the receivers' windows, as the schedule
    std::uint64_t exchange_ = 0;                 // the number of the exchange in flight, from 1 on
};

}  // namespace keel
