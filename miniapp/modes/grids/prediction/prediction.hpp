#pragma once

// What --dry-run foretells of a mode's solves on comm.machine: seconds.

#include <optional>
#include <string>
#include <vector>

#include "comm/ranks/communicator.hpp"
#include "miniapp/prediction/predicted_solve.hpp"
#include "miniapp/report/records/records.hpp"
#include "miniapp/setup/grid_setup.hpp"
#include "miniapp/setup/machine/memory.hpp"

namespace keel {

class Progress;

// A grid that was solved on here, in place of the one that is meant.
struct RehearsedOn {
    Index boxes;
    int dimensions = 3;
    int box = 0;
    int levels = 0;
    int ranks = 1;
    int cycles = 0;  // of the first solver
};
std::string grid_text(const RehearsedOn& on);
Json rehearsed_json(const RehearsedOn& on);

struct Prediction {
    std::vector<PredictedSolve> solves;         // the one that others are compared with first
    std::optional<RehearsedOn> bottom;          // the real bottom grid, unless all iterations are given
    std::optional<RehearsedOn> sample;          // a smaller one, where iterations are given
    std::optional<RehearsedOn> smaller_sample;  // and an even smaller one, which tells what grows with them
    std::optional<RehearsedOn> cycle;           // that tells the cycles and the work above, if not the same
    PlannedNodes planned;
};

// Whether a dry run foretells seconds: the machine's file says how fast it computes, and something is solved.
bool predicts(const Resolved& resolved, const GridSetup& grids);
// Why it does not although it should; empty if it does. Purely local.
std::string why_not_predicted(const GridSetup& grids, const SharedMemory& memory, int ranks_here);
// Solves on the ranks at hand with every solver of the mode. Collective; complete on rank 0.
Prediction predict(const Resolved& resolved, const GridSetup& grids, const std::vector<SchemeTable>& tables,
                   const Communicator& comm, Progress& progress);

std::string prediction_text(const Prediction& prediction, const Resolved& resolved, const GridSetup& grids);
std::string prediction_records(const Prediction& prediction, const Resolved& resolved,
                               const GridSetup& grids);

}  // namespace keel
