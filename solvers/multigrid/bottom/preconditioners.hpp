#pragma once

// The preconditioners of a whole problem that a user can choose among.

#include <memory>

#include "solvers/krylov/options.hpp"
#include "solvers/multigrid/hierarchy.hpp"
#include "solvers/multigrid/options.hpp"
#include "solvers/systems/preconditioners/block_jacobi.hpp"

namespace keel {

constexpr bool is_of_blocks(PreconditionerKind kind) {
    return kind == PreconditionerKind::block_ic0 || kind == PreconditionerKind::block_cholesky;
}

// A preconditioner of the finest level's operator; null: none. `multigrid` and the sweeps at the bottom are
// the V-cycle's. The hierarchy must outlive it. Collective.
std::unique_ptr<Preconditioner> make_preconditioner(Hierarchy& hierarchy, PreconditionerKind kind,
                                                    const MultigridOptions& multigrid, int bottom_sweeps);

// Additions to the finest level: grid-sized arrays, and bytes for each box of so many cells besides.
int preconditioner_fields(PreconditionerKind kind);
double preconditioner_bytes_of_box(PreconditionerKind kind, const Index& extent);

}  // namespace keel
