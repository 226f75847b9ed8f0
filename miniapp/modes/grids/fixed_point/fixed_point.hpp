#pragma once

// run.mode = fixed_point, its deck resolved.

#include <optional>
#include <string>
#include <vector>

#include "miniapp/modes/grids/fixed_point/options.hpp"
#include "miniapp/modes/grids/grid_mode.hpp"
#include "miniapp/modes/grids/prediction/solve_cost.hpp"

namespace keel {

struct FixedPointRecord {
    AndersonReport report;
    SolveCost cost;
    std::optional<long> cycles;    // in all evaluations, where G solves by them
    std::optional<long> unsolved;  // evaluations whose cycles missed multigrid.tolerance
    double u_l2 = 0;
};

// The use that the mode of a deck makes of its grids, for a program that poses its equations to another
// library.
GridUse use_of_fixed_point(const Deck& deck);

class PreparedFixedPoint : public PreparedGrids {
  public:
    PreparedFixedPoint(const Resolved& resolved, const GridSetup& grids, const FixedPointOptions& equation,
                       const AndersonOptions& acceleration)
        : PreparedGrids(resolved, grids), equation_(equation), acceleration_(acceleration) {}

    DryRun dry_run(const Communicator& comm, const SharedMemory& memory, Progress& progress) const override;
    // Grid-sized arrays on the finest level beside the level's: u, f and what the acceleration keeps.
    static int fields(const FixedPointOptions& equation, const AndersonOptions& acceleration);

  protected:
    void measure(const Setting& setting, Findings& findings) const override;
    Prediction predict(const std::vector<SchemeTable>& tables, const Communicator& comm,
                       const SharedMemory& memory, Progress& progress) const override;

  private:
    void check(const Setting& setting, const std::vector<FixedPointRecord>& solves, Field u, Field f,
               std::vector<Check>& checks) const;

    FixedPointOptions equation_;
    AndersonOptions acceleration_;
};

}  // namespace keel
