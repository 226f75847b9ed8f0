#include "solvers/krylov/stationary/spectrum_estimate.hpp"

#include <Eigen/Eigenvalues>
#include <cmath>

#include "solvers/krylov/methods.hpp"

namespace keel {
Spectrum chosen_spectrum(const BottomOptions& options, const Spectrum& bounds) {
    const bool given =
        options.spectrum == SpectrumFrom::given && method_named(options.solver).reads("spectrum");
    return given ? Spectrum{options.spectrum_lowest, options.spectrum_highest} : bounds;
}

bool uses_spectrum(const BottomOptions& options) {
    return method_named(options.solver).degree.of(options) == 0 || options.basis != Basis::monomial;
}

bool estimates(const BottomOptions& options, bool preconditioned) {
    const Method& method = method_named(options.solver);
    if (!uses_spectrum(options)) return false;
    const bool of_bases = preconditioned && method.degree.of(options) > 0;
    if (!method.reads("spectrum")) return of_bases;
    return options.spectrum == SpectrumFrom::estimate ||
           (of_bases && options.spectrum == SpectrumFrom::automatic);
}

Spectrum extreme_eigenvalues(const std::vector<double>& diagonal, const std::vector<double>& beside) {
    const auto vector = [](const std::vector<double>& values) {
        return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
    };
    Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver;
    solver.computeFromTridiagonal(vector(diagonal), vector(beside), Eigen::EigenvaluesOnly);
    return {solver.eigenvalues().minCoeff(), solver.eigenvalues().maxCoeff()};
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
