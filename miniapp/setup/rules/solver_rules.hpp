#pragma once

// Rules on the keys of Krylov methods.

#include <string>
#include <vector>

#include "miniapp/deck/rules.hpp"
#include "miniapp/setup/grid_setup.hpp"

namespace keel {

// The unknowns that the methods solve for.
struct Unknowns {
    double count;
    std::string what;    // "cells of the bottom grid"
    std::string remedy;  // against too few
};
// The cells of the level that the solvers work on, of a grid of `boxes` boxes on `ranks` ranks.
Unknowns unknowns_of(const Parameters& parameters, const GridUse& use, int ranks, double boxes);

// No solver has more vectors than can be independent, or tests a norm that it cannot test with its
// preconditioner: its own, or one for all solvers.
void check_solvers(Rules& rules, const std::vector<NamedSolver>& solvers, const Unknowns& unknowns,
                   bool at_bottom = false, PreconditionerKind of_all = PreconditionerKind::none);

// The same of the solvers of the deck; and the needs of matrix powers.
void check_solvers(Rules& rules, const GridUse& use, int ranks, double boxes);

// The rules on methods with a preconditioner: a cycle of algebraic multigrid, or blocks of a matrix.
void check_preconditioner(Rules& rules, const NamedSolver& solver, bool of_matrix = false);

// Why run.deterministic does not hold with the solver, with the remedy; empty where it does.
std::string why_not_deterministic(const Parameters& parameters, const GridUse& use,
                                  const BottomOptions& solver);

// Lowers what may be lowered without another solution until the vectors can be independent, and says so.
std::vector<std::string> fit_solvers(std::vector<NamedSolver>& solvers, const Unknowns& unknowns);

}  // namespace keel
