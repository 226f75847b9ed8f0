#pragma once

// The exchanges that a simulated surrogate is charged for: those of the levels that its finest one stands for.

#include "comm/ranks/communicator.hpp"
#include "kernels/timing/ledger.hpp"
#include "miniapp/setup/grid_setup.hpp"
#include "solvers/multigrid/hierarchy.hpp"

namespace keel {

// Each exchange of the finest level, in either precision, takes longer from now on by what comm.machine says of the plans of
// the wider boxes, which are not sent; the ledger has these seconds as "exchange.charged". Plans are by the run's schemes, or
// for each level by the one that is fastest on comm.machine. Nothing is done without a surrogate. Solvers have to be made
// after it. Collective; throws MissingParameter.
void charge_exchanges(Hierarchy& hierarchy, const Resolved& resolved, const GridSetup& grids,
                      const Communicator& comm, Ledger& ledger);

}  // namespace keel
