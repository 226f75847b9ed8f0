#include "solvers/anderson/anderson.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/check.hpp"

namespace keel {
namespace {

constexpr double beyond_hope = 1e30;

AndersonOptions inner_of(const AndersonOptions& options) {
    const std::string& methods = options.orthogonalisation;
    return {.depth = options.inner,
            .orthogonalisation = methods.substr(methods.find('/') + 1),
            .max_condition = 0,
            .max_iterations = options.inner + 1};
}

// Whether the least-squares combination is taken: not in the first iteration, nor in alternate Picard
// iterations.
bool accelerates(const AndersonOptions& options, long iteration) {
    return iteration > 0 && (options.inner != AndersonOptions::picard || iteration % 2 == 0);
}

}  // namespace

const Orthogonaliser& AndersonOptions::outer() const {
    return orthogonaliser_named(orthogonalisation.substr(0, orthogonalisation.find('/')));
}

Anderson::Anderson(LinearSystem& system, const AndersonOptions& options) : A_(system), options_(options) {
    check_at_least(options.depth, 0, "the depth of the acceleration");
    check(options.damping > 0 && options.damping <= 1, "damping is in (0, 1]");
    check_at_least(options.inner, AndersonOptions::picard,
                   "the depth of an inner acceleration, none or picard");
    for (Vector* vector : {&g_, &g_old_, &f_, &f_old_}) *vector = A_.make_vector();
    if (options.depth == 0) return;
    const auto most = static_cast<std::size_t>(options.depth);
    qr_ = options.outer().make(A_, most);
    for (std::size_t n = 0; n < most; ++n) dg_.push_back(A_.make_vector());
    factors_.reserve(2 * most + 2);
    terms_.reserve(2 * most + 2);
    if (options.inner <= 0) return;
    inner_ = std::make_unique<Anderson>(A_, inner_of(options));
    y_ = A_.make_vector();
}

QRCost Anderson::predicted(const AndersonOptions& options, int iterations) {
    QRCost cost;
    if (options.depth == 0) return cost;
    const Orthogonaliser& row = options.outer();
    for (long i = 1; i < iterations; ++i) {
        const long k = std::min<long>(i - 1, options.depth);
        cost += row.append(k, options.depth);
        if (accelerates(options, i)) cost += row.project(std::min<long>(k + 1, options.depth));
    }
    return cost;
}

AndersonReport Anderson::solve(Vector x, FixedPoint& G) {
    const Counts before = A_.counts();
    AndersonReport report;
    iterate(x, G, true, report);
    if (G.has_residual()) {  // the quantity tested
        report.true_residual = report.history.back();
    } else {
        G.evaluate(g_, x);
        A_.axpby(f_, 1, g_, -1, x);
        report.true_residual = A_.max_norm(f_);
        if (report.converged() && !(report.true_residual <= slack * options_.tolerance))
            report.outcome = AndersonOutcome::not_verified;
    }
    report.counts = A_.counts() - before;
    return report;
}

// In the order of Lockhart's algorithms: evaluate, append a difference, combine, test.
void Anderson::iterate(Vector x, FixedPoint& G, bool tests, AndersonReport& report) {
    if (qr_) qr_->clear();
    const bool by_map = tests && G.has_residual();
    const bool by_f = tests && !by_map && options_.test != AndersonTest::step;
    const bool by_step = tests && !by_map && !by_f;
    for (int i = 0;; ++i) {
        if (by_map && ends(G.residual(x), report)) return;
        if (i == options_.max_iterations) return;
        G.evaluate(g_, x);
        A_.axpby(f_, 1, g_, -1, x);
        ++report.evaluations;
        report.iterations = i + 1;
        const bool appends = i > 0 && qr_ != nullptr;
        if (appends) remember(report);
        if (by_f && ends(norm_of_f(appends), report)) return;
        const Vector step = make_step(appends && accelerates(options_, i), report);
        if (inner_ && i > 0) {
            A_.axpby(y_, 1, x, 1, step);
            AndersonReport of_inner;
            inner_->iterate(y_, G, false, of_inner);
            report.evaluations += of_inner.evaluations;
            A_.axpby(step, 1, y_, -1, x);
        }
        const bool end = by_step && ends(A_.max_norm(step), report);
        if (end && !report.converged()) return;
        A_.axpby(x, 1, x, 1, step);
        if (end) return;
        std::swap(g_, g_old_);
        std::swap(f_, f_old_);
    }
}

bool Anderson::ends(double norm, AndersonReport& report) const {
    report.history.push_back(norm);
    if (!std::isfinite(norm))
        report.outcome = AndersonOutcome::not_finite;
    else if (norm > beyond_hope)
        report.outcome = AndersonOutcome::diverged;
    else if (norm <= options_.tolerance)
        report.outcome = AndersonOutcome::converged;
    else
        return false;
    return true;
}

double Anderson::norm_of_f(bool appended) {
    if (options_.test == AndersonTest::residual) return A_.max_norm(f_);
    const std::optional<double> formed = appended ? qr_->square_of_f() : std::nullopt;
    return std::sqrt(formed ? *formed : A_.dot(f_, f_));
}

// The newest differences; f_old_ is overwritten, g_old_ free thereafter.
void Anderson::remember(AndersonReport& report) {
    const Counts before = A_.counts();
    const auto drop_first = [&](std::size_t columns) {
        std::rotate(dg_.begin(), dg_.begin() + 1, dg_.begin() + static_cast<std::ptrdiff_t>(columns));
    };
    const std::size_t k = qr_->columns();
    const bool full = k == qr_->most();
    if (full) drop_first(k);
    A_.axpby(dg_[full ? k - 1 : k], 1, g_, -1, g_old_);
    A_.axpby(f_old_, 1, f_, -1, f_old_);
    if (!qr_->append(f_old_, f_)) ++report.dependent;
    while (options_.max_condition > 0 && qr_->columns() > 1 && qr_->condition() > options_.max_condition) {
        drop_first(qr_->columns());
        qr_->drop_oldest();
        ++report.dropped;
    }
    book(before, report);
}

// The increment of x, in g_old_: damping takes from f what the kept differences leave of it.
Anderson::Vector Anderson::make_step(bool accelerated, AndersonReport& report) {
    const double b = options_.damping;
    factors_.assign(1, b);
    terms_.assign(1, f_);
    if (accelerated && qr_->columns() > 0) {
        const Counts before = A_.counts();
        const auto gamma = qr_->least_squares(f_);
        book(before, report);
        for (std::size_t j = 0; j < gamma.size(); ++j) {
            factors_.push_back(-gamma[j]);
            terms_.push_back(dg_[j]);
        }
        for (std::size_t j = 0; b != 1 && j < gamma.size(); ++j) {
            factors_.push_back((1 - b) * qr_->coordinates()[j]);
            terms_.push_back(qr_->basis()[j]);
        }
    }
    A_.combine(g_old_, factors_, terms_);
    return g_old_;
}

void Anderson::book(const Counts& before, AndersonReport& report) const {
    const Counts spent = A_.counts() - before;
    report.orthogonalisation += {spent.reductions, spent.words, 0};
}

}  // namespace keel
