#include "miniapp/setup/rules/solver_rules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>
#include <set>

#include "miniapp/setup/problem/shape.hpp"
#include "solvers/krylov/methods.hpp"

namespace keel {
namespace {

// More vectors than unknowns cannot be independent: they would be noise, and use memory. fit_solvers() lowers
// the numbers that may be lowered, since a deck or a survey serves grids of any size.
void check_vectors(Rules& rules, const NamedSolver& solver, const Unknowns& unknowns) {
    const auto& independent = method_named(solver.options.solver).independent;
    if (!independent) return;
    const std::string key = "bottom." + independent->key;
    BottomOptions options = solver.options;
    fit(options, unknowns.count);
    const double most = independent->most(unknowns.count);
    const double vectors = independent->vectors(solver.options);
    const int value = solver.options.*independent->value;
    const std::string remedy = most >= 1 ? fmt::format("choose at most {:.0f}, or {}", most, unknowns.remedy)
                                         : "choose " + unknowns.remedy;
    rules.require(independent->vectors(options) <= unknowns.count,
                  {key, "bottom.solver", "run.survey", "multigrid.bottom_box"},
                  value == vectors
                      ? fmt::format("{} = {}: more than the {:.0f} {}; {}", key, value, unknowns.count,
                                    unknowns.what, remedy)
                      : fmt::format("{} = {}: {:.0f} basis vectors over the {:.0f} {} are dependent; {}", key,
                                    value, vectors, unknowns.count, unknowns.what, remedy));
}

// With a preconditioner the norms are those of the method's row; without one |r|, and max|r| at the bottom.
void check_norm(Rules& rules, const BottomOptions& options, bool at_bottom, PreconditionerKind kind) {
    const Method& method = method_named(options.solver);
    if (!method.reads("norm") && kind == PreconditionerKind::none) return;
    const bool preconditioned = kind != PreconditionerKind::none && method.reads("preconditioner");
    const auto require = [&](bool holds, const std::string& otherwise) {
        rules.require(holds,
                      {"bottom.norm", "bottom.solver", "bottom.preconditioner", "run.mode", "run.survey"},
                      fmt::format("bottom.norm = \"{}\": {}", name(options.norm), otherwise));
    };
    if (options.norm == Norm::max)
        require(method.tests_max && at_bottom && !preconditioned,
                "tested by bicgstab and cg at the bottom of cycles, without a preconditioner; choose one of "
                "them, or residual");
    else if (preconditioned)
        require(method.tests(options.norm),
                fmt::format("not tested by {} with a preconditioner; give bottom.norm = \"{}\"", method.name,
                            name(method.norms.front())));
    else
        require(options.norm == Norm::residual,
                "the norm of a preconditioner, and there is none; give bottom.preconditioner, or choose "
                "residual");
}

// A pipelined s-step method multiplies its polynomials with each other.
void check_basis(Rules& rules, const NamedSolver& solver) {
    rules.require(
        !method_named(solver.options.solver).multiplies_basis || solver.options.basis != Basis::newton,
        {"bottom.basis", "bottom.solver", "run.survey"},
        fmt::format("bottom.basis = \"newton\": does not know its own products, which {} needs; choose "
                    "monomial or chebyshev",
                    solver.options.solver));
}

// Ghosts deeper than a box would come from beyond its neighbours.
void check_powers_fit(Rules& rules, const NamedSolver& solver, const GridUse& use) {
    const int depth = solver.options.powers_depth;
    const int width = coarsest_box(rules.parameters(), use);
    rules.require(
        depth <= width || !exchanges_for_several(solver.options.powers),
        {"bottom.powers_depth", "multigrid.bottom_box", "run.survey"},
        fmt::format(
            "bottom.powers_depth = {}: deeper than the boxes of the solver's level; choose at most their "
            "width, {}, or a wider {}",
            depth, width, use.krylov == KrylovLevel::finest ? "problem.box" : "multigrid.bottom_box"));
}

// Solvers that take turns share the ghosts of their level, and none should receive more than it does alone.
void check_shared_powers(Rules& rules, const GridUse& use) {
    std::set<int> layers;
    for (const NamedSolver& solver : use.solvers)
        layers.insert(powers_need(solver.options, coarsest_box(rules.parameters(), use)).layers);
    layers.erase(0);
    rules.require(
        layers.size() <= 1, {"run.survey", "bottom.powers_depth"},
        fmt::format("run.survey: solvers whose matrix powers want {} ghost layers; give all of them the "
                    "same powers_depth",
                    fmt::join(layers, ", ")));
}

}  // namespace

void check_preconditioner(Rules& rules, const NamedSolver& solver, bool of_matrix) {
    const BottomOptions& bottom = solver.options;
    const bool of_blocks = of_matrix && bottom.preconditioner == PreconditionerKind::block_ic0;
    rules.require(of_blocks || bottom.preconditioner == PreconditionerKind::none ||
                      bottom.preconditioner == PreconditionerKind::amg,
                  {"bottom.preconditioner", "run.mode", "run.survey"},
                  fmt::format("bottom.preconditioner = \"{}\": preconditions a whole problem; choose none or "
                              "amg{}, or run.mode = \"krylov\"",
                              name(bottom.preconditioner), of_matrix ? " or block_ic0" : ""));
    const Method& method = method_named(bottom.solver);
    if (!method.is_krylov() || !(of_blocks || uses_algebraic(bottom))) return;
    const auto require = [&](bool holds, std::vector<std::string> keys, const std::string& what) {
        keys.insert(keys.end(), {"bottom.preconditioner", "run.survey"});
        rules.require(holds, keys,
                      fmt::format("bottom.preconditioner = \"{}\": {}", name(bottom.preconditioner), what));
    };
    require(bottom.scaling == Scaling::none, {"bottom.scaling"},
            "takes the place of the scaling; give bottom.scaling = \"none\"");
    require(method.degree.of(bottom) == 0 || !exchanges_for_several(bottom.powers), {"bottom.powers"},
            "takes part in every power; give bottom.powers = \"paired\"");
    require(method.preconditioning != Preconditioning::symmetric ||
                bottom.gram_precision == GramPrecision::simple,
            {"bottom.gram_precision"},
            "Gram matrices of vectors and their partners are formed in double; give bottom.gram_precision = "
            "\"double\"");
    rules.require(of_blocks || method.flexible || rules.parameters().amg.coarsest != CoarsestRule::krylov,
                  {"amg.coarsest", "bottom.solver", "bottom.preconditioner", "run.survey"},
                  fmt::format("amg.coarsest = \"krylov\": the preconditioner is then another in every "
                              "iteration, which {} does not allow; choose cg, gmres, or amg.coarsest = "
                              "\"replicated\" or \"gathered\"",
                              bottom.solver));
}

// Coarsening begins with the rows of each rank; where one rank has all rows, the number of ranks plays no
// part.
std::string why_not_deterministic(const Parameters& p, const GridUse& use, const BottomOptions& solver) {
    const int place = bottom_grid(p, use);
    const bool on_one = place == BottomRanks::one || place == BottomRanks::all;
    if (!p.run.deterministic || on_one || !uses_algebraic(solver)) return "";
    return fmt::format(
        "run.deterministic = true: {} = \"amg\" coarsens by the rows of each rank, so its bits depend on the "
        "number of ranks; give multigrid.bottom_grid = \"gather\" or \"replicate\", another solver, or "
        "run.deterministic = false",
        method_named(solver.solver).repeats_cycles() ? "bottom.solver" : "bottom.preconditioner");
}

Unknowns unknowns_of(const Parameters& p, const GridUse& use, int ranks, double boxes) {
    if (use.krylov == KrylovLevel::finest)
        return {boxes * p.problem.box_cells(), "cells of the grid", "a wider problem.box"};
    double cells = boxes * std::pow(p.multigrid.bottom_box, p.problem.dimensions);
    if (agglomerate(p, use) > 0 && boxes <= std::numeric_limits<int>::max()) {
        const auto dimensions = static_cast<std::size_t>(p.problem.dimensions);
        cells = level_shapes(resolved_boxes(p.problem, ranks), dimensions, p.problem.box, ranks,
                             {p.multigrid.bottom_box, agglomerate(p, use)})
                    .back()
                    .cells(dimensions);
    }
    return {cells, "cells of the bottom grid", "a wider multigrid.bottom_box"};
}

void check_solvers(Rules& rules, const std::vector<NamedSolver>& solvers, const Unknowns& unknowns,
                   bool at_bottom, PreconditionerKind of_all) {
    for (const NamedSolver& solver : solvers) check_vectors(rules, solver, unknowns);
    for (const NamedSolver& solver : solvers) check_basis(rules, solver);
    for (const auto& [name, options] : solvers)
        check_norm(rules, options, at_bottom,
                   of_all == PreconditionerKind::none ? options.preconditioner : of_all);
}

void check_solvers(Rules& rules, const GridUse& use, int ranks, double boxes) {
    check_solvers(rules, use.solvers, unknowns_of(rules.parameters(), use, ranks, boxes),
                  use.krylov == KrylovLevel::coarsest, use.preconditioner);
    for (const NamedSolver& solver : use.solvers) check_powers_fit(rules, solver, use);
    for (const NamedSolver& solver : use.solvers) {
        check_preconditioner(rules, solver);
        const std::string reason = why_not_deterministic(rules.parameters(), use, solver.options);
        rules.require(reason.empty(),
                      {"run.deterministic", "bottom.solver", "bottom.preconditioner", "run.survey",
                       "multigrid.bottom_grid"},
                      reason);
    }
    check_shared_powers(rules, use);
}

std::vector<std::string> fit_solvers(std::vector<NamedSolver>& solvers, const Unknowns& unknowns) {
    std::vector<std::string> remarks;
    for (NamedSolver& solver : solvers) {
        const BottomOptions asked = solver.options;
        if (!fit(solver.options, unknowns.count)) continue;
        const auto& independent = *method_named(asked.solver).independent;
        remarks.push_back(fmt::format(
            "{}: bottom.{} = {}: {:.0f} basis vectors over the {:.0f} {} would be dependent; {} is taken",
            solver.name, independent.key, asked.*independent.value, independent.vectors(asked),
            unknowns.count, unknowns.what, solver.options.*independent.value));
    }
    return remarks;
}

}  // namespace keel
