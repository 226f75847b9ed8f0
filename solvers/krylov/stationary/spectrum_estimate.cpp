#include "solvers/krylov/stationary/spectrum_estimate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "solvers/krylov/methods.hpp"

namespace keel {
namespace {

// How many eigenvalues are below x: the negative pivots of T - x.
int count_below(std::span<const double> diagonal, std::span<const double> beside, double x) {
    int count = 0;
    double pivot = 1;
    for (std::size_t k = 0; k < diagonal.size(); ++k) {
        const double coupling = k > 0 ? beside[k - 1] * beside[k - 1] / pivot : 0.0;
        pivot = diagonal[k] - x - coupling;
        if (pivot == 0.0) pivot = -std::numeric_limits<double>::min();
        if (pivot < 0) ++count;
    }
    return count;
}

// A method that adopts an estimate of the spectrum before its first run.
class WithEstimate : public KrylovMethod {
  public:
    WithEstimate(std::unique_ptr<KrylovMethod> method, SpectrumEstimate estimate)
        : method_(std::move(method)), estimate_(std::move(estimate)) {}

    Outcome iterate(const Run& run, Report& report) override {
        if (!asked_) {
            asked_ = true;
            estimated_ = estimate_.of(run.r);
            if (estimated_) method_->adopt(*estimated_);
        }
        report.spectrum = estimated_;
        return method_->iterate(run, report);
    }
    void adopt(const Spectrum& spectrum) override {
        method_->adopt(spectrum);
        asked_ = false;
    }

  private:
    std::unique_ptr<KrylovMethod> method_;
    SpectrumEstimate estimate_;
    bool asked_ = false;
    std::optional<Spectrum> estimated_;
};

}  // namespace

Spectrum chosen_spectrum(const BottomOptions& options, const Spectrum& bounds) {
    const bool given =
        options.spectrum == SpectrumFrom::given && method_named(options.solver).reads("spectrum");
    return given ? Spectrum{options.spectrum_lowest, options.spectrum_highest} : bounds;
}

bool estimates(const BottomOptions& options, bool preconditioned) {
    const Method& method = method_named(options.solver);
    const bool of_bases = preconditioned && method.degree.of(options) > 0 && options.basis != Basis::monomial;
    return of_bases || (options.spectrum == SpectrumFrom::estimate && method.reads("spectrum"));
}

std::unique_ptr<KrylovMethod> with_estimate(std::unique_ptr<KrylovMethod> method, LinearSystem& A,
                                            Preconditioner* M, const BottomOptions& options) {
    if (!estimates(options, M != nullptr)) return method;
    const bool right = M && method_named(options.solver).preconditioning == Preconditioning::right;
    return std::make_unique<WithEstimate>(std::move(method), SpectrumEstimate(A, M, right));
}

Spectrum extreme_eigenvalues(std::span<const double> diagonal, std::span<const double> beside) {
    double low = HUGE_VAL;  // Gershgorin's interval
    double high = -HUGE_VAL;
    for (std::size_t k = 0; k < diagonal.size(); ++k) {
        const double radius =
            (k > 0 ? std::abs(beside[k - 1]) : 0.0) + (k + 1 < diagonal.size() ? std::abs(beside[k]) : 0.0);
        low = std::min(low, diagonal[k] - radius);
        high = std::max(high, diagonal[k] + radius);
    }
    const auto bisected = [&, low, high](int below) {  // a point above so many eigenvalues
        double a = low, b = high;
        for (int step = 0; step < 100 && a < b; ++step) {
            const double middle = a + (b - a) / 2;
            (count_below(diagonal, beside, middle) > below ? b : a) = middle;
        }
        return a + (b - a) / 2;
    };
    return {bisected(0), bisected(static_cast<int>(diagonal.size()) - 1)};
}

std::optional<Spectrum> SpectrumEstimate::of(LinearSystem::Vector b) {
    std::vector<double> diagonal, beside;  // Lanczos' matrix, from CG's alpha and beta
    A_.copy(r_, b);
    if (M_) M_->apply(z_, r_);
    A_.copy(p_, z_);
    if (right_) A_.copy(q_, r_);
    double rz = A_.dot(r_, z_);
    const double first = rz;
    double alpha_old = 0, beta = 0;
    for (int k = 0; k < steps; ++k) {
        A_.apply(Ap_, q_);
        const double pAp = A_.dot(Ap_, p_);
        const double alpha = rz / pAp;
        if (!(pAp > 0) || !(alpha > 0) || !std::isfinite(alpha)) break;
        diagonal.push_back(1 / alpha + (k > 0 ? beta / alpha_old : 0.0));
        if (k > 0) beside.push_back(std::sqrt(beta) / alpha_old);
        if (k + 1 == steps) break;
        A_.axpby(r_, 1, r_, -alpha, Ap_);
        if (M_) M_->apply(z_, r_);
        const double next = A_.dot(r_, z_);
        if (!(next > 1e-24 * first)) break;  // nothing is left to learn from
        beta = next / rz;
        A_.axpby(p_, 1, z_, beta, p_);
        if (right_) A_.axpby(q_, 1, r_, beta, q_);
        rz = next;
        alpha_old = alpha;
    }
    if (diagonal.size() < 2) return {};
    const Spectrum found = extreme_eigenvalues(diagonal, beside);
    if (!(found.lowest > 0) || !(found.highest > 1.001 * found.lowest)) return {};
    return found;
}

}  // namespace keel
