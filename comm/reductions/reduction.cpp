#include "comm/reductions/reduction.hpp"

#include <deque>
#include <type_traits>
#include <vector>

#include "comm/ranks/mpi.hpp"
#include "comm/reductions/pairs.hpp"
#include "kernels/check.hpp"

namespace keel {
namespace {

// The tag of sums of pairs; others have those of their slots.
constexpr int tag_of_pairs = 32767;

extern "C" {
static void add_pairs_for_mpi(void* theirs, void* ours, int* pairs, MPI_Datatype*) {
    const auto words = 2 * static_cast<std::size_t>(*pairs);
    add_pairs({static_cast<double*>(ours), words}, {static_cast<const double*>(theirs), words});
}
}

// The operation on pairs of words as MPI has it.
class AddPairs {
  public:
    AddPairs() { require(MPI_Op_create(add_pairs_for_mpi, 1, &op_), "MPI_Op_create"); }
    AddPairs(const AddPairs&) = delete;
    AddPairs& operator=(const AddPairs&) = delete;
    ~AddPairs() { MPI_Op_free(&op_); }

    MPI_Op op() const { return op_; }

  private:
    MPI_Op op_ = MPI_OP_NULL;
};

class MpiReduction : public Reduction {
  public:
    MpiReduction(const Communicator& comm, const Topology& topology, const Layout& layout, bool deterministic,
                 const AllReduceOptions& options, Ledger* ledger, int level)
        : comm_(options.algorithm == AllReduceAlgorithm::mpi ? comm : comm.duplicate()),
          topology_(topology),
          options_(options),
          ledger_(ledger),
          level_(level),
          boxes_(static_cast<std::size_t>(layout.local_count())) {
        if (!deterministic) return;
        all_boxes_ = static_cast<std::size_t>(layout.box_count());
        local_.assign(layout.local().begin(), layout.local().end());
    }

    void sum(std::span<const double> parts, std::span<double> totals) override {
        book(Op::reduction, [&] {
            if (options_.algorithm != AllReduceAlgorithm::mpi)
                return complete(begin(parts, totals.size()), totals);
            fill<double>(blocking_, totals.size(), parts);
            all_reduce(blocking_, blocking_.size(), MPI_DOUBLE, MPI_SUM);
            add_up(blocking_, totals);
        });
    }

    void sum(std::span<const double> parts, std::span<DoubleDouble> totals) override {
        book(Op::reduction, [&] {
            fill<DoubleDouble>(blocking_, totals.size(), parts);
            add_up_pairs_over_ranks(blocking_);
            add_up(blocking_, totals);
        });
    }

    double max(double value) override {
        book(Op::reduction, [&] {
            ++count_.calls;
            ++count_.words;
            value = comm_.max(value);
        });
        return value;
    }

    AllReduceRequest begin_sum(std::span<const double> parts, std::size_t sums) override {
        int slot = 0;
        book(Op::reduction_begin, [&] { slot = begin(parts, sums); });
        return {*this, slot};
    }

    bool progress() override {
        bool left = false;
        if (busy_ > 0) book(Op::reduction_progress, [&] { left = progress_unbooked(); });
        return left;
    }
    bool progress_unbooked() override {
        bool left = false;
        if (busy_ == 0) return left;
        for (Slot& slot : slots_)
            if (slot.busy) left = slot.all_reduce->progress() || left;
        return left;
    }

    Reductions count() const override { return count_; }
    bool alone() const override { return comm_.size() == 1 && all_boxes_ == 0; }
    void count_summed(long calls, long words) override {
        count_.calls += calls;
        count_.words += words;
        if (ledger_ == nullptr) return;
        Entry& entry = ledger_->at(Op::reduction, level_);
        entry.calls += calls;
        entry.words += words;
    }

  protected:
    void finish(int slot, std::span<double> totals) override {
        book(Op::reduction_wait, [&] { complete(slot, totals); });
    }

  private:
    // Ranks begin and finish in the same order, so the slot of a sum is the same on all of them.
    struct Slot {
        std::vector<double> words;
        std::unique_ptr<AllReduce> all_reduce;
        bool busy;
    };

    Slot& at(int slot) { return slots_[static_cast<std::size_t>(slot)]; }

    int begin(std::span<const double> parts, std::size_t sums) {
        int slot = 0;
        while (slot < static_cast<int>(slots_.size()) && at(slot).busy) ++slot;
        if (slot == static_cast<int>(slots_.size())) slots_.push_back({{}, make_all_reduce(slot), false});
        Slot& s = at(slot);
        s.busy = true;
        ++busy_;
        fill<double>(s.words, sums, parts);
        count_.traffic += s.all_reduce->start(s.words);
        return slot;
    }
    void complete(int slot, std::span<double> totals) {
        Slot& s = at(slot);
        check(s.busy, "the sum is not in flight");
        wait_for(*s.all_reduce);
        s.busy = false;
        --busy_;
        add_up(s.words, totals);
    }

    template <class Action>
    void book(Op op, const Action& action) {
        if (ledger_ == nullptr) return action();
        const Reductions before = count_;
        timed(*ledger_, op, level_, action);
        Entry& entry = ledger_->at(op, level_);
        entry.words += count_.words - before.words;
        entry.traffic += count_.traffic - before.traffic;
    }

