#pragma once

// Rules on the keys of Krylov methods.

#include <string>

#include "miniapp/deck/rules.hpp"

namespace keel {

// What the methods solve for.
struct Unknowns {
    double count;
    std::string what;    // "cells of the bottom grid"
    std::string remedy;  // against too few
};

// Of every solver of the deck.
void check_solvers(Rules& rules, const Parameters& parameters, const Unknowns& unknowns);

// Of every solver of the deck, on so many boxes of a grid.
void check_solvers(Rules& rules, const Parameters& parameters, double boxes);

}  // namespace keel
