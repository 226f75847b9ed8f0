#pragma once

// What the parts of the mode orthogonalise hand to each other: results by method and phase, and how they are told.

#include <array>
#include <string>
#include <vector>

#include "kernels/names.hpp"
#include "miniapp/modes/grids/grid_mode.hpp"
#include "miniapp/report/table.hpp"
#include "solvers/orthogonalise/orthogonalisers.hpp"

namespace keel {

// What is timed: all columns of an empty window; one that takes the place of the oldest; and that with the least-squares problem,
// all that an iteration of Anderson acceleration asks for.
enum class WindowPhase { start_up, recycled, iteration };
constexpr auto names_of(WindowPhase) {
    using Name = Named<WindowPhase>;
    return std::array{Name{WindowPhase::start_up, "start_up"}, Name{WindowPhase::recycled, "recycled"},
                      Name{WindowPhase::iteration, "iteration"}};
}
constexpr std::array window_phases{WindowPhase::start_up, WindowPhase::recycled, WindowPhase::iteration};

QRCost window_cost(const Orthogonaliser& row, WindowPhase phase,
                   long depth);  // of a phase, by the method's row

struct WindowResult {
    QRCost cost;          // by the row
    long reductions = 0;  // counted, of one
    long words = 0;
    std::vector<double> seconds;  // of one, each the slowest rank's
};
using MethodResult = std::array<WindowResult, window_phases.size()>;

// One result for each of orthogonalisers(), in their order, of `rows` rows; `where` follows the columns in the title.
ReportTable orthogonalise_table(const std::vector<MethodResult>& results, int depth, double rows,
                                Kind of_seconds, const std::string& where = "");

// Times all methods, which take turns, on the cells of the finest level; with checks of their factors and of their counts.
// Collective.
void measure_orthogonalisers(const Setting& setting, int depth, Findings& findings);

}  // namespace keel
