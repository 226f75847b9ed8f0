#pragma once

// What run.mode makes of a deck: which keys play a part, which grids and which solvers there are.

#include <string>
#include <vector>

#include "miniapp/deck/deck.hpp"
#include "miniapp/deck/parameters.hpp"
#include "solvers/krylov/methods.hpp"

namespace keel {

// Why a key plays no part in the mode, and what to do instead; empty if it does.
std::string why_idle(const std::string& key, const Parameters& parameters);

// The width of the boxes of the coarsest level: a Krylov method without a V-cycle needs the finest level only.
int coarsest_box(const Parameters& parameters);

// Where the coarsest level is solved on.
BottomPlace bottom_place(const Parameters& parameters);

// The Krylov methods of the run: that of [bottom], or those of a survey.
std::vector<BottomOptions> bottom_solvers(const Parameters& parameters);

// The most that their powers need of the coarsest level.
PowersNeed powers_need(const Parameters& parameters);

// Grid-sized arrays that every level keeps.
int fields_of_level(const Parameters& parameters);

// Those of the Krylov methods, on the finest level (mode krylov) and on the coarsest (all others).
int fields_on_finest(const Parameters& parameters);
int fields_on_coarsest(const Parameters& parameters);

// In mode survey: resolves run.survey into deck.parameters.contestants, and complains of entries that name no solver or no
// key of [bottom].
void name_contestants(const Table& table, Deck& deck);

}  // namespace keel
