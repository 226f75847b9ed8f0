#pragma once

// What --dry-run predicts of run.mode = fixed_point on comm.machine: seconds without acceleration, and by each way to orthogonalise.

#include "miniapp/modes/grids/fixed_point/options.hpp"
#include "miniapp/modes/grids/prediction/multigrid_prediction.hpp"

namespace keel {

// Iterates on the ranks at hand, without acceleration and by every method. Collective; complete on rank 0.
Prediction predict_fixed_point(const Resolved& resolved, const GridSetup& grids,
                               const FixedPointOptions& equation, const AndersonOptions& acceleration,
                               const std::vector<SchemeTable>& tables, const Communicator& comm,
                               const SharedMemory& memory);

}  // namespace keel
