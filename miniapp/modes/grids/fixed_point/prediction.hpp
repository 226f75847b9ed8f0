#pragma once

// What --dry-run foretells of run.mode = fixed_point on comm.machine: seconds by each way to orthogonalise.

#include <optional>
#include <string>
#include <vector>

#include "miniapp/modes/grids/fixed_point/options.hpp"
#include "miniapp/modes/grids/prediction/prediction.hpp"

namespace keel {

// A row: Picard's iteration, or the acceleration by one method.
struct PredictedFixedPoint {
    PredictedSolve solve;   // its solver is the method, its iterations those of the bottom
    double iterations = 0;  // and all that follows: of the solve that is predicted
    double evaluations = 0;
    double qr_reductions = 0;
    double qr_words = 0;
    bool converged = false;
    AndersonOutcome outcome = AndersonOutcome::iteration_limit;
    RehearsedOn on;                          // the grid that tells the work
    int rehearsed_iterations = 0;            // there
    std::optional<RehearsedOn> iterated_on;  // that tells the iterations, where another one does
};

struct FixedPointPrediction {
    std::vector<PredictedFixedPoint> rows;
    std::optional<RehearsedOn> bottom;  // that tells the iterations of the bottom's solver
    PlannedNodes planned;
};

// Why nothing is predicted; empty if it is. Purely local.
std::string why_not_predicted(const GridSetup& grids, const FixedPointOptions& equation,
                              const AndersonOptions& acceleration, const SharedMemory& memory,
                              int ranks_here);
// Iterates on the ranks at hand, without acceleration and by every method. Collective; complete on rank 0.
FixedPointPrediction predict(const Resolved& resolved, const GridSetup& grids,
                             const FixedPointOptions& equation, const AndersonOptions& acceleration,
                             const std::vector<SchemeTable>& tables, const Communicator& comm);

std::string prediction_text(const FixedPointPrediction& prediction, const Resolved& resolved,
                            const AndersonOptions& acceleration);
std::string prediction_records(const FixedPointPrediction& prediction, const Resolved& resolved,
                               const GridSetup& grids, const AndersonOptions& acceleration);

}  // namespace keel
