// Red-black Gauss-Seidel, cells coloured by their global index. One sweep is a red and a black half sweep: 2
// exchanges.

#include "solvers/multigrid/level.hpp"
#include "solvers/multigrid/smoother.hpp"

namespace keel {
namespace {

void half_sweep(Level& level, Operations& operations, Colour colour) {
    level.ghosts->run(level.u,
                      [&](Part part) { operations.relax(level.u, level.L.on(part), level.f, colour); });
}

void relax(Level& level, Operations& operations, int sweeps, const MultigridOptions&) {
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        half_sweep(level, operations, Colour::red);
        half_sweep(level, operations, Colour::black);
    }
}

void reversed(Level& level, Operations& operations, int sweeps, const MultigridOptions&) {
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        half_sweep(level, operations, Colour::black);
        half_sweep(level, operations, Colour::red);
    }
}

}  // namespace

Smoother gsrb() {
    return {
        .name = "gsrb",
        .meaning = "red-black Gauss-Seidel",
        .exchanges = 2,
        .relax = relax,
        .reversed = reversed,
        // red, black, .. , red
        .closing = [](Level& level, Operations& operations) { half_sweep(level, operations, Colour::red); },
    };
}

}  // namespace keel
