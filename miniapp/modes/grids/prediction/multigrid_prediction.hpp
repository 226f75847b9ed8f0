#pragma once

// What --dry-run predicts of solves on grids, from proxy solves on the ranks at hand.

#include <optional>
#include <string>
#include <vector>

#include "comm/ranks/communicator.hpp"
#include "miniapp/modes/grids/prediction/proxy_grid.hpp"
#include "miniapp/prediction/prediction.hpp"
#include "miniapp/setup/grid_setup.hpp"
#include "miniapp/setup/machine/memory.hpp"

namespace keel {

class Progress;

// Why no solve on these grids is predicted, whatever it is of; empty if one may be. It follows "no seconds are predicted".
std::string why_not_predicted(const GridSetup& grids);
// Why proxy solves of this cost, on the largest of these grids, are more than a dry run may take; likewise.
std::string why_not_solved(const DryRunCost& cost, const std::string& remedy, const GridSetup& grids,
                           std::span<const ProxyBoxes> on, const SharedMemory& memory, int ranks_here);

// Seconds of multigrid, or of Krylov methods on the finest grid, with every solver of the mode. Collective; complete on rank 0.
Prediction predict_multigrid(const Resolved& resolved, const GridSetup& grids,
                             const std::vector<SchemeTable>& tables, const Communicator& comm,
                             const SharedMemory& memory, Progress& progress);

}  // namespace keel
