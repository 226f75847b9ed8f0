#include "miniapp/setup/solver_rules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <set>

#include "miniapp/setup/modes.hpp"

namespace keel {
namespace {

// More vectors than unknowns cannot be independent: they would be noise, and use memory.
void check_vectors(Rules& rules, const Parameters& p, const Unknowns& of) {
    const auto require = [&](int vectors, const std::string& key) {
        rules.require(vectors <= of.count, {key, "bottom.solver", "run.survey", "multigrid.bottom_box"},
                      fmt::format("{} = {}: more than the {:.0f} {}; choose at most {:.0f}, or {}", key,
                                  vectors, of.count, of.what, of.count, of.remedy));
    };
    const std::string& solver = p.bottom.solver;
    if (solver == "deep_pipelined_cg") require(p.bottom.depth, "bottom.depth");
    if (solver == "enlarged_cg" || solver == "sre_cg") require(p.bottom.block, "bottom.block");
}

void check_powers(Rules& rules, const Parameters& p) {
    const int depth = p.bottom.powers_depth;
    rules.require(
        depth == 0 || p.bottom.powers == Powers::matrix_powers, {"bottom.powers_depth", "bottom.powers"},
        fmt::format("bottom.powers_depth = {}: only bottom.powers = \"matrix_powers\" has a depth; choose "
                    "that, or leave the key out",
                    depth));
}

// Ghosts deeper than a box would come from beyond its neighbours.
void check_powers_fit(Rules& rules, const Parameters& p) {
    const int depth = p.bottom.powers_depth;
    const int width = coarsest_box(p);
    rules.require(
        depth <= width, {"bottom.powers_depth", "multigrid.bottom_box", "run.survey"},
        fmt::format(
            "bottom.powers_depth = {}: deeper than the boxes of the solver's level; choose at most their "
            "width, {}, or a wider {}",
            depth, width, p.run.mode == Mode::krylov ? "problem.box" : "multigrid.bottom_box"));
}

// The solvers of a survey share the ghosts of the bottom level, and none should receive more than it does alone.
void check_survey_powers(Rules& rules, const Parameters& p) {
    std::set<int> layers;
    for (const BottomOptions& bottom : bottom_solvers(p))
        layers.insert(powers_need(bottom, coarsest_box(p)).layers);
    layers.erase(0);
    rules.require(
        layers.size() <= 1, {"run.survey", "bottom.powers_depth"},
        fmt::format(
            "run.survey: solvers with powers = matrix_powers and {} ghost layers; give all of them the "
            "same powers_depth",
            fmt::join(layers, ", ")));
}

// More basis vectors than there are unknowns are dependent.
void check_s_step(Rules& rules, const Parameters& p, const Unknowns& of) {
    if (p.bottom.solver != "ca_bicgstab" && p.bottom.solver != "ca_cg") return;
    const double per_s = p.bottom.solver == "ca_bicgstab" ? 4 : 2;
    const double most = std::floor((of.count - 1) / per_s);
    const std::string remedy =
        most >= 1 ? fmt::format("choose at most {:.0f}, or {}", most, of.remedy) : "choose " + of.remedy;
    rules.require(p.bottom.s <= most, {"bottom.s", "bottom.solver", "run.survey", "multigrid.bottom_box"},
                  fmt::format("bottom.s = {}: {:.0f} basis vectors over the {:.0f} {} are dependent; {}",
                              p.bottom.s, per_s * p.bottom.s + 1, of.count, of.what, remedy));
}

// The parameters as each of a survey's solvers has them; in other modes only those of the deck.
std::vector<Parameters> each_solver(const Parameters& p) {
    if (p.run.mode != Mode::survey) return {p};
    std::vector<Parameters> all(p.contestants.size(), p);
    for (std::size_t n = 0; n < all.size(); ++n) all[n].bottom = p.contestants[n].bottom;
    return all;
}

}  // namespace

void check_solvers(Rules& rules, const Parameters& p, const Unknowns& unknowns) {
    for (const Parameters& one : each_solver(p)) {
        check_vectors(rules, one, unknowns);
        check_s_step(rules, one, unknowns);
        check_powers(rules, one);
    }
}

void check_solvers(Rules& rules, const Parameters& p, double boxes) {
    if (p.run.mode == Mode::krylov)
        check_solvers(rules, p,
                      {boxes * std::pow(p.problem.box, 3), "cells of the grid", "a wider problem.box"});
    else
        check_solvers(rules, p,
                      {boxes * std::pow(p.multigrid.bottom_box, 3), "cells of the bottom grid",
                       "a wider multigrid.bottom_box"});
    for (const Parameters& one : each_solver(p)) check_powers_fit(rules, one);
    check_survey_powers(rules, p);
}

}  // namespace keel
