#pragma once

#include <string>
#include <vector>

#include "miniapp/deck/deck.hpp"

namespace keel {

// A Krylov method, or relaxation, with its keys of [bottom].
struct NamedSolver {
    std::string name;  // as reports have it
    BottomOptions options;
};

// The one that [bottom] gives.
inline std::vector<NamedSolver> solver_of_deck(const Deck& deck) {
    return {{deck.parameters.bottom.solver, deck.parameters.bottom}};
}

}  // namespace keel
