#pragma once

// Launches, waits and copies of a device's host, which are counted as messages are.

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace keel {

struct DeviceCounts {
    long launches = 0;      // kernels and copies that are sent one by one
    long nodes = 0;         // those that are sent in graphs
    long replays = 0;       // graphs
    long waits = 0;         // of the host for the device
    long copies = 0;        // between host and device, among the launches and nodes
    long copied_bytes = 0;  // by these

    DeviceCounts& operator+=(const DeviceCounts& other) {
        for (const auto number : numbers()) this->*number += other.*number;
        return *this;
    }
    friend DeviceCounts operator-(DeviceCounts a, const DeviceCounts& b) {
        for (const auto number : numbers()) a.*number -= b.*number;
        return a;
    }
    friend bool operator==(const DeviceCounts& a, const DeviceCounts& b) {
        for (const auto number : numbers())
            if (a.*number != b.*number) return false;
        return true;
    }

    static constexpr std::array<long DeviceCounts::*, 6> numbers() {
        return {&DeviceCounts::launches, &DeviceCounts::nodes,  &DeviceCounts::replays,
                &DeviceCounts::waits,    &DeviceCounts::copies, &DeviceCounts::copied_bytes};
    }
};
// Their names in reports and records.
inline constexpr std::array device_count_names{"launches",   "graph_nodes", "graph_replays",
                                               "host_waits", "copies",      "copied_bytes"};

// The counts of a device by the row of a ledger that asked, until the ledger takes them: a launch that waits
// for its graph is sent by another row.
class DeviceLog {
  public:
    static constexpr int no_row = -1;

    // The row that asks from now on; returns the row before.
    int enter(int row) { return std::exchange(row_, row); }
    int row() const { return row_; }
    void note(long DeviceCounts::*number, long count = 1) { note(row_, number, count); }
    void note(int row, long DeviceCounts::*number, long count = 1) {
        if (silent_) return;
        if (notes_.empty() || notes_.back().first != row) notes_.emplace_back(row, DeviceCounts());
        notes_.back().second.*number += count;
        total_.*number += count;
    }
    std::vector<std::pair<int, DeviceCounts>> take() { return std::exchange(notes_, {}); }
    void put_back(int row, const DeviceCounts& counts) {
        if (row != no_row) notes_.emplace_back(row, counts);
    }
    const DeviceCounts& total() const { return total_; }

    // Whether the host plays what a kernel does: nothing is asked of the device.
    bool silent() const { return silent_; }
    void be_silent(bool silent) { silent_ = silent; }

  private:
    std::vector<std::pair<int, DeviceCounts>> notes_;
    DeviceCounts total_;
    int row_ = no_row;
    bool silent_ = false;
};

}  // namespace keel
