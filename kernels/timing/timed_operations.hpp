#pragma once

// Decorates operations with entries in a ledger.

#include "kernels/timing/decorated_operations.hpp"
#include "kernels/timing/ledger.hpp"

namespace keel {

// Who calls: the multigrid cycle, or the Krylov method at the bottom, whose work has rows of its own.
enum class Caller { multigrid, bottom };

class TimedOperations : public DecoratedOperations<TimedOperations> {
  public:
    // Neither is owned; both must outlive this object.
    TimedOperations(Operations& inner, Ledger& ledger, int level, Caller caller)
        : DecoratedOperations(inner.layout()),
          inner_(inner),
          ledger_(ledger),
          level_(level),
          caller_(caller) {}

    // The work of the call that began the launch.
    Work finish_single_launch(std::vector<double>& values) override {
        const int before = ledger_.enter(row(Op::bottom_solve), level_);
        const Work work = inner_.finish_single_launch(values);
        ledger_.leave(before);
        ledger_.book(row(Op::bottom_solve), level_, work);
        return work;
    }

  private:
    friend DecoratedOperations;

    Operations& inner() const { return inner_; }

    template <class Action>
    Work around(Op op, const Action& action) {
        if (ledger_.host_plays_kernel()) {
            const Work work = action(inner_);
            ledger_.book(Op::bottom_solve, level_, work);
            return work;
        }
        return booked(ledger_, row(op), level_, [&] { return action(inner_); });
    }

    Op row(Op op) const {
        if (caller_ == Caller::bottom)
            return op == Op::vector ? Op::bottom_vector : op <= Op::residual ? Op::bottom_operator : op;
        // The cycle sums over vectors only if the problem is singular.
        return op == Op::bottom_dots ? Op::vector : op == Op::bottom_preconditioner ? Op::smooth : op;
    }

    Operations& inner_;
    Ledger& ledger_;
    int level_;
    Caller caller_;
};

}  // namespace keel
