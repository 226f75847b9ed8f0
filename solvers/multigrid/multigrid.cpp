#include "solvers/multigrid/multigrid.hpp"

#include <limits>
#include <tuple>
#include <utility>

#include "kernels/check.hpp"
#include "solvers/krylov/methods.hpp"
#include "solvers/multigrid/bottom/level_krylov.hpp"
#include "solvers/multigrid/stages.hpp"

namespace keel {
namespace {

// The options of a bottom solver on the bottom grid: cycles are unscaled and tested by |r|.
BottomOptions as_made(BottomOptions options) {
    if (!method_named(options.solver).repeats_cycles()) return options;
    options.scaling = Scaling::none;
    options.norm = Norm::residual;
    return options;
}

}  // namespace

Multigrid::Multigrid(Hierarchy& hierarchy, const MultigridOptions& options, const BottomOptions& bottom)
    : levels_(hierarchy),
      options_(options),
      bottom_sweeps_(bottom.sweeps),
      bottom_is_symmetric_(options.symmetric),
      accelerators_(static_cast<std::size_t>(hierarchy.levels())),
      corrections_(static_cast<std::size_t>(hierarchy.levels())) {
    if (options_.accelerator != Accelerator::none) options_.symmetric = true;
    const bool relaxed = !method_named(bottom.solver).is_krylov() && !uses_algebraic(bottom);
    if (relaxed || !hierarchy.has(hierarchy.levels() - 1)) return;
    Level& level = hierarchy.bottom();
    if (uses_algebraic(bottom))
        algebraic_ = std::make_unique<AlgebraicCycle>(level, hierarchy.singular(), options.amg);
    bottom_ = make_krylov(level, hierarchy.singular(), as_made(bottom), algebraic_.get());
}

void Multigrid::update() {
    if (algebraic_) algebraic_->update();
    if (bottom_) bottom_->update();
}

// Null if cycles are the iteration.
FlexibleCG* Multigrid::accelerator(int l) {
    if (options_.accelerator == Accelerator::none) return nullptr;
    auto& kept = accelerators_[static_cast<std::size_t>(l)];
    if (!kept) kept = std::make_unique<FlexibleCG>(levels_.level(l));
    return kept.get();
}

// f of level l, which has been restricted to it, is brought to where the level is, with the ghosts that
// smoothing wants.
void Multigrid::take_over(int l) {
    if (LevelRedistribution* const moved = levels_.redistribution(l)) moved->gather_rhs();
    if (levels_.has(l)) share_right_hand_side(levels_.cycled(l));
}

// u of level l += u of the level below, from where that is, of all cells or those of one colour.
void Multigrid::interpolate(int l, Interpolation interpolation, std::optional<Colour> colour) {
    if (LevelRedistribution* const moved = levels_.redistribution(l + 1)) moved->scatter_correction();
    interpolate_add(levels_.cycled(l), levels_.below(l), interpolation, colour);
}

// u of level l holds the initial guess or, where that is zero, anything, f the right-hand side, with the
// ghosts that smoothing wants. Ranks without the level wait for the others. `norm`, if wanted, is max|f - L
// u| of this rank at the end; not on the coarsest level.
void Multigrid::v_cycle(int l, Guess guess, double* norm) {
    if (!levels_.has(l)) {
        visits_.push_back({{.outcome = Outcome::on_other_ranks}});
        return;
    }
    if (l == levels_.levels() - 1) return visit_bottom();
    Level& fine = levels_.cycled(l);
    smooth_and_restrict(fine, fine.operations, options_.pre, options_, guess, levels_.below(l).f);
    take_over(l + 1);
    v_cycle(l + 1, Guess::zero);
    // As far as smoothing reads it.
    interpolate(l, options_.interpolation, read_by_smoothing(options_.post, options_, options_.symmetric));
    if (options_.symmetric)
        smooth_reversed(fine, fine.operations, options_.post, options_, Guess::with_ghosts);
    else if (norm != nullptr)
        *norm = smooth_and_measure(fine, fine.operations, options_.post, options_, Guess::with_ghosts);
    else
        smooth(fine, fine.operations, options_.post, options_, Guess::with_ghosts);
}

// In double precision also for cycles in single precision: there it costs next to nothing, and Krylov methods
// whose recurrences lose digits lose them from sixteen. The correction is used whatever the verdict on it is:
// so the cycle goes on before a solve in one launch has reported.
void Multigrid::visit_bottom() {
    conclude_visit();
    levels_.begin_visit();
    Level& bottom = levels_.bottom();
    Level& cycled = levels_.cycled(levels_.levels() - 1);
    if (levels_.mixed()) bottom.operations.convert(bottom.f, cycled.f, 1.0, Update::replace);
    visits_.push_back(begin_bottom());
    visiting_ = true;
    if (levels_.mixed())
        cycled.operations.convert(cycled.u, bottom.u, 1 / levels_.single_scale(), Update::replace);
}

void Multigrid::conclude_visit() {
    if (std::exchange(visiting_, false)) visits_.back() = finished(std::move(visits_.back()));
}

Report Multigrid::solve_bottom() {
    return finished(begin_bottom());
}

// The report is finished() by the solver, if there is one.
Report Multigrid::begin_bottom() {
    Level& bottom = levels_.bottom();
    if (levels_.singular()) remove_mean(bottom.bottom_operations, *bottom.reduction, bottom.f);
    if (bottom_) {
        bottom_->begin(bottom.u, bottom.f);
        return {};
    }
    bottom.bottom_operations.fill(bottom.u, 0.0);
    return relax(bottom);
}

Report Multigrid::finished(Report begun) {
    return bottom_ ? bottom_->finish() : std::move(begun);
}

Report Multigrid::relax(Level& bottom) {
    if (bottom_is_symmetric_)
        smooth_symmetric(bottom, bottom.bottom_operations, bottom_sweeps_, options_);
    else
        smooth(bottom, bottom.bottom_operations, bottom_sweeps_, options_);
    return {{.outcome = Outcome::not_tested, .iterations = bottom_sweeps_}};
}

// Whether a solve by cycles alone has a residual in double precision once for several of them.
bool Multigrid::goes_by_stages() const {
    if (levels_.mixed()) return true;
    return levels_.cycles_send() == Precision::fp32 && options_.accelerator == Accelerator::none;
}

// The first of the cycles may be a full one.
void Multigrid::cycles(int l, Guess guess, int count, Cycle first) {
    for (int n = 0; n < count; ++n)
        if (n == 0 && first == Cycle::f)
            full_multigrid(l);
        else
            v_cycle(l, n == 0 ? guess : Guess::with_ghosts);
}

// u = e, or u += e, of cycles in single precision for L e = r.
void Multigrid::correct(int finest, Field u, Update update, Field r, const CorrectionScales& scales,
                        int count, Cycle first) {
    Level& level = levels_.level(finest);
    Level& single = levels_.cycled(finest);
    single.operations.convert(single.f, r, scales.residual, Update::replace);
    share_right_hand_side(single);
    cycles(finest, Guess::zero, count, first);
    level.operations.convert(u, single.u, scales.correction, update);
}

// u += e of cycles in double precision for L e = r. Their ghosts are rounded in messages, hence e and not u:
// its residual would stay at |L| |u| times the rounding of single precision.
void Multigrid::correct_in_double(int finest, Field r, const CorrectionScales& scales, int count,
                                  Cycle first) {
    Level& level = levels_.level(finest);
    auto& kept = corrections_[static_cast<std::size_t>(finest)];
    if (!kept) kept = {level.plain->make_field(), level.plain->make_field()};
    level.operations.scale(kept->r, scales.residual, r);
    cycles_for(finest, kept->e, kept->r, Guess::zero, count, first);
    level.operations.axpby(level.u, 1, level.u, scales.correction, kept->e);
}

// From the bottom up: each level starts from the interpolated solution of the coarser one and takes one
// V-cycle. The interpolation is linear: piecewise constants lose the order that full multigrid needs.
void Multigrid::full_multigrid(int finest) {
    const int last = levels_.levels() - 1;
    for (int l = finest; l < last && levels_.has(l); ++l) {
        Level& fine = levels_.cycled(l);
        fine.operations.restrict_to(levels_.below(l).f, fine.f);
        take_over(l + 1);
        fine.operations.fill(fine.u, 0.0);
    }
    v_cycle(last, Guess::zero);
    for (int l = last - 1; l >= finest; --l) {
        if (levels_.has(l)) interpolate(l, Interpolation::linear);
        v_cycle(l, Guess::with_ghosts);
    }
}

std::vector<Report> Multigrid::full_cycle(int finest) {
    check(!levels_.mixed(),
          "a solve knows when cycles in single precision have to be followed by a residual");
    Level& level = levels_.level(finest);
    visits_.clear();
    share_right_hand_side(level);
    full_multigrid(finest);
    if (levels_.singular()) remove_mean(level.operations, *level.reduction, level.u);
    conclude_visit();
    return visits_;
}

void Multigrid::cycle(Field u, Field f, Guess guess) {
    visits_.clear();
    const bool rounds = levels_.mixed() || levels_.cycles_send() == Precision::fp32;
    check(guess == Guess::zero || !rounds, "cycles of corrections begin with zero");
    if (levels_.mixed()) {
        correct(0, u, Update::replace, f, {.correction = levels_.single_scale()}, 1, Cycle::v);
    } else {
        cycles_for(0, u, f, guess);
    }
    conclude_visit();
}

int Multigrid::bottom_iterations() const {
    int iterations = 0;
    for (const Report& visit : visits_) iterations += visit.iterations;
    return iterations;
}

// With other fields than the level's, of corrections: their ghosts may be sent in single precision.
void Multigrid::cycles_for(int l, Field u, Field f, Guess guess, int count, Cycle first) {
    check(!levels_.mixed(),
          "a solve knows when cycles in single precision have to be followed by a residual");
    Level& level = levels_.level(l);
    const auto own = std::pair(std::exchange(level.u, u), std::exchange(level.f, f));
    levels_.send_in(levels_.cycles_send());
    share_right_hand_side(level);
    cycles(l, guess, count, first);
    levels_.send_in(Precision::fp64);
    std::tie(level.u, level.f) = own;
}

double Multigrid::residual_norm(int l) {
    Level& level = levels_.level(l);
    level.ghosts->run(level.u);
    double norm = 0;
    level.operations.residual_norm(level.L, level.u, level.f, norm);
    return level.reduction->max(norm);
}

// The same, with the residual left in the level's r.
double Multigrid::stored_residual_norm(Level& level) {
    form_residual(level, level.r);
    return max_norm(level, level.r);
}

double Multigrid::rounding_floor(Level& level, double norm_f) {
    const double norm_u = max_norm(level, level.u);
    return std::numeric_limits<double>::epsilon() * level.gershgorin_bound * (norm_u / norm_f);
}

}  // namespace keel
