#include "comm/reduction.hpp"

#include <deque>
#include <numeric>
#include <vector>

#include "comm/mpi.hpp"
#include "kernels/check.hpp"

namespace keel {
namespace {

class MpiReduction : public Reduction {
  public:
    MpiReduction(const Communicator& comm, const Layout& layout, bool deterministic)
        : comm_(comm), boxes_(static_cast<std::size_t>(layout.local_count())) {
        if (!deterministic) return;
        all_boxes_ = static_cast<std::size_t>(layout.box_count());
        local_.assign(layout.local().begin(), layout.local().end());
    }

    void sum(std::span<const double> parts, std::span<double> totals) override {
        fill(blocking_, parts, totals.size());
        require(MPI_Allreduce(MPI_IN_PLACE, blocking_.words.data(), words(blocking_), MPI_DOUBLE, MPI_SUM,
                              comm_.impl().comm),
                "MPI_Allreduce");
        add_up(blocking_, totals);
    }

    double max(double value) override {
        ++count_.calls;
        ++count_.words;
        return comm_.max(value);
    }

    PendingSum begin_sum(std::span<const double> parts, std::size_t sums) override {
        int slot = 0;
        while (slot < static_cast<int>(slots_.size()) && at(slot).busy) ++slot;
        if (slot == static_cast<int>(slots_.size())) slots_.emplace_back();
        Slot& s = at(slot);
        s.busy = true;
        fill(s, parts, sums);
        require(MPI_Iallreduce(MPI_IN_PLACE, s.words.data(), words(s), MPI_DOUBLE, MPI_SUM, comm_.impl().comm,
                               &s.request),
                "MPI_Iallreduce");
        return {*this, slot};
    }

    Reductions count() const override { return count_; }

  protected:
    void finish(int slot, std::span<double> totals) override {
        Slot& s = at(slot);
        check(s.busy, "the sum is not under way");
        require(MPI_Wait(&s.request, MPI_STATUS_IGNORE), "MPI_Wait");
        s.busy = false;
        add_up(s, totals);
    }

  private:
    struct Slot {
        std::vector<double> words;
        MPI_Request request = MPI_REQUEST_NULL;
        bool busy = false;
    };

    Slot& at(int slot) { return slots_[static_cast<std::size_t>(slot)]; }
    static int words(const Slot& slot) { return static_cast<int>(slot.words.size()); }

    // Sum after sum, the total of the local boxes - or, deterministic, the part of every box of the level, where
    // boxes of other ranks are 0: adding zeros changes no value, whatever the order.
    void fill(Slot& slot, std::span<const double> parts, std::size_t sums) {
        check(parts.size() == sums * boxes_, "one part per sum and local box");
        slot.words.assign(sums * (all_boxes_ > 0 ? all_boxes_ : 1), 0.0);
        for (std::size_t n = 0; n < sums; ++n)
            for (std::size_t q = 0; q < boxes_; ++q) {
                const double part = parts[n * boxes_ + q];
                if (all_boxes_ > 0)
                    slot.words[n * all_boxes_ + static_cast<std::size_t>(local_[q])] = part;
                else
                    slot.words[n] += part;
            }
        ++count_.calls;
        count_.words += words(slot);
    }

    void add_up(const Slot& slot, std::span<double> totals) const {
        const std::size_t each = all_boxes_ > 0 ? all_boxes_ : 1;
        check(slot.words.size() == totals.size() * each, "one total per sum");
        for (std::size_t n = 0; n < totals.size(); ++n) {
            const auto first = slot.words.begin() + static_cast<std::ptrdiff_t>(n * each);
            totals[n] = std::accumulate(first + 1, first + static_cast<std::ptrdiff_t>(each), *first);
        }
    }

    Communicator comm_;
    std::size_t boxes_;
    std::size_t all_boxes_ = 0;  // 0: not deterministic
    std::vector<int> local_;
    Slot blocking_;
    std::deque<Slot> slots_;
    Reductions count_;
};

}  // namespace

std::unique_ptr<Reduction> make_reduction(const Communicator& comm, const Layout& layout,
                                          bool deterministic) {
    return std::make_unique<MpiReduction>(comm, layout, deterministic);
}

}  // namespace keel
