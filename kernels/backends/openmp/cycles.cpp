#include <memory>

#include "kernels/backends/only_cycles.hpp"
#include "kernels/backends/openmp/fused_half_sweeps.hpp"
#include "kernels/backends/openmp/verbs.hpp"
#include "kernels/backends/rows/operations_by_rows.hpp"

namespace keel {
namespace {

template <class Face>
using Cycles =
    FusedHalfSweeps<TransfersByRows<CycleOperationsOn<OpenMP<float>, float, OnlyCycles, Face>, float>, float>;

}  // namespace

std::unique_ptr<Operations> make_openmp_cycle_operations(const Layout& layout, int ghosts,
                                                         const Arrangement& arrangement, Precision faces) {
    if (faces == Precision::fp16) return std::make_unique<Cycles<Half>>(layout, ghosts, arrangement);
    return std::make_unique<Cycles<float>>(layout, ghosts, arrangement);
}

}  // namespace keel
