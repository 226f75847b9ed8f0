#pragma once

// Sums and maxima over all ranks, blocking or not.

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "comm/ranks/communicator.hpp"
#include "comm/ranks/topology.hpp"
#include "comm/reductions/all_reduce.hpp"
#include "kernels/double_double.hpp"
#include "kernels/layout/layout.hpp"
#include "kernels/timing/ledger.hpp"

namespace keel {

class Reduction;

// A sum in flight. It must be finished exactly once, by all ranks in the same order as begun.
class AllReduceRequest {
  public:
    AllReduceRequest(Reduction& reduction, int slot) : reduction_(&reduction), slot_(slot) {}
    void finish(std::span<double> totals);
    int slot() const { return slot_; }  // the least that no other sum in flight has

  private:
    Reduction* reduction_;
    int slot_;
};

// Counts of all-reduces, of doubles in them, and of the point-to-point messages that carry them.
struct Reductions {
    long calls = 0;
    long words = 0;
    Traffic traffic;
};

class Reduction {
  public:
    virtual ~Reduction() = default;

    // One all-reduce for all sums: `parts` holds, sum after sum, one value per local box; totals one per sum.
    // Collective; every rank gets the same totals.
    virtual void sum(std::span<const double> parts, std::span<double> totals) = 0;
    // The same for sums of twice the precision of a double: `parts` has, sum after sum, the high parts of all
    // local boxes, then the low ones; two words of each travel.
    virtual void sum(std::span<const double> parts, std::span<DoubleDouble> totals) = 0;
    virtual double max(double value) = 0;
    virtual AllReduceRequest begin_sum(std::span<const double> parts, std::size_t sums) = 0;
    // Progresses the sums in flight, if options say so; to be called between pieces of work, and while
    // something else is waited for. Returns whether another call helps before one of them is to be finished.
    // Not collective.
    virtual bool progress() = 0;
    // The same for a caller that books the time itself, as that of waiting for something else.
    virtual bool progress_unbooked() { return progress(); }
    virtual Reductions count() const = 0;
    // Whether the sums of this rank, in any order, are those of all ranks; false also if each sum is to be
    // seen.
    virtual bool alone() const { return false; }
    // Counts all-reduces that sums elsewhere took the place of, where this rank is alone.
    virtual void count_summed(long /*calls*/, long /*words*/) {}

  protected:
    friend class AllReduceRequest;
    virtual void finish(int slot, std::span<double> totals) = 0;
};

inline void AllReduceRequest::finish(std::span<double> totals) {
    reduction_->finish(slot_, totals);
}

// Passes all on to another reduction; for classes that add something.
class DecoratedReduction : public Reduction {
  public:
    explicit DecoratedReduction(std::unique_ptr<Reduction> inner) : inner_(std::move(inner)) {}

    void sum(std::span<const double> parts, std::span<double> totals) override { inner_->sum(parts, totals); }
    void sum(std::span<const double> parts, std::span<DoubleDouble> totals) override {
        inner_->sum(parts, totals);
    }
    double max(double value) override { return inner_->max(value); }
    AllReduceRequest begin_sum(std::span<const double> parts, std::size_t sums) override {
        return {*this, inner_->begin_sum(parts, sums).slot()};
    }
    bool progress() override { return inner_->progress(); }
    Reductions count() const override { return inner_->count(); }
    bool alone() const override { return inner_->alone(); }

  protected:
    void finish(int slot, std::span<double> totals) override {
        AllReduceRequest(*inner_, slot).finish(totals);
    }

  private:
    std::unique_ptr<Reduction> inner_;
};

// How all-reduces are made.
struct AllReduceOptions {
    AllReduceAlgorithm algorithm = AllReduceAlgorithm::mpi;
    AlgorithmByWords by_words = {};  // for the automatic algorithm
};

// Sums of a virtual rank are counted, and are its own.
// `deterministic`: the boxes' parts travel one by one and are added in the order of the boxes, so that the
// result depends neither on the number of ranks nor on the MPI; an all-reduce then carries a word per sum and
// global box.
// Given a ledger, it books on this level `reduction` and, apart from it, what pending sums take:
// `reduction_begin`, which counts them, `reduction_progress` and `reduction_wait`.
std::unique_ptr<Reduction> make_reduction(const Communicator& comm, const Topology& topology,
                                          const Layout& layout, bool deterministic,
                                          const AllReduceOptions& options = {}, Ledger* ledger = nullptr,
                                          int level = 0);

}  // namespace keel
