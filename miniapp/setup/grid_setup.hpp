#pragma once

// The grids of a mode, from the deck: layouts, levels and solvers.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/layout/layout.hpp"
#include "miniapp/setup/resolved.hpp"
#include "solvers/krylov/methods.hpp"
#include "solvers/multigrid/bottom/preconditioners.hpp"
#include "solvers/multigrid/hierarchy.hpp"

namespace keel {

// The level on which the Krylov methods of a mode work.
enum class KrylovLevel { none, coarsest, finest };

// The use that a mode makes of its grids: all that laying them out, planning messages and predicting memory
// need to know of it.
struct GridUse {
    bool coarsens = true;  // false: only the finest level is needed
    KrylovLevel krylov = KrylovLevel::coarsest;
    PreconditionerKind preconditioner = PreconditionerKind::none;  // on the finest level
    std::vector<NamedSolver> solvers = {};                         // at work one after the other
    std::vector<std::string> left_out = {};    // a line for each solver that takes no part: its name, and why
    std::optional<int> exchanged_fields = {};  // no level keeps more than these, and nothing is solved
    bool full_multigrid = false;               // one F-cycle is all of a solve
    std::optional<int> full_approximation = {};  // sweeps on the coarsest level of a nonlinear multigrid
    double more_bytes = 0;                       // of all ranks together, beside arrays
    bool mixes = false;                          // cycles can be in single precision
    bool predicted = true;                       // a dry run can predict seconds of its solves
};

// The width of the boxes of the coarsest level, if none are merged.
int coarsest_box(const Parameters& parameters, const GridUse& use);
// Whether anything is interpolated linearly.
bool interpolates_linearly(const MultigridOptions& multigrid);
// The ranks that solve on it.
int bottom_grid(const Parameters& parameters, const GridUse& use);
// The cells per rank below which boxes are merged; 0: never.
std::int64_t agglomerate(const Parameters& parameters, const GridUse& use);
// The most that the solvers' matrix powers want of the level that they work on.
PowersNeed powers_need(const GridUse& use, int width);

struct GridSetup {
    ProblemOptions problem;
    MultigridOptions multigrid;
    GridUse use;
    Domain domain{{1, 1, 1}, {}};
    int ranks = 1;
    int rank = 0;
    HierarchyOptions hierarchy;
    PowersNeed powers;
    std::optional<GpuSync> gpu = {};  // when the host waits, if a GPU computes

    // The levels by numbers, and as this rank sees them, given the finest.
    std::vector<LevelShape> shapes() const;
    std::vector<LevelDistribution> places(const Layout& finest) const;
    int levels() const;
    bool merges() const;  // boxes of any level
    // Whether the order of the error can be observed: of an exact solution, by cycles at h and 2h.
    bool observes_order() const;
    // Whether cycles, or an iteration around them, solve on this level: the finest or, to observe the order
    // of the error, the one below.
    bool solves_on(int level) const;
    // The finest level as this rank sees it. Keeps the owner of every box: ask exceeds_memory() first.
    Layout finest() const;
    int most_boxes_of_a_rank() const;
    bool moves_bottom() const { return hierarchy.bottom_grid != BottomRanks::owners; }
};

GridSetup resolve_grids(const Deck& deck, const Resolved& resolved, const GridUse& use);

}  // namespace keel
