// The rules about boxes: how many there are, and where.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "miniapp/deck/text/text.hpp"
#include "miniapp/setup/machine/dry_run_cost.hpp"
#include "miniapp/setup/problem/shape.hpp"
#include "miniapp/setup/rules/grid_rules.hpp"

namespace keel {
namespace {

// Exact up to 2^53, and beyond that still far above any limit it is compared with.
double exact_product(const Index& n) {
    return 1.0 * n[0] * n[1] * n[2];
}

// Refuses values along z where there is no third direction; returns whether the boxes are one layer.
bool check_dimensions(Rules& rules) {
    const ProblemOptions& problem = rules.parameters().problem;
    if (problem.dimensions == 3) {
        constexpr int widest = 1024;
        rules.allow(problem.box <= widest, {"problem.box", "problem.dimensions"},
                    fmt::format("boxes of problem.dimensions = 3 are at most {} cells wide; choose that or "
                                "less, or problem.dimensions = 2",
                                widest));
        return true;
    }
    const auto plane = [&](bool holds, const char* key, const std::string& remedy) {
        rules.allow(
            holds, {key, "problem.dimensions"},
            "problem.dimensions = 2 has no third direction; " + remedy + ", or problem.dimensions = 3");
        return holds;
    };
    Index layer = problem.boxes;
    layer[2] = 1;
    bool flat = plane(problem.boxes == Index{} || problem.boxes[2] == 1, "problem.boxes",
                      "boxes are one layer: give 1 as the third number, such as " + triple_text(layer));
    const auto& positions = problem.boxes_list.positions;
    const auto above = std::ranges::find_if(positions, [](const Index& at) { return at[2] != 0; });
    if (above != positions.end())
        flat = plane(
            false, "problem.shape",
            "boxes are one layer: give 0 as the third number of each position, not " + triple_text(*above));
    plane(problem.anisotropy[2] == 1, "problem.anisotropy", "give 1 as the third number");
    plane(problem.drift[2] == 0, "problem.drift", "give 0 as the third number");
    const auto& [x, y, z] = problem.boundary;
    plane(z == Boundary::periodic || (x == y && y == z), "problem.boundary",
          "give \"periodic\" as the third word, or one word for all");
    return flat;
}

// Whether a dry run may lay out these boxes, and choose among them.
bool check_cost(Rules& rules, double around) {
    const ProblemOptions& problem = rules.parameters().problem;
    const double levels =
        1 + std::max(0.0, std::log2(1.0 * problem.box / rules.parameters().multigrid.bottom_box));
    DryRunCost cost = cost_of_boxes(problem.shape == DomainShape::list ? 0 : around, levels);
    if (problem.shape == DomainShape::tags) cost += cost_of_tags(around);
    const std::string exceeded =
        DryRunLimit{rules.parameters().run.dry_run_limit}.exceeded_by(cost, "fewer problem.boxes");
    rules.require(exceeded.empty(), {"problem.boxes", "problem.boxes_per_rank", "problem.ranks"},
                  fmt::format("{:.0f} boxes: {}", around, exceeded));
    return exceeded.empty();
}

}  // namespace

std::string triple_text(const Index& triple) {
    return fmt::format("[{}]", fmt::join(triple, ","));
}

double boxes_in_all(const Parameters& p, int ranks) {
    if (p.problem.shape != DomainShape::cube) return domain_of(p.problem, ranks).count();
    const bool automatic = p.problem.boxes == Index{};
    return automatic ? 1.0 * ranks * p.problem.boxes_per_rank : exact_product(p.problem.boxes);
}

bool check_boxes(Rules& rules, int ranks, bool one_for_each_rank) {
    if (!check_dimensions(rules)) return false;
    const Parameters& p = rules.parameters();
    const auto dimensions = static_cast<std::size_t>(p.problem.dimensions);
    const double most = std::numeric_limits<int>::max();
    const bool all = p.problem.shape == DomainShape::cube;
    const Index given = p.problem.boxes;
    const bool automatic = given == Index{};
    const bool mixed = !automatic && std::ranges::count(given, 0) > 0;
    rules.allow(!mixed, {"problem.boxes"},
                "zero in one direction only; give three positive counts, or [0,0,0] for as cubic as "
                "possible");
    if (mixed) return all;

    const double around = all ? boxes_in_all(p, ranks) : exact_product(resolved_boxes(p.problem, ranks));
    rules.require(
        around <= most, {"problem.boxes", "problem.boxes_per_rank", "problem.shape"},
        fmt::format("{:.0f} boxes in all: at most {:.0f} can be numbered; give fewer", around, most));
    if (around > most) return all;
    if (rules.of_dry_run() && !check_cost(rules, around)) return false;
    const auto [culprits, reason] = why_no_domain(p.problem, ranks);
    rules.require(culprits.empty(), culprits, reason);
    if (!culprits.empty()) return false;
    const double total = boxes_in_all(p, ranks);

    const Index boxes = resolved_boxes(p.problem, ranks);
    const auto longest = static_cast<std::size_t>(std::ranges::max_element(boxes) - boxes.begin());
    rules.require(
        1.0 * boxes[longest] * p.problem.box <= most,
        {"problem.boxes", "problem.boxes_per_rank", "problem.box"},
        fmt::format("{} boxes of {} cells in direction {}: at most {:.0f} cells can be numbered; give fewer",
                    boxes[longest], p.problem.box, "xyz"[longest], most));
    if (automatic && p.problem.shape != DomainShape::list) return true;

    rules.require(
        ranks <= total || !one_for_each_rank, {"problem.boxes", "problem.shape"},
        fmt::format("problem.boxes = {}: {:.0f} boxes{} for {} ranks leave ranks without a box; use at "
                    "most {:.0f} ranks, or more boxes{}",
                    triple_text(boxes), total, all ? "" : " of this shape", ranks, total,
                    all ? ", such as " + triple_text(most_cubic(ranks, dimensions)) : ""));
    const double wanted = 1.0 * ranks * p.problem.boxes_per_rank;
    rules.allow(
        !rules.is_set("problem.boxes_per_rank") || wanted == total || ranks > total,
        {"problem.boxes_per_rank", "problem.boxes"},
        fmt::format("{:.0f} boxes on {}, but problem.boxes = {} makes {:.0f}; give only one of the two keys",
                    wanted, counted(ranks, "rank"), triple_text(boxes), total));
    return true;
}

std::vector<std::string> warnings_of_domain(const GridSetup& grids, bool shape_given) {
    std::vector<std::string> warnings;
    const Index n = grids.domain.around();
    const std::size_t dimensions = grids.domain.dimensions();
    const auto [least, most] = std::ranges::minmax(std::span(n).first(dimensions));
    if (!shape_given && grids.domain.whole() && most >= 4 * least && most > 4)
        warnings.push_back(
            fmt::format("{} make a domain of {}x{}x{}: give another shape by problem.boxes, or start a "
                        "number of ranks with small "
                        "factors",
                        counted(static_cast<long>(product(n)), "box"), n[0], n[1], n[2]));
    const auto [weakest, strongest] =
        std::ranges::minmax(std::span(grids.problem.anisotropy).first(dimensions));
    if (grids.use.krylov == KrylovLevel::coarsest && grids.levels() > 1 && strongest > 4 * weakest)
        warnings.push_back(fmt::format(
            "problem.anisotropy = [{}], as of cells stretched {:.3g} to 1: smoothing points while "
            "halving all directions takes many cycles; classical algebraic multigrid of all "
            "cells takes few: run.mode = spmv, problem.matrix = grid, run.solve = true, bottom.solver = amg, "
            "amg.coarsening = pmis, amg.theta = 0.25; multigrid.accelerator = cg takes fewer",
            fmt::join(grids.problem.anisotropy, ","), std::sqrt(strongest / weakest)));
    const long boxes = grids.domain.count();
    if (const long over = boxes % grids.ranks; over != 0 && boxes > grids.ranks)
        warnings.push_back(fmt::format(
            "{} boxes on {} ranks: {} have {}, the others {}, and {:.0f}% of all ranks' time is waiting at "
            "the least",
            boxes, grids.ranks, counted(over, "rank"), boxes / grids.ranks + 1, boxes / grids.ranks,
            100 * (1 - static_cast<double>(boxes) / static_cast<double>(grids.ranks) /
                           static_cast<double>(boxes / grids.ranks + 1))));
    return warnings;
}

}  // namespace keel
