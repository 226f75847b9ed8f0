#pragma once

// The preconditioners of a whole problem that a user can choose among.

#include <memory>

#include "solvers/multigrid/hierarchy.hpp"
#include "solvers/multigrid/options.hpp"
#include "solvers/systems/preconditioners/block_jacobi.hpp"

namespace keel {

enum class PreconditionerKind { none, v_cycle, block_jacobi };
constexpr auto names_of(PreconditionerKind) {
    using Name = Named<PreconditionerKind>;
    return std::array{Name{PreconditionerKind::none, "none"}, Name{PreconditionerKind::v_cycle, "v_cycle"},
                      Name{PreconditionerKind::block_jacobi, "block_jacobi"}};
}

struct PreconditionerOptions {
    PreconditionerKind kind = PreconditionerKind::none;
    BlockSolver block_solver = BlockSolver::ic0;

    bool any() const { return kind != PreconditionerKind::none; }
};

// A preconditioner of the finest level's operator; null: none. `multigrid` and the sweeps at the bottom are
// the V-cycle's. The hierarchy must outlive it. Collective.
std::unique_ptr<Preconditioner> make_preconditioner(Hierarchy& hierarchy,
                                                    const PreconditionerOptions& options,
                                                    const MultigridOptions& multigrid, int bottom_sweeps);

// Additions to the finest level: grid-sized arrays, and bytes for each box of so many cells besides.
int preconditioner_fields(const PreconditionerOptions& options);
double preconditioner_bytes_of_box(const PreconditionerOptions& options, const Index& extent);

}  // namespace keel
