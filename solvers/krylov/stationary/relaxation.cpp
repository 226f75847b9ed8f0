// Relaxation of the bottom grid by the cycle's smoother in place of a Krylov method. It works on a level's
// own fields (multigrid/multigrid.cpp), not on a linear system: there is nothing to make from its row.
//
// Per sweep of red-black Gauss-Seidel: 2 exchanges and 13 flops per cell; no all-reduce, no test, no vectors.

#include "solvers/krylov/methods.hpp"

namespace keel {

Method relaxation() {
    return {
        .name = "smooth",
        .source = "relaxation with multigrid.smoother",
        .use = "only for bottom grids of a few cells",
        .exchanges = 2,
        .flops = 13,
        .keys = {"sweeps"},
    };
}

}  // namespace keel
