// The loops of a solve around the cycles of multigrid.cpp, and when they end.

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "kernels/check.hpp"
#include "solvers/multigrid/multigrid.hpp"
#include "solvers/multigrid/stages.hpp"

namespace keel {
namespace {

// Stagnation: the least residual of the last n cycles is at least `part` times that of the n before. The
// least, since near the floor residuals go up and down, and the first cycles may raise them. What is cut off
// would have needed 31 cycles a digit below the floor of rounding, 109 elsewhere.
struct Patience {
    std::size_t cycles;
    double part;
};
constexpr Patience near_floor{3, 0.8};
constexpr Patience elsewhere{5, 0.9};
// The same for stages, which are several cycles as long as there is far to go.
constexpr Patience stages_near_floor{1, 0.8};
constexpr Patience stages_elsewhere{2, 0.9};

bool gain_nothing(std::span<const double> residuals, const Patience& patience) {
    if (residuals.size() < 1 + 2 * patience.cycles) return false;  // entry 0 is before the first cycle
    const auto last = residuals.last(patience.cycles);
    const auto before = residuals.last(2 * patience.cycles).first(patience.cycles);
    return *std::ranges::min_element(last) >= patience.part * *std::ranges::min_element(before);
}

}  // namespace

int SolveReport::missed_bottoms() const {
    int missed = 0;
    for (const auto& visit : visits) missed += visit.unscaled_met ? 0 : 1;
    return missed;
}

int SolveReport::bottom_iterations() const {
    int iterations = 0;
    for (const auto& visit : visits) iterations += visit.iterations;
    return iterations;
}

SolveReport Multigrid::solve(int finest, Guess guess) {
    check_at_least(levels_.levels() - 1, finest + 1, "a cycle has a coarser level below its finest");
    Level& level = levels_.level(finest);
    Solve solve{level, finest, guess, max_norm(level, level.f)};
    if (guess == Guess::zero) level.operations.fill(level.u, 0.0);
    if (!goes_by_stages()) share_right_hand_side(level);
    visits_.clear();
    if (goes_by_stages())
        iterate_by_stages(solve);
    else if (FlexibleCG* const cg = accelerator(finest))
        iterate_accelerated(solve, *cg);
    else
        iterate_cycles(solve);
    solve.report.outcome = solve.end.value_or(Outcome::iteration_limit);
    conclude_visit();
    solve.report.visits = visits_;
    return std::move(solve.report);
}

// Cycles that compute, or send, in single precision, several for each residual in double precision.
void Multigrid::iterate_by_stages(Solve& solve) {
    const ResidualNorm norm = [&] { return stored_residual_norm(solve.level); };
    begin(solve, norm);
    // Seen with smooth coefficients; with others, the next stage knows.
    const bool linear = options_.cycle == Cycle::f || options_.interpolation == Interpolation::linear;
    const StageRule rule{.tolerance = options_.tolerance,
                         .presumed_factor = linear ? 0.03 : 0.1,
                         .cells = std::ranges::max(solve.level.layout.cells()),
                         .rounds_faces = levels_.cycled(0).rounds_faces};
    while (goes_on(solve)) {
        const SolveReport& report = solve.report;
        const bool first = report.cycles == 0;
        const int cycles = std::min(cycles_of_next_stage(report.residuals, report.measured_after, rule),
                                    options_.max_cycles - report.cycles);
        const Field r = first && solve.guess == Guess::zero ? solve.level.f : solve.level.r;
        const double largest = report.residuals.back() * solve.norm_f;
        const Cycle cycle = first ? options_.cycle : Cycle::v;
        if (levels_.mixed())
            correct(solve.finest, solve.level.u, Update::add, r,
                    correction_scales(largest, levels_.single_scale()), cycles, cycle);
        else
            correct_in_double(solve.finest, r, correction_scales(largest, 1), cycles, cycle);
        conclude_cycles(solve, cycles, norm);
    }
}

void Multigrid::iterate_accelerated(Solve& solve, FlexibleCG& cg) {
    const ResidualNorm norm = [&] { return cg.residual_norm(); };
    cg.begin();
    begin(solve, norm);
    while (goes_on(solve)) {
        bool definite = true;
        if (solve.report.cycles == 0 && options_.cycle == Cycle::f)
            full_multigrid(solve.finest);
        else
            definite = cg.step([&](Field z, Field r) { cycles_for(solve.finest, z, r); });
        conclude_cycles(solve, 1, norm, definite);
    }
}

void Multigrid::iterate_cycles(Solve& solve) {
    const ResidualNorm norm = [&] { return residual_norm(solve.finest); };
    begin(solve, norm);
    // A cycle may end with this rank's norm, and the next one begin with its ghosts, unless the mean is
    // removed between them.
    const bool measures = !levels_.singular() && !options_.symmetric;
    double norm_here = 0;
    const ResidualNorm reduced = [&] { return solve.level.reduction->max(norm_here); };
    const Guess next = levels_.singular() ? Guess::any : Guess::with_ghosts;
    while (goes_on(solve)) {
        const bool first = solve.report.cycles == 0;
        if (first && options_.cycle == Cycle::f) {
            full_multigrid(solve.finest);
            conclude_cycles(solve, 1, norm);
            continue;
        }
        v_cycle(solve.finest, first ? solve.guess : next, measures ? &norm_here : nullptr);
        conclude_cycles(solve, 1, measures ? reduced : norm);
    }
}

void Multigrid::begin(Solve& solve, const ResidualNorm& norm) {
    SolveReport& report = solve.report;
    report.residuals.push_back(solve.guess == Guess::zero ? 1.0 : norm() / solve.norm_f);
    report.measured_after.push_back(0);
    if (solve.norm_f == 0.0) {
        if (solve.guess == Guess::any) solve.level.operations.fill(solve.level.u, 0.0);  // the solution
        report.residuals.front() = 1.0;
        solve.end = Outcome::converged;
    } else if (report.residuals.front() <= options_.tolerance) {
        solve.end = Outcome::converged;
    }
}

bool Multigrid::goes_on(const Solve& solve) const {
    return !solve.end && solve.report.cycles < options_.max_cycles;
}

// Records the residual after `cycles` more cycles, and whether the solve ends with it. `definite`: whether
// the operator and the cycles, as an accelerator sees them, still are.
void Multigrid::conclude_cycles(Solve& solve, int cycles, const ResidualNorm& norm, bool definite) {
    Level& level = solve.level;
    SolveReport& report = solve.report;
    report.cycles += cycles;
    if (levels_.singular()) remove_mean(level.operations, *level.reduction, level.u);
    const double residual = norm() / solve.norm_f;
    report.residuals.push_back(residual);
    report.measured_after.push_back(report.cycles);
    const bool staged = goes_by_stages();
    if (residual <= options_.tolerance) {
        solve.end = Outcome::converged;
    } else if (!std::isfinite(residual) || !definite) {
        solve.end = Outcome::breakdown;
    } else if (gain_nothing(report.residuals, staged ? stages_near_floor : near_floor)) {
        const double floor = rounding_floor(level, solve.norm_f);
        if (residual > floor && !gain_nothing(report.residuals, staged ? stages_elsewhere : elsewhere))
            return;
        report.floor = floor;
        solve.end = Outcome::stagnated;
    }
}

}  // namespace keel
