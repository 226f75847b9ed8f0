#pragma once

// The ledger of timing decorators: for every operation and level, how often, how long, how much.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cost.hpp"
#include "kernels/names.hpp"
#include "kernels/timing/clock.hpp"
#include "kernels/timing/device_counts.hpp"
#include "kernels/timing/regions.hpp"

namespace keel {

// The rows of the report's table. Half sweeps that are one pass with the residual that follows have rows of
// their own. The last ones are of algebraic multigrid: steps of its set-up, with their messages, and the
// solve on its coarsest level.
enum class Op {
    smooth,
    smooth_restrict,
    smooth_residual,
    residual,
    restrict_,
    interpolate,
    boundary,
    vector,
    pack,
    send,
    copy,
    wait,
    unpack,
    reduction,
    reduction_begin,
    reduction_progress,
    reduction_wait,
    bottom_operator,
    bottom_vector,
    bottom_dots,
    bottom_preconditioner,
    bottom_solve,
    strength,
    aggregation,
    prolongation,
    galerkin,
    plans,
    coarsest,
};
constexpr auto names_of(Op) {
    return std::array{"smooth",
                      "smooth+restrict",
                      "smooth+residual",
                      "residual",
                      "restrict",
                      "interpolate",
                      "boundary",
                      "vector",
                      "exchange.pack",
                      "exchange.send",
                      "exchange.copy",
                      "exchange.wait",
                      "exchange.unpack",
                      "reduction",
                      "reduction.begin",
                      "reduction.progress",
                      "reduction.wait",
                      "bottom.operator",
                      "bottom.vector",
                      "bottom.dots",
                      "bottom.preconditioner",
                      "bottom.solve",
                      "setup.strength",
                      "setup.aggregation",
                      "setup.prolongation",
                      "setup.galerkin",
                      "setup.plans",
                      "coarsest"};
}
inline constexpr std::size_t op_count = names_of(Op{}).size();

// Whether the operation belongs to the exchange of ghost cells.
constexpr bool is_exchange(Op op) {
    return op >= Op::pack && op <= Op::unpack;
}

// Whether it belongs to the sums and maxima over all ranks.
constexpr bool is_reduction(Op op) {
    return op >= Op::reduction && op <= Op::reduction_wait;
}

// The seconds that a rank of the simulated machine takes for an operation of this work. Empty where time is
// real.
using Price = std::function<double(const Work& work)>;

// Messages that a rank sent.
struct Traffic {
    long messages = 0;
    long bytes = 0;
    long off_node_messages = 0;
    long off_node_bytes = 0;

    Traffic& operator+=(const Traffic& other) {
        messages += other.messages;
        bytes += other.bytes;
        off_node_messages += other.off_node_messages;
        off_node_bytes += other.off_node_bytes;
        return *this;
    }
    friend Traffic operator-(const Traffic& a, const Traffic& b) {
        return {a.messages - b.messages, a.bytes - b.bytes, a.off_node_messages - b.off_node_messages,
                a.off_node_bytes - b.off_node_bytes};
    }
    friend bool operator==(const Traffic&, const Traffic&) = default;
};

struct Entry {
    long calls = 0;
    double seconds = 0;
    double longest = 0;  // seconds of a call
    Work work;           // by the bodies' declared costs
    // sent in rows `send`, and in `reduction`, `reduction_begin` if by point-to-point
    Traffic traffic;
    long words = 0;  // doubles in all-reduces, in rows `reduction` and `reduction_begin`
    DeviceCounts device;

    Entry& operator+=(const Entry& other) {
        calls += other.calls;
        seconds += other.seconds;
        longest = std::max(longest, other.longest);
        work += other.work;
        traffic += other.traffic;
        words += other.words;
        device += other.device;
        return *this;
    }
};

// The regions that are notified of each booked operation, and the names; empty without any.
struct Marks {
    std::vector<Regions*> regions;
    std::vector<std::string> names;  // by place in the ledger: "smooth level 0"
};

class Ledger {
  public:
    explicit Ledger(int levels, Price price = {})
        : levels_(levels), entries_(static_cast<std::size_t>(levels) * op_count), price_(std::move(price)) {}

    int levels() const { return levels_; }
    Entry& at(Op op, int level) { return entries_[place(op, level)]; }
    const Entry& at(Op op, int level) const { return entries_[place(op, level)]; }
    Ledger& operator+=(const Ledger& other);  // with as many levels
    void clear() { entries_.assign(entries_.size(), {}); }
    // An empty ledger of the same price, for a method with levels of its own below a level of this one.
    // Regions are named after that level.
    Ledger below(int level, int levels) const;
    // Books at the level all that the first levels of another ledger have.
    void fold(const Ledger& other, int levels, int level);
    // Books work that was done, within what is timed; on a simulated machine its time passes here.
    void book(Op op, int level, const Work& work) {
        at(op, level).work += work;
        if (price_) let_pass(price_(work));
    }

    // Takes counts of this device, unless null, at the end of each operation timed from now on; it outlives
    // the ledger and its copies.
    void watch(DeviceLog* device) { device_ = device; }
    int enter(Op op, int level) {
        return device_ ? device_->enter(first_row_ + static_cast<int>(place(op, level))) : 0;
    }
    void leave(int before);  // the row before
    // Whether all operations are parts of one launch.
    bool host_plays_kernel() const { return device_ && device_->silent(); }

    // Notifies these regions, unless null, of each operation timed from now on; they outlive the ledger and
    // its copies.
    void mark(Regions* regions);
    // The notified regions and their names; null without any.
    const Marks* marks() const { return marks_.get(); }
    const char* mark_of(Op op, int level) const { return marks_->names[place(op, level)].c_str(); }

  private:
    static std::size_t place(Op op, int level) {
        return static_cast<std::size_t>(level) * op_count + static_cast<std::size_t>(op);
    }

    int levels_;
    std::vector<Entry> entries_;
    Price price_;
    DeviceLog* device_ = nullptr;
    int first_row_ = 0;  // in the device's counts
    std::shared_ptr<Marks> marks_;
};

// From its beginning to its end an operation is a region, if a tool watches.
class Marked {
  public:
    Marked(const Ledger& ledger, Op op, int level) : marks_(ledger.marks()) {
        if (!marks_) return;
        name_ = ledger.mark_of(op, level);
        for (Regions* const regions : marks_->regions) regions->begin(name_);
    }
    Marked(const Marked&) = delete;
    Marked& operator=(const Marked&) = delete;
    ~Marked() {
        if (!marks_) return;
        for (Regions* const regions : marks_->regions) regions->end(name_);
    }

  private:
    const Marks* marks_;
    const char* name_ = nullptr;
};

// Runs `action` and books its time; returns its result.
template <class Action>
auto timed(Ledger& ledger, Op op, int level, Action&& action) {
    Entry& entry = ledger.at(op, level);
    const Marked marked(ledger, op, level);
    const int before = ledger.enter(op, level);
    const double start = now();
    const auto book = [&] {
        ledger.leave(before);
        const double seconds = now() - start;
        entry.seconds += seconds;
        entry.longest = std::max(entry.longest, seconds);
        ++entry.calls;
    };
    if constexpr (std::is_void_v<decltype(action())>) {
        action();
        book();
    } else {
        auto result = action();
        book();
        return result;
    }
}

// Runs `action` and books its time and the work that it returns.
template <class Action>
Work booked(Ledger& ledger, Op op, int level, Action&& action) {
    return timed(ledger, op, level, [&] {
        const Work work = action();
        ledger.book(op, level, work);
        return work;
    });
}

}  // namespace keel
