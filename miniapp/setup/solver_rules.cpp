#include "miniapp/setup/solver_rules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <set>

#include "miniapp/setup/modes.hpp"

namespace keel {
namespace {

std::string too_few(const Independent& independent, const BottomOptions& bottom, const Unknowns& of) {
    const int value = bottom.*(independent.value);
    const double vectors = independent.vectors(bottom);
    return vectors == value ? fmt::format("bottom.{} = {}: more than the {:.0f} {}", independent.key, value,
                                          of.count, of.what)
                            : fmt::format("bottom.{} = {}: {:.0f} basis vectors over the {:.0f} {}",
                                          independent.key, value, vectors, of.count, of.what);
}

// More vectors than unknowns cannot be independent: they would be noise, and use memory.
void check_vectors(Rules& rules, const BottomOptions& bottom, const Unknowns& of) {
    const auto& independent = method_named(bottom.solver).independent;
    if (!independent) return;
    const double vectors = independent->vectors(bottom);
    const double most = independent->most(of.count);
    rules.require(vectors <= of.count,
                  {"bottom." + independent->key, "bottom.solver", "run.survey", "multigrid.bottom_box"},
                  fmt::format("{}{}; choose {}{}", too_few(*independent, bottom, of),
                              vectors == bottom.*(independent->value) ? "" : " are dependent",
                              most >= 1 ? fmt::format("at most {:.0f}, or ", most) : "", of.remedy));
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

// The parameters as each of a survey's solvers has them; in other modes only those of the deck.
std::vector<Parameters> each_solver(const Parameters& p) {
    if (p.run.mode != Mode::survey) return {p};
    std::vector<Parameters> all(p.contestants.size(), p);
    for (std::size_t n = 0; n < all.size(); ++n) all[n].bottom = p.contestants[n].bottom;
    return all;
}

}  // namespace

std::optional<std::string> fit_to_unknowns(BottomOptions& bottom, const Unknowns& unknowns) {
    const BottomOptions asked = bottom;
    if (!fit(bottom, unknowns.count)) return std::nullopt;
    const Independent& independent = *method_named(bottom.solver).independent;
    return fmt::format("{} would be dependent; {} = {} is taken", too_few(independent, asked, unknowns),
                       independent.key, bottom.*(independent.value));
}

void check_solvers(Rules& rules, const Parameters& p, const Unknowns& unknowns) {
    for (const Parameters& one : each_solver(p)) {
        check_vectors(rules, one.bottom, unknowns);
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
