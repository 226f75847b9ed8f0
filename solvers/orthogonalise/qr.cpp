#include "solvers/orthogonalise/qr.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/check.hpp"

namespace keel {

QR::QR(LinearSystem& system, std::size_t most)
    : A_(system), R_(most), c_(most), gamma_(most), sums_(4 * most + 4) {
    check_at_least(most, std::size_t{1}, "a factorisation has room for a column");
    for (std::size_t n = 0; n <= most; ++n) Q_.push_back(A_.make_vector());
    wanted_.reserve(most * most + 4 * most + 4);
    sums_.resize(most * most + 4 * most + 4);
    factors_.reserve(most + 1);
    terms_.reserve(most + 1);
}

void solve_unit_lower(const SmallMatrix& W, std::span<double> y) {
    for (std::size_t i = 0; i < y.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) y[i] -= W(i, j) * y[j];
}

void QR::clear() {
    k_ = 0;
    R_.clear();
}

QR::Vector QR::begin(Vector x) {
    check(k_ < most(), "there is room for a column");
    A_.copy(Q_[k_], x);
    return Q_[k_];
}

void QR::subtract(Vector v, std::span<const double> y) {
    if (y.empty()) return;
    factors_.assign(1, 1.0);
    terms_.assign(1, v);
    for (std::size_t j = 0; j < y.size(); ++j) {
        factors_.push_back(-y[j]);
        terms_.push_back(Q_[j]);
    }
    A_.combine(v, factors_, terms_);
}

void QR::set_column(std::span<const double> y) {
    for (std::size_t j = 0; j < y.size(); ++j) R_(j, k_) = y[j];
}

bool QR::normalise(Vector v, double vv) {
    const double norm = std::sqrt(vv);
    if (!(norm > 0) || !std::isfinite(1 / norm)) return false;
    R_(k_, k_) = norm;
    A_.combine(v, {1 / norm}, {v});
    ++k_;
    return true;
}

// R without its first column is upper Hessenberg: each rotation takes out one entry below the diagonal.
void QR::rotate_out_oldest() {
    check(k_ > 0, "there is a column to drop");
    for (std::size_t i = 0; i + 1 < k_; ++i) {
        const double a = R_(i, i + 1);
        const double b = R_(i + 1, i + 1);
        const double t = std::hypot(a, b);
        const double c = t > 0 ? a / t : 1.0;
        const double s = t > 0 ? b / t : 0.0;
        for (std::size_t j = i + 1; j < k_; ++j) rotate(R_(i, j), R_(i + 1, j), c, s);
        R_(i + 1, i + 1) = 0;
        const Vector spare = Q_.back();
        A_.axpby(spare, c, Q_[i], s, Q_[i + 1]);
        A_.axpby(Q_[i + 1], c, Q_[i + 1], -s, Q_[i]);
        std::swap(Q_[i], Q_.back());
        rotated(i, c, s);
    }
    --k_;
    for (std::size_t j = 0; j < k_; ++j)
        for (std::size_t i = 0; i <= j; ++i) R_(i, j) = R_(i, j + 1);
    for (std::size_t i = 0; i <= k_; ++i) R_(i, k_) = 0;
}

std::span<double> QR::reduce() {
    const auto sums = std::span(sums_).first(wanted_.size());
    A_.dots(wanted_, sums);
    wanted_.clear();
    return sums;
}

void QR::project(Vector f) {
    if (k_ == 0) return;
    want_columns(k_, f);
    std::ranges::copy(reduce(), c_.begin());
}

std::span<const double> QR::least_squares(Vector f) {
    project(f);
    for (std::size_t i = k_; i-- > 0;) {
        gamma_[i] = c_[i];
        for (std::size_t j = i + 1; j < k_; ++j) gamma_[i] -= R_(i, j) * gamma_[j];
        gamma_[i] /= R_(i, i);
    }
    return std::span(gamma_).first(k_);
}

void GramQR::drop_oldest() {
    rotate_out_oldest();
    if (!keeps_ || columns() < 2) return;
    for (std::size_t i = 1; i < columns(); ++i) want_columns(i, q(i));
    const auto sums = reduce();
    std::size_t n = 0;
    for (std::size_t i = 1; i < columns(); ++i)
        for (std::size_t j = 0; j < i; ++j) W(i, j) = W(j, i) = sums[n++];
}

void GramQR::rotate_out_with_sums() {
    for (std::size_t i = 0; keeps_ && i < columns(); ++i) W(i, i) = 1;
    with_sums_ = true;
    rotate_out_oldest();
    with_sums_ = false;
}

void GramQR::rotated(std::size_t i, double c, double s) {
    if (!with_sums_) return;
    rotate(h[i], h[i + 1], c, s);
    if (!keeps_) return;
    for (std::size_t j = 0; j < columns(); ++j) rotate(W(i, j), W(i + 1, j), c, s);
    for (std::size_t j = 0; j < columns(); ++j) rotate(W(j, i), W(j, i + 1), c, s);
}

}  // namespace keel
