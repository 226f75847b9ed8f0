#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/bodies/stencil.hpp"
#include "miniapp/modes/grids/full_multigrid/full_multigrid.hpp"
#include "miniapp/report/level_tables.hpp"

namespace keel {
namespace {

bool evaluates_operator(Op op) {
    return op <= Op::restrict_ || op == Op::bottom_operator;
}

}  // namespace

WorkUnits work_units(const std::vector<TimerRow>& timers, double unknowns, std::size_t dimensions) {
    const double of_cell = dimensions == 2 ? Residual<2>::cost.flops : Residual<3>::cost.flops;
    WorkUnits work;
    for (const TimerRow& row : timers) {
        const double units = row.flops / (of_cell * unknowns);
        work.of_all += units;
        if (const auto op = named<Op>(row.op); op && evaluates_operator(*op)) work.of_operator += units;
    }
    return work;
}

ReportTable accuracy_table(const MultigridOptions& multigrid, const std::vector<Accuracy>& grids,
                           std::size_t dimensions) {
    ReportTable table(
        fmt::format("Full multigrid: error of u after one F-cycle of V({},{}){}, beside that of the "
                    "exact discrete solution",
                    multigrid.pre, multigrid.post, multigrid.tau_extrapolation ? ", tau-extrapolated" : ""),
        "accuracy");
    for (const Accuracy& grid : grids)
        table.add({{"level", grid.level, "level"},
                   {"cells", grid.cells, "cells", cells_text(grid.cells, dimensions)},
                   {"spacing", grid.spacing, "spacing", Unit::scientific},
                   {"exact_error", grid.exact_error, "exact solution", Unit::scientific},
                   {"error", grid.error, "F-cycle", Unit::scientific},
                   {"ratio", grid.ratio(), "ratio", fmt::format("{:.4f}", grid.ratio())}});
    return table;
}

std::string cycle_text(const std::vector<Accuracy>& grids, const WorkUnits& work, const SolveReport& last,
                       bool extrapolated) {
    std::string text;
    if (extrapolated)
        text = fmt::format("order of the cycle's error, finest first: {:.3f}\n",
                           fmt::join(orders_of(grids), " "));
    return text +
           fmt::format(
               "max|r| / max|f| = {:.5e} after it; {} bottom iterations in {} visits; {} missed "
               "bottom.tolerance\n",
               last.residuals.back(), last.bottom_iterations(), last.visits.size(), last.missed_bottoms()) +
           fmt::format(
               "{:.3f} work units (residual calculations on the finest grid) of operator evaluations, "
               "{:.3f} of all\n",
               work.of_operator, work.of_all);
}

}  // namespace keel
