// Red-black Gauss-Seidel, cells coloured by their global index. One sweep is a red and a black half sweep: 2
// exchanges, unless the half sweeps of a leg are fused, with the residual behind them.

#include <algorithm>

#include "solvers/multigrid/level.hpp"
#include "solvers/multigrid/smoothers/smoother.hpp"

namespace keel {
namespace {

void half_sweep(Level& level, Operations& operations, Colour colour, double relaxation) {
    level.ghosts->run(level.u, other(colour), [&](Part part) {
        operations.relax(level.u, level.L.on(part), level.f, colour, relaxation);
    });
}

std::vector<Colour> in_turn(int sweeps, Colour first, Colour second) {
    std::vector<Colour> colours;
    for (int sweep = 0; sweep < sweeps; ++sweep) colours.insert(colours.end(), {first, second});
    return colours;
}

// Does action(Part) that is the pass, or the part of it, which reads deep ghosts of u; zeros have none.
template <class Action>
void with_deep_ghosts(Level& level, const HalfSweeps& pass, const Action& action) {
    if (pass.guess == Guess::zero) return action(Part::all);
    level.deep_ghosts->run(level.u, pass.read(), action);
}

void relax_in_pass(Level& level, Operations& operations, const HalfSweeps& pass) {
    with_deep_ghosts(level, pass,
                     [&](Part part) { operations.relax(level.u, level.L.on(part), level.f, pass); });
}

// The half sweeps of a leg, in passes of the number that the level fuses, but for the last pass, which it
// returns.
HalfSweeps up_to_last_pass(Level& level, Operations& operations, HalfSweeps leg) {
    const auto most = static_cast<std::size_t>(level.fused);
    while (leg.colours.size() > most) {
        relax_in_pass(level, operations, {leg.colours.first(most), leg.relaxation, leg.guess});
        leg = {leg.colours.subspan(most), leg.relaxation, Guess::any};
    }
    return leg;
}

// The same half sweeps, their exchanges as copies in them.
void relax_and_keep_ghosts(Level& level, Operations& operations, HalfSweeps sweeps) {
    sweeps.ghosts = Ghosts::kept;
    operations.relax(level.u, level.L, level.f, sweeps);
    level.ghosts->count_copied(sweeps.count());
}

// Half sweeps of two colours in turn: with an exchange before each or, on a level that fuses them, before
// each pass.
void alternate(Level& level, Operations& operations, const std::vector<Colour>& colours, double relaxation,
               Guess guess) {
    if (level.keeps_ghosts && !colours.empty()) {
        relax_and_keep_ghosts(level, operations, {colours, relaxation, guess});
    } else if (level.fused == 0) {
        for (const Colour colour : colours) half_sweep(level, operations, colour, relaxation);
    } else if (!colours.empty()) {
        relax_in_pass(level, operations, up_to_last_pass(level, operations, {colours, relaxation, guess}));
    }
}

void relax(Level& level, Operations& operations, int sweeps, const MultigridOptions& options, Guess guess) {
    alternate(level, operations, in_turn(sweeps, Colour::red, Colour::black), options.relaxation, guess);
}

void reversed(Level& level, Operations& operations, int sweeps, const MultigridOptions& options,
              Guess guess) {
    alternate(level, operations, in_turn(sweeps, Colour::black, Colour::red), options.relaxation, guess);
}

void relax_to_end(Level& level, Operations& operations, int sweeps, const MultigridOptions& options,
                  Guess guess, const PassEnd& end) {
    const std::vector<Colour> colours = in_turn(sweeps, Colour::red, Colour::black);
    const HalfSweeps last = up_to_last_pass(level, operations, {colours, options.relaxation, guess});
    with_deep_ghosts(level, last, [&](Part part) {
        double of_part = 0;
        operations.smooth(level.u, level.L.on(part), level.f, last,
                          {end.restricted, end.norm != nullptr ? &of_part : nullptr});
        if (end.norm != nullptr) *end.norm = std::max(*end.norm, of_part);
    });
}

}  // namespace

Smoother gsrb() {
    return {
        .name = "gsrb",
        .meaning = "red-black Gauss-Seidel",
        .keys = {"fused_box", "fused_half_sweeps", "relaxation", "ghost_colours"},
        .relax = relax,
        .reversed = reversed,
        .fusible = 2,
        .relax_to_end = relax_to_end,
        .read =
            [](int sweeps, const MultigridOptions& options) {
                return HalfSweeps{in_turn(sweeps, Colour::red, Colour::black), options.relaxation}.read();
            },
        .unsolved =
            [](int sweeps, const MultigridOptions& options) {
                return HalfSweeps{in_turn(sweeps, Colour::red, Colour::black), options.relaxation}.unsolved();
            },
        // red, black, .. , red
        .closing =
            [](Level& level, Operations& operations, const MultigridOptions& options) {
                half_sweep(level, operations, Colour::red, options.relaxation);
            },
    };
}

}  // namespace keel
