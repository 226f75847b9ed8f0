#pragma once

// The operations that single precision has not.

#include "kernels/check.hpp"
#include "kernels/timing/decorated_operations.hpp"

namespace keel {

// Operations in single precision are for multigrid cycles only: to ask them for more is a programming
// mistake. Sums, Krylov methods and the set-up of operators stay in double precision. An operation that
// cycles need and CycleOperationsOn lacks is found at run time only.
class OnlyCycles : public DecoratedOperations<OnlyCycles> {
  public:
    using DecoratedOperations::DecoratedOperations;

  private:
    friend DecoratedOperations;

    bool keep_ghosts(Items<BlockCopy>) override { return false; }
    [[noreturn]] Operations& inner() const {
        fail_check("single precision is for multigrid cycles only", __builtin_FILE(), __builtin_LINE());
    }
    template <class Action>
    Work around(Op, const Action& action) {
        return action(inner());
    }
};

}  // namespace keel
