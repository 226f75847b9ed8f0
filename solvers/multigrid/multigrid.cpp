#include "solvers/multigrid/multigrid.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <tuple>
#include <utility>

namespace keel {
namespace {

// Cycles have stopped gaining where so many left a residual no smaller than this part of what as many before them
// had reached. The least of several, since near the floor residuals go up and down, and the first cycles may raise
// them. What is cut off would have needed 31 cycles a digit below the floor of rounding, 109 elsewhere.
struct Patience {
    std::size_t cycles;
    double part;
};
constexpr Patience near_floor{3, 0.8};
constexpr Patience elsewhere{5, 0.9};

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

Multigrid::Multigrid(Hierarchy& hierarchy, const MultigridOptions& options, const BottomOptions& bottom)
    : levels_(hierarchy),
      options_(options),
      bottom_(make_bottom(hierarchy, bottom, options)),
      accelerators_(static_cast<std::size_t>(hierarchy.levels())) {
    if (options_.accelerator != Accelerator::none) options_.symmetric = true;
}

// None where cycles are the iteration, and on the coarsest level, which its own solver solves on.
FlexibleCG* Multigrid::accelerator(int l) {
    if (options_.accelerator == Accelerator::none || l == levels_.levels() - 1) return nullptr;
    auto& kept = accelerators_[static_cast<std::size_t>(l)];
    if (!kept) kept = std::make_unique<FlexibleCG>(levels_.level(l));
    return kept.get();
}

// u of level l holds the initial guess (zero on every level but the finest), f the right-hand side, with the ghosts that
// smoothing wants.
void Multigrid::v_cycle(int l, Guess guess) {
    Level& fine = levels_.level(l);
    if (l == levels_.levels() - 1) {
        visits_.push_back(bottom_->solve(fine.u, fine.f));
        return;
    }
    Level& coarse = levels_.level(l + 1);
    smooth(fine, fine.operations, options_.pre, options_, guess);
    fine.ghosts->run(fine.u, [&](Part part) {
        fine.operations.restrict_residual(coarse.f, fine.L.on(part), fine.u, fine.f);
    });
    share_right_hand_side(coarse);
    coarse.operations.fill(coarse.u, 0.0);
    v_cycle(l + 1, Guess::zero);
    interpolate_add(fine, coarse, options_.interpolation);
    if (options_.symmetric)
        smooth_reversed(fine, fine.operations, options_.post, options_);
    else
        smooth(fine, fine.operations, options_.post, options_);
}

// From the bottom up: each level starts from the interpolated solution of the coarser one and takes one
// V-cycle. The interpolation is linear: piecewise constants lose the order that full multigrid needs.
void Multigrid::full_multigrid(int finest) {
    const int last = levels_.levels() - 1;
    for (int l = finest; l < last; ++l) {
        levels_.level(l).operations.restrict_to(levels_.level(l + 1).f, levels_.level(l).f);
        share_right_hand_side(levels_.level(l + 1));
        levels_.level(l).operations.fill(levels_.level(l).u, 0.0);
    }
    v_cycle(last, Guess::zero);
    for (int l = last - 1; l >= finest; --l) {
        interpolate_add(levels_.level(l), levels_.level(l + 1), Interpolation::linear);
        v_cycle(l, Guess::any);
    }
}

std::vector<BottomSolver::Visit> Multigrid::full_cycle(int finest) {
    Level& level = levels_.level(finest);
    visits_.clear();
    share_right_hand_side(level);
    full_multigrid(finest);
    if (levels_.singular()) remove_mean(level.operations, *level.reduction, level.u);
    return visits_;
}

void Multigrid::cycle(Field u, Field f) {
    visits_.clear();
    v_cycle_for(0, u, f);
}

void Multigrid::improve(Field u, Field f) {
    visits_.clear();
    v_cycle_for(0, u, f, Guess::any);
}

// With other fields than the level's.
void Multigrid::v_cycle_for(int l, Field u, Field f, Guess guess) {
    Level& level = levels_.level(l);
    const auto own = std::pair(std::exchange(level.u, u), std::exchange(level.f, f));
    if (guess == Guess::zero) level.operations.fill(u, 0.0);
    share_right_hand_side(level);
    v_cycle(l, guess);
    std::tie(level.u, level.f) = own;
}

double Multigrid::residual_norm(int l) {
    Level& level = levels_.level(l);
    level.ghosts->run(level.u);
    double norm = 0;
    level.operations.residual_norm(level.L, level.u, level.f, norm);
    return level.reduction->max(norm);
}

double Multigrid::rounding_floor(Level& level, double norm_f) {
    double norm_u = 0;
    level.operations.max_norm(level.u, norm_u);
    norm_u = level.reduction->max(norm_u);
    return std::numeric_limits<double>::epsilon() * level.gershgorin_bound * (norm_u / norm_f);
}

SolveReport Multigrid::solve(int finest, Guess guess) {
    Level& level = levels_.level(finest);
    const bool only_bottom = finest == levels_.levels() - 1;
    double norm_f = 0;
    level.operations.max_norm(level.f, norm_f);
    norm_f = level.reduction->max(norm_f);
    if (guess == Guess::zero) level.operations.fill(level.u, 0.0);
    FlexibleCG* const accelerator = this->accelerator(finest);
    if (accelerator) accelerator->begin();
    share_right_hand_side(level);

    SolveReport report;
    const auto residual_now = [&] {
        return (accelerator ? accelerator->residual_norm() : residual_norm(finest)) / norm_f;
    };
    report.residuals.push_back(guess == Guess::zero ? 1.0 : residual_now());
    visits_.clear();
    std::optional<Outcome> end;
    bool definite = true;
    if (norm_f == 0.0) {
        if (guess == Guess::any) level.operations.fill(level.u, 0.0);  // which is the solution
        report.residuals.front() = 1.0;
        end = Outcome::converged;
    } else if (report.residuals.front() <= options_.tolerance) {
        end = Outcome::converged;
    }
    while (!end && report.cycles < options_.max_cycles) {
        if (only_bottom)
            visits_.push_back(bottom_->improve());
        else if (options_.cycle == Cycle::f && report.cycles == 0)
            full_multigrid(finest);
        else if (accelerator)
            definite = accelerator->step([&](Field z, Field r) { v_cycle_for(finest, z, r); });
        else
            v_cycle(finest, report.cycles == 0 ? guess : Guess::any);
        ++report.cycles;
        if (levels_.singular()) remove_mean(level.operations, *level.reduction, level.u);
        report.residuals.push_back(residual_now());
        if (told_) told_();
        const double residual = report.residuals.back();
        if (residual <= options_.tolerance) {
            end = Outcome::converged;
        } else if (!std::isfinite(residual) || !definite) {
            end = Outcome::breakdown;
        } else if (gain_nothing(report.residuals, near_floor)) {
            const double floor = rounding_floor(level, norm_f);
            if (residual > floor && !gain_nothing(report.residuals, elsewhere)) continue;
            report.floor = floor;
            end = Outcome::stagnated;
        }
    }
    report.outcome = end.value_or(Outcome::iteration_limit);
    report.visits = visits_;
    return report;
}

}  // namespace keel
