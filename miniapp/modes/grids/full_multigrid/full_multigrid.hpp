#pragma once

// run.mode = full_multigrid, its deck resolved: one full multigrid cycle, and whether it reaches the error of the
// discretisation.

#include <string>
#include <vector>

#include "miniapp/modes/grids/grid_mode.hpp"
#include "miniapp/modes/grids/prediction/solve_cost.hpp"
#include "miniapp/report/table.hpp"

namespace keel {

// Grids that the cycle is judged on: those of spacing h, 2h and 4h.
constexpr int judged_levels = 3;
// The error may be so many times that of the exact discrete solution.
constexpr double most_error = 1.5;
constexpr double most_work_units = 6;
// An extrapolated cycle has to have this order from 2h to h, and this from 4h, where grids may be too coarse for all of it; it
// may compute so many times as much.
constexpr double least_extrapolated_order = 3.7;
constexpr double least_order_before = 3;
constexpr double most_of_extrapolation = 1.3;
// An exact discrete solution has so small a residual, over max|f|.
constexpr double loosest_exact = 1e-8;

// What a cycle reaches on one grid.
struct Accuracy {
    int level = 0;
    Index cells{};
    double spacing = 0;
    double exact_error = 0;  // of the exact discrete solution, in the L2 norm
    double error = 0;        // of the cycle's, the worst where there were several

    double ratio() const { return error / exact_error; }
};

// What a cycle computes, in residual calculations of the finest grid: those operations that evaluate the operator (smoothing,
// residuals, the bottom's products), and all of them. By declared costs.
struct WorkUnits {
    double of_operator = 0;
    double of_all = 0;
};
WorkUnits work_units(const std::vector<TimerRow>& timers, double unknowns, std::size_t dimensions);

// Of the error, from each grid to the next finer one: the finest first.
std::vector<double> orders_of(const std::vector<Accuracy>& grids);

ReportTable accuracy_table(const MultigridOptions& multigrid, const std::vector<Accuracy>& grids,
                           std::size_t dimensions);
// Lines below the table: the order of an extrapolated cycle, the last residual, bottom visits and work.
std::string cycle_text(const std::vector<Accuracy>& grids, const WorkUnits& work, const SolveReport& last,
                       bool extrapolated);

class PreparedFullMultigrid : public PreparedGrids {
  public:
    using PreparedGrids::PreparedGrids;

  protected:
    void measure(const Setting& setting, Findings& findings) const override;
};

}  // namespace keel
