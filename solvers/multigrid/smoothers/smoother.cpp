#include "solvers/multigrid/smoothers/smoother.hpp"

#include <algorithm>
#include <stdexcept>

#include "solvers/multigrid/level.hpp"

namespace keel {

// The rows, each at the end of its smoother's file.
Smoother gsrb(), jacobi(), chebyshev();

const std::vector<Smoother>& smoothers() {
    static const std::vector<Smoother> all{gsrb(), jacobi(), chebyshev()};
    return all;
}

std::string default_smoother() {
    return smoothers().front().name;
}

std::vector<std::string> smoother_names() {
    std::vector<std::string> names;
    for (const Smoother& smoother : smoothers()) names.push_back(smoother.name);
    return names;
}

const Smoother& smoother_named(std::string_view name) {
    for (const Smoother& smoother : smoothers())
        if (smoother.name == name) return smoother;
    throw std::invalid_argument("unknown smoother " + std::string(name));
}

namespace {

// The operator, of the cells whose residual is more than rounding after `sweeps` sweeps.
Stencil where_unsolved(const Level& level, int sweeps, const MultigridOptions& options) {
    const Smoother& smoother = smoother_named(options.smoother);
    return smoother.unsolved ? level.L.of(smoother.unsolved(sweeps, options)) : level.L;
}

// The ghosts that its residual reads.
std::optional<Colour> colour_read(const Stencil& L) {
    return L.colour ? std::optional(other(*L.colour)) : std::nullopt;
}

bool keeps_ghosts(const Level& level, const MultigridOptions& options) {
    return level.keeps_ghosts && smoother_named(options.smoother).fusible > 0;
}

// Does action(Part) that reads ghosts of u behind `sweeps` sweeps: behind an exchange, unless they kept them.
template <class Action>
void behind_sweeps(Level& level, int sweeps, const MultigridOptions& options, std::optional<Colour> read,
                   const Action& action) {
    if (sweeps == 0 || !keeps_ghosts(level, options)) return level.ghosts->run(level.u, read, action);
    level.ghosts->count_copied(1);
    action(Part::all);
}

}  // namespace

void smooth(Level& level, Operations& operations, int sweeps, const MultigridOptions& options, Guess guess) {
    const bool makes_zeros = level.fused > 0 || keeps_ghosts(level, options);
    if (guess == Guess::zero && (sweeps == 0 || !makes_zeros)) operations.fill(level.u, 0.0);
    smoother_named(options.smoother).relax(level, operations, sweeps, options, guess);
}

void smooth_and_restrict(Level& level, Operations& operations, int sweeps, const MultigridOptions& options,
                         Guess guess, Field restricted) {
    if (level.ends_in_pass() && sweeps > 0)
        return smoother_named(options.smoother)
            .relax_to_end(level, operations, sweeps, options, guess, {.restricted = restricted});
    smooth(level, operations, sweeps, options, guess);
    const Stencil L = where_unsolved(level, sweeps, options);
    behind_sweeps(level, sweeps, options, colour_read(L),
                  [&](Part part) { operations.restrict_residual(restricted, L.on(part), level.u, level.f); });
}

double smooth_and_measure(Level& level, Operations& operations, int sweeps, const MultigridOptions& options,
                          Guess guess) {
    double norm = 0;
    if (level.ends_in_pass() && sweeps > 0) {
        smoother_named(options.smoother)
            .relax_to_end(level, operations, sweeps, options, guess, {.norm = &norm});
        return norm;
    }
    smooth(level, operations, sweeps, options, guess);
    const Stencil L = where_unsolved(level, sweeps, options);
    behind_sweeps(level, sweeps, options, colour_read(L), [&](Part part) {
        if (part != Part::interior) operations.residual_norm(L, level.u, level.f, norm);
    });
    return norm;
}

void smooth_reversed(Level& level, Operations& operations, int sweeps, const MultigridOptions& options,
                     Guess guess) {
    const Smoother& smoother = smoother_named(options.smoother);
    (smoother.reversed ? smoother.reversed : smoother.relax)(level, operations, sweeps, options, guess);
}

void smooth_symmetric(Level& level, Operations& operations, int sweeps, const MultigridOptions& options) {
    const Smoother& smoother = smoother_named(options.smoother);
    smoother.relax(level, operations, sweeps, options, Guess::any);
    if (smoother.closing) smoother.closing(level, operations, options);
}

std::optional<Colour> read_by_smoothing(int sweeps, const MultigridOptions& options, bool reversed) {
    const Smoother& smoother = smoother_named(options.smoother);
    const auto read = reversed && smoother.reversed ? smoother.unsolved : smoother.read;
    return read ? read(sweeps, options) : std::nullopt;
}

int fusible_half_sweeps(const MultigridOptions& options) {
    const int of_leg = smoother_named(options.smoother).fusible * std::max(options.pre, options.post);
    return options.fused_half_sweeps > 0 ? std::min(options.fused_half_sweeps, of_leg) : of_leg;
}

}  // namespace keel
