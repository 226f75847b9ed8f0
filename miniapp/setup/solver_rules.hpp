#pragma once

// Rules on the keys of Krylov methods.

#include <optional>
#include <string>

#include "miniapp/deck/rules.hpp"
#include "solvers/krylov/options.hpp"

namespace keel {

// What the methods solve for.
struct Unknowns {
    double count;
    std::string what;    // "cells of the bottom grid"
    std::string remedy;  // against too few
};

// Lowers the s of an s-step method that would have more basis vectors than unknowns, and says so: "bottom.s = 4: 17 basis
// vectors over the 8 cells of the bottom grid would be dependent; s = 1 is taken". Nothing where it fits, or where not even
// s = 1 does, which check_solvers() refuses.
std::optional<std::string> fit_to_unknowns(BottomOptions& bottom, const Unknowns& unknowns);

// Checks every solver of the deck.
void check_solvers(Rules& rules, const Parameters& parameters, const Unknowns& unknowns);

// Checks every solver of the deck, on so many boxes of a grid.
void check_solvers(Rules& rules, const Parameters& parameters, double boxes);

}  // namespace keel
