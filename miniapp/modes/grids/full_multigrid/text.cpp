#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "kernels/bodies/stencil.hpp"
#include "miniapp/modes/grids/full_multigrid/full_multigrid.hpp"
#include "miniapp/report/level_tables.hpp"
#include "miniapp/report/records/records.hpp"

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

std::string accuracy_text(const MultigridOptions& multigrid, const std::vector<Accuracy>& grids,
                          std::size_t dimensions, const WorkUnits& work, const SolveReport& last) {
    std::string text = fmt::format(
        "Full multigrid, one F-cycle of V({},{}){}: its error, of u, over that of the exact discrete "
        "solution\n"
        "{:>5} {:>16} {:>12} {:>12} {:>12} {:>8}\n",
        multigrid.pre, multigrid.post, multigrid.tau_extrapolation ? ", tau-extrapolated" : "", "level",
        "cells", "spacing", "exact", "F-cycle", "ratio");
    for (const Accuracy& grid : grids)
        text += fmt::format("{:>5} {:>16} {:>12.5e} {:>12.5e} {:>12.5e} {:>8.4f}\n", grid.level,
                            cells_text(grid.cells, dimensions), grid.spacing, grid.exact_error, grid.error,
                            grid.ratio());
    if (multigrid.tau_extrapolation)
        text +=
            fmt::format("order of its error, the finest first: {:.3f}\n", fmt::join(orders_of(grids), " "));
    return text + fmt::format(
                      "max|r| / max|f| = {:.5e} after it; {} bottom iterations in {} visits; {} missed the "
                      "bottom tolerance by their true |r| / |f|\n"
                      "{:.3f} work units, residual calculations of the finest grid, where the operator is "
                      "evaluated; "
                      "{:.3f} with all else\n",
                      last.residuals.back(), last.bottom_iterations(), last.visits.size(),
                      last.missed_bottoms(), work.of_operator, work.of_all);
}

std::string accuracy_records(const std::vector<Accuracy>& grids) {
    std::string lines;
    for (const Accuracy& grid : grids)
        lines += line_of({{"record", "accuracy"},
                          {"level", grid.level},
                          {"cells", grid.cells},
                          {"spacing", grid.spacing},
                          {"exact_error", grid.exact_error},
                          {"error", grid.error},
                          {"ratio", grid.ratio()}});
    return lines;
}

}  // namespace keel
