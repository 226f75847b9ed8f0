#pragma once

// The one clock of the program. CMake chooses it: the clock of the host, or under KEEL_SIMULATED that of
// SimGrid, on which messages take time by themselves, and computing only by an explicit call.

#include <string>

namespace keel {

// Seconds on the clock of this process.
double now();

// Whether they are simulated ones: then the clock stands still while the program computes.
bool simulated();
std::string simulated_platform();  // its name; empty where time is real

// Lets so much simulated time pass on this rank; real time passes by itself.
void let_pass(double seconds);

}  // namespace keel