    std::unique_ptr<AllReduce> make_all_reduce(int tag, WordType type = WordType::fp64) const {
        return keel::make_all_reduce(options_.algorithm, comm_, topology_, tag, options_.by_words, type);
    }

    // Blocking, in place.
    void add_up_pairs_over_ranks(std::span<double> words) {
        if (options_.algorithm != AllReduceAlgorithm::mpi) {
            if (!of_pairs_) of_pairs_ = make_all_reduce(tag_of_pairs, WordType::double_double);
            count_.traffic += of_pairs_->start(words);
            return wait_for(*of_pairs_);
        }
        if (!add_pairs_) add_pairs_ = std::make_unique<AddPairs>();
        // A type of two doubles, which no algorithm parts.
        all_reduce(words, words.size() / 2, MPI_C_DOUBLE_COMPLEX, add_pairs_->op());
    }
    // A virtual rank keeps its own words.
    void all_reduce(std::span<double> words, std::size_t count, MPI_Datatype type, MPI_Op op) const {
        if (comm_.is_virtual()) return;
        require(MPI_Allreduce(MPI_IN_PLACE, words.data(), mpi_count(count, "MPI_Allreduce"), type, op,
                              comm_.impl().comm),
                "MPI_Allreduce");
    }

    // Progresses the other sums meanwhile: a rank that waits for one sum must not hold up another.
    void wait_for(AllReduce& awaited) {
        moved_.assign(1, &awaited);
        for (const Slot& slot : slots_)
            if (slot.busy && slot.all_reduce.get() != &awaited) moved_.push_back(slot.all_reduce.get());
        if (moved_.size() == 1) return awaited.wait();
        while (awaited.in_flight()) {
            open_.clear();
            for (AllReduce* const sum : moved_) {
                const std::span<MPI_Request> requests = sum->requests().open;
                open_.insert(open_.end(), requests.begin(), requests.end());
            }
            int any = 0;
            require(MPI_Waitany(static_cast<int>(open_.size()), open_.data(), &any, MPI_STATUS_IGNORE),
                    "MPI_Waitany");
            auto request = open_.begin();
            for (AllReduce* const sum : moved_)
                for (MPI_Request& one : sum->requests().open) one = *request++;
            for (AllReduce* const sum : moved_) sum->take();
        }
    }

    // Values of a sum that travel: one, or the part of every box of the level.
    std::size_t values_of_sum() const { return all_boxes_ > 0 ? all_boxes_ : 1; }

    template <class Value>
    static Value value_at(std::span<const double> words, std::size_t at) {
        if constexpr (std::is_same_v<Value, double>)
            return words[at];
        else
            return pair_at(words, at);
    }

    // Sum after sum, the total of the local boxes - or, deterministic, the part of every box of the level,
    // where boxes of other ranks are 0: adding zeros changes no value, whatever the order.
    template <class Value>
    void fill(std::vector<double>& words, std::size_t sums, std::span<const double> parts) {
        constexpr std::size_t width = sizeof(Value) / sizeof(double);
        check_equal(parts.size(), width * sums * boxes_, "a part, of one word or two, per sum and local box");
        words.assign(width * sums * values_of_sum(), 0.0);
        for (std::size_t n = 0; n < sums; ++n)
            for (std::size_t q = 0; q < boxes_; ++q) {
                const std::size_t at =
                    n * values_of_sum() + (all_boxes_ > 0 ? static_cast<std::size_t>(local_[q]) : 0);
                const Value before = value_at<Value>(words, at);
                if constexpr (width == 1)
                    words[at] = before + parts[n * boxes_ + q];
                else
                    put_pair(
                        words, at,
                        before + DoubleDouble(parts[2 * n * boxes_ + q], parts[(2 * n + 1) * boxes_ + q]));
            }
        ++count_.calls;
        count_.words += static_cast<long>(words.size());
    }

    template <class Value>
    void add_up(std::span<const double> words, std::span<Value> totals) const {
        check_equal(words.size(), totals.size() * values_of_sum() * sizeof(Value) / sizeof(double),
                    "one total per sum");
        for (std::size_t n = 0; n < totals.size(); ++n) {
            totals[n] = {};
            for (std::size_t at = n * values_of_sum(); at < (n + 1) * values_of_sum(); ++at)
                totals[n] += value_at<Value>(words, at);
        }
    }

    Communicator comm_;
    Topology topology_;
    AllReduceOptions options_;
    Ledger* ledger_;
    int level_;
    std::size_t boxes_;
    std::size_t all_boxes_ = 0;  // 0: not deterministic
    std::vector<int> local_;
    std::vector<double> blocking_;
    std::unique_ptr<AddPairs> add_pairs_;  // from the first sum of pairs on
    std::unique_ptr<AllReduce> of_pairs_;  // the same
    std::deque<Slot> slots_;
    std::vector<AllReduce*> moved_;  // while one is waited for
    std::vector<MPI_Request> open_;
    int busy_ = 0;
    Reductions count_;
};

}  // namespace

std::unique_ptr<Reduction> make_reduction(const Communicator& comm, const Topology& topology,
                                          const Layout& layout, bool deterministic,
                                          const AllReduceOptions& options, Ledger* ledger, int level) {
    return std::make_unique<MpiReduction>(comm, topology, layout, deterministic, options, ledger, level);
}

}  // namespace keel
