#pragma once

// Operations in single precision are for multigrid cycles only: to ask them for more is a programming
// mistake. Sums, Krylov methods and the set-up of operators stay in double precision. An operation
// that cycles need and CycleOperationsOn lacks is found at run time only.

#include "kernels/check.hpp"
#include "kernels/timing/decorated_operations.hpp"

namespace keel {

class OnlyCycles : public DecoratedOperations<OnlyCycles> {
    friend DecoratedOperations;

    [[noreturn]] Operations& inner() const {
        fail_check("single precision is for multigrid cycles only", __builtin_FILE(), __builtin_LINE());
    }
    template <class Action>
    [[noreturn]] Work around(Op, const Action&) {
        inner();
    }
};

}  // namespace keel
