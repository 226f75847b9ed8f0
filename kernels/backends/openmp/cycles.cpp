#include <memory>

#include "kernels/backends/openmp/fused_half_sweeps.hpp"
#include "kernels/backends/openmp/verbs.hpp"
#include "kernels/backends/rows/operations_by_rows.hpp"
#include "kernels/check.hpp"
#include "kernels/timing/decorated_operations.hpp"

namespace keel {
namespace {

// Operations in single precision are for multigrid cycles only: to ask them for more is a programming
// mistake. Sums, Krylov methods and the set-up of operators stay in double precision. An operation that
// cycles need and CycleOperationsOn lacks is found at run time only.
class OnlyCycles : public DecoratedOperations<OnlyCycles> {
    friend DecoratedOperations;

    bool keep_ghosts(Items<BlockCopy>) override { return false; }
    [[noreturn]] Operations& inner() const {
        fail_check("single precision is for multigrid cycles only", __builtin_FILE(), __builtin_LINE());
    }
    template <class Action>
    [[noreturn]] Work around(Op, const Action&) {
        inner();
    }
};

using Cycles =
    FusedHalfSweeps<TransfersByRows<CycleOperationsOn<OpenMP<float>, float, OnlyCycles>, float>, float>;

}  // namespace

std::unique_ptr<Operations> make_openmp_cycle_operations(const Layout& layout, int ghosts,
                                                         const Arrangement& arrangement) {
    return std::make_unique<Cycles>(layout, ghosts, arrangement);
}

}  // namespace keel
