#include "miniapp/setup/rules/grid_rules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <span>

#include "kernels/backends/registry.hpp"
#include "miniapp/deck/text/text.hpp"
#include "miniapp/setup/problem/file_values.hpp"
#include "miniapp/setup/problem/shape.hpp"
#include "miniapp/setup/rules/solver_rules.hpp"
#include "solvers/multigrid/smoothers/smoother.hpp"

namespace keel {
namespace {

void check_coarsening(Rules& rules, const Parameters& p, const GridUse& use) {
    std::vector<int> widths{p.problem.box};
    while (widths.back() % 2 == 0) widths.push_back(widths.back() / 2);
    std::vector<int> boxes;
    const int widest = p.problem.dimensions == 2 ? 16384 : 1024;
    for (std::int64_t box = p.multigrid.bottom_box; box <= widest; box *= 2)
        boxes.push_back(static_cast<int>(box));

    const bool cycles = use.coarsens && use.krylov == KrylovLevel::coarsest && !use.solvers.empty();
    std::vector<std::string> remedies;
    const auto offer = [&](const std::string& key, std::span<const int> numbers) {
        const auto allowed = numbers.subspan(cycles ? 1 : 0);  // the first makes one level
        if (!allowed.empty()) remedies.push_back(fmt::format("{} from {}", key, fmt::join(allowed, ", ")));
    };
    offer("multigrid.bottom_box", widths);
    if (!boxes.empty()) offer("problem.box", boxes);
    const std::string remedy =
        remedies.empty() ? "" : fmt::format("; choose {}", fmt::join(remedies, ", or "));
    const int bottom_box = coarsest_box(p, use);
    rules.allow(std::ranges::find(widths, bottom_box) != widths.end(),
                {"multigrid.bottom_box", "problem.box"},
                fmt::format("not reached by halving problem.box = {}{}", p.problem.box, remedy));
    rules.allow(!cycles || bottom_box != p.problem.box, {"multigrid.bottom_box", "problem.box"},
                fmt::format("with problem.box = {} there is one level: run.mode = krylov solves on it{}",
                            p.problem.box, remedy));

    rules.allow(
        p.comm.ghost_depth <= bottom_box, {"comm.ghost_depth", "multigrid.bottom_box"},
        fmt::format("deeper than the coarsest boxes; choose at most {} = {}, or a wider one",
                    bottom_box == p.problem.box ? "problem.box" : "multigrid.bottom_box", bottom_box));
    rules.require(
        p.multigrid.pre + p.multigrid.post >= 1, {"multigrid.pre", "multigrid.post"},
        "multigrid.pre = 0 and multigrid.post = 0: nothing would be smoothed; give at least one sweep");
}

void check_fused(Rules& rules, const Parameters& p, const GridUse& use) {
    const int given = p.multigrid.fused_box;
    if (given == 0 || p.multigrid.reference_path) return;
    int narrowest = p.problem.box;
    while (narrowest / 2 >= std::max(given, coarsest_box(p, use) + 1)) narrowest /= 2;
    const int layers = fusible_half_sweeps(p.multigrid);
    const bool none = narrowest < given || narrowest <= coarsest_box(p, use);
    rules.allow(
        none || layers <= narrowest,
        {"multigrid.fused_box", "multigrid.fused_half_sweeps", "multigrid.bottom_box", "multigrid.pre",
         "multigrid.post"},
        fmt::format("{} half sweeps want as many ghost layers, and a level has boxes of {}; choose auto, at "
                    "least {}, fewer sweeps, or multigrid.fused_half_sweeps = {} at most",
                    layers, narrowest, layers, narrowest));
}

// Cycles that compute, or send ghosts, in single precision want a mode, a backend and a tolerance for them.
void check_precision(Rules& rules, const Parameters& p, const GridUse& use) {
    const bool mixed = p.multigrid.precision != CyclePrecision::doubled;
    const bool sends = p.comm.precision == Precision::fp32;
    if (!mixed && !sends) return;
    const std::string key = mixed ? "multigrid.precision" : "comm.precision";
    rules.allow(
        !mixed || !sends, {"comm.precision", "multigrid.precision"},
        fmt::format("cycles of multigrid.precision = \"{}\" send in single precision already; choose double",
                    name(p.multigrid.precision)));
    rules.allow(use.mixes, {key, "run.mode", "bottom.preconditioner"},
                fmt::format("run.mode = \"{}\" has {} in double precision alone; choose double, or run.mode "
                            "from solve, survey, krylov with bottom.preconditioner = \"v_cycle\"",
                            p.run.mode, mixed ? "cycles" : "ghosts"));
    std::vector<std::string> able;
    for (const BackendInfo& info : all_backends())
        if (info.features.single_precision) able.push_back(info.name);
    rules.allow(backend_info(p.run.backend).features.single_precision, {key, "run.backend"},
                fmt::format("the backend {} has no fields in single precision; choose run.backend from {}, "
                            "or double",
                            p.run.backend, fmt::join(able, ", ")));
    rules.allow(!mixed || p.multigrid.accelerator == Accelerator::none,
                {"multigrid.precision", "multigrid.accelerator"},
                "an accelerator wants a residual in double precision for each cycle, which would cost what "
                "cycles in single precision gain; choose multigrid.accelerator = \"none\", or double");
    rules.allow(!sends || !p.run.deterministic, {"comm.precision", "run.deterministic"},
                "messages round ghosts and copies on a rank do not, so that results depend on the ranks; "
                "choose double, or run.deterministic = false");
    // |f| is at most |L| max|u|, so what rounding may leave, eps |L| max|u| / max|f|, is at least this.
    constexpr double least = std::numeric_limits<double>::epsilon();
    rules.allow(p.multigrid.tolerance >= least, {key, "multigrid.tolerance"},
                fmt::format("multigrid.tolerance = {:g} is below {:.1e}, the rounding of the residual in "
                            "double precision that has to verify it; choose a larger one",
                            p.multigrid.tolerance, least));
}

void check_bottom_ranks(Rules& rules, const Parameters& p, const GridUse& use, int ranks) {
    rules.allow(bottom_grid(p, use) == BottomRanks::owners || coarsest_box(p, use) < p.problem.box,
                {"multigrid.bottom_grid", "multigrid.bottom_box", "problem.box"},
                "one level alone stays on the owners of its boxes; choose a narrower multigrid.bottom_box");
    rules.allow(bottom_grid(p, use) <= ranks, {"multigrid.bottom_grid"},
                fmt::format("there {} only {}; choose at most that, or a word", ranks == 1 ? "is" : "are",
                            counted(ranks, "rank")));
    const double moved = ranks * boxes_in_all(p, ranks);
    rules.allow(bottom_grid(p, use) != BottomRanks::all || p.problem.ranks == 0 || moved <= 1 << 24,
                {"multigrid.bottom_grid", "problem.ranks", "problem.boxes", "problem.boxes_per_rank"},
                fmt::format("{:.0f} boxes on each of {} virtual ranks are too many to plan for all ranks at "
                            "once; choose fewer ranks or boxes, so that ranks times boxes is at most {}",
                            boxes_in_all(p, ranks), ranks, 1 << 24));
}

// Boxes that are to be merged, and what cannot go on on fewer ranks.
void check_agglomeration(Rules& rules, const Parameters& p, const GridUse& use, int ranks) {
    if (agglomerate(p, use) == 0 || boxes_in_all(p, ranks) > std::numeric_limits<int>::max()) return;
    rules.allow(p.problem.shape == DomainShape::cube, {"multigrid.agglomerate", "problem.shape"},
                fmt::format("the boxes of problem.shape = \"{}\" do not tile larger ones; choose never, or "
                            "problem.shape = \"cube\"",
                            name(p.problem.shape)));
    rules.allow(!use.full_approximation, {"multigrid.agglomerate", "problem.equation"},
                "the levels of a full approximation scheme are where the finest one is; choose never");
}

// A coarse cell at an edge that two boxes make around a missing one has no value diagonally beyond.
void check_interpolation(Rules& rules, const Parameters& p, const GridUse& use) {
    const bool f_cycle = p.multigrid.cycle == Cycle::f;
    const auto [key, instead] =
        f_cycle ? std::array{"multigrid.cycle", "V"} : std::array{"multigrid.interpolation", "constant"};
    rules.allow(p.problem.shape == DomainShape::cube || !use.coarsens || !interpolates_linearly(p.multigrid),
                {key, "problem.shape"},
                fmt::format("interpolates linearly, which is not defined at the inner edges of problem.shape "
                            "= \"{}\"; choose {}, or problem.shape = \"cube\"",
                            name(p.problem.shape), instead));
}

void check_data(Rules& rules, const Parameters& p, int ranks) {
    if (p.problem.data == BoundaryData::zero) return;
    rules.allow(p.problem.rhs != Rhs::manufactured, {"problem.data", "problem.rhs"},
                "problem.rhs = \"manufactured\" has boundary values of its own; choose another problem.rhs, "
                "or leave problem.data out");
    rules.allow(
        p.problem.data != BoundaryData::file || p.problem.shape == DomainShape::cube ||
            p.problem.outside == Outside::neumann,
        {"problem.data", "problem.outside", "problem.shape"},
        "files have the sides of the box around the domain, and none the faces where boxes are missing; "
        "choose problem.outside = \"neumann\", or a formula");
    rules.allow(domain_of(p.problem, ranks).has_dirichlet(),
                {"problem.data", "problem.boundary", "problem.outside"},
                "no face is a Dirichlet one; give a side of problem.boundary, or problem.outside where boxes "
                "are missing, as \"dirichlet\", or leave it out");
}

}  // namespace

void check_grids(Rules& rules, const GridUse& use, int ranks) {
    const Parameters& p = rules.parameters();
    if (!check_boxes(rules, ranks, true)) return;
    check_bottom_ranks(rules, p, use, ranks);
    check_coarsening(rules, p, use);
    check_fused(rules, p, use);
    check_precision(rules, p, use);
    check_agglomeration(rules, p, use, ranks);
    check_interpolation(rules, p, use);
    check_data(rules, p, ranks);
    check_solvers(rules, use, ranks, boxes_in_all(p, ranks));
    if (!rules.hold() || !reads_files(p.problem)) return;
    for (const auto& [key, reason] : faults_of_files(p.problem, domain_of(p.problem, ranks)))
        rules.allow(false, {key, "problem.box", "problem.boxes"}, reason);
}

}  // namespace keel
