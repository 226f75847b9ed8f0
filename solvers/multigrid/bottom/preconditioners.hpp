#pragma once

// The preconditioners of a whole problem that a user can choose among.

#include <memory>

#include "solvers/krylov/options.hpp"
#include "solvers/multigrid/hierarchy.hpp"
#include "solvers/multigrid/options.hpp"
#include "solvers/systems/preconditioners/preconditioner.hpp"

namespace keel {

// A preconditioner of the finest level's operator; null: none. `multigrid` and the sweeps at the bottom are
// the V-cycle's. The hierarchy must outlive it. Collective.
std::unique_ptr<Preconditioner> make_preconditioner(Hierarchy& hierarchy, PreconditionerKind kind,
                                                    const MultigridOptions& multigrid, int bottom_sweeps);

}  // namespace keel
