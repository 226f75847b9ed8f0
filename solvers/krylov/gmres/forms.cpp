// The forms of Arnoldi's relation.
//
// By a factorisation of (r, A M V), a new column each time (solvers/orthogonalise/): mgs with k + 1
// all-reduces for column k, cgs2 with three, icwy with two (Swirydowicz et al. 2021).
//
// Delayed, with one: classical Gram-Schmidt whose second pass over a column waits for the all-reduce of the
// next one (Bielich et al., Parallel Computing 112, 2022, DCGS2-Arnoldi). The newest vector u is then neither
// orthogonal to rounding nor of length 1 when A M is applied to it. One all-reduce brings s = V'u, (u,u),
// z = V'w and (u,w), w = A M u. With rho^2 = (u,u) - s's
//     v = (u - V s) / rho,   (h + s, rho) ends the column of H that u came from,
//     t = (z, ((u,w) - s'z) / rho) = [V, v]'w,
//     h = (t - H s) / rho, the next column but for its second pass,   next u = (w - [V, v] t) / rho,
// since A M v = (w - A M V s) / rho, and A M V = [V, v] H. The recurrences are derived here; the margin has
// no step numbers of the paper's listing.

#include <cmath>

#include "solvers/krylov/gmres/arnoldi.hpp"
#include "solvers/systems/preconditioners/preconditioner.hpp"

namespace keel {
namespace {

class ByFactorisation : public Arnoldi {
  public:
    ByFactorisation(const MethodSetup& setup, const Orthogonaliser& form)
        : Arnoldi(setup), qr_(form.make(setup.A, static_cast<std::size_t>(setup.options.restart) + 1)) {}

    void extend() override {
        const std::size_t k = known();
        apply(w_, qr_->basis()[k], k);
        const bool more = qr_->append(w_, {});
        const auto column = next_column();
        for (std::size_t i = 0; i < column.size(); ++i) column[i] = more || i <= k ? qr_->r(i, k + 1) : 0.0;
    }
    std::span<const Vector> basis() const override { return qr_->basis(); }

  private:
    void take_first(Vector r, double) override {
        qr_->clear();
        qr_->append(r, {});
    }

    std::unique_ptr<QR> qr_;
    Vector w_ = A.make_vector();
};

class Delayed : public Arnoldi {
  public:
    explicit Delayed(const MethodSetup& setup) : Arnoldi(setup) {
        const auto most = static_cast<std::size_t>(setup.options.restart) + 1;
        for (std::size_t k = 0; k < most; ++k) V_.push_back(A.make_vector());
        for (std::vector<double>* const small : {&h_, &t_, &shares_}) small->reserve(most);
        sums_.reserve(2 * most);
        products_.reserve(2 * most);
    }

    void extend() override {
        const Vector next = V_[k_ + 1];
        apply(next, V_[k_], k_);  // w
        want(V_[k_]);
        want(next);
        const double rho = second_pass();
        const auto s = std::span(sums_).first(k_);
        t_.assign(sums_.begin() + static_cast<std::ptrdiff_t>(k_) + 1, sums_.end());  // z, (u,w)
        for (std::size_t i = 0; i < k_; ++i) t_[k_] -= s[i] * t_[i];
        t_[k_] /= rho;
        h_ = t_;
        for (std::size_t c = 0; c < k_; ++c)
            for (std::size_t i = 0; i < c + 2; ++i) h_[i] -= column(c)[i] * s[c];
        for (double& value : h_) value /= rho;
        for (double& value : t_) value /= -rho;
        add(next, 1 / rho, t_, V_);
        if (M != nullptr && M->wants_flexible()) add(Mv_[k_], 1 / rho, shares_, Mv_);
        ++k_;
    }
    void conclude() override {
        want(V_[k_]);
        second_pass();
    }
    std::span<const Vector> basis() const override { return V_; }

  private:
    void take_first(Vector r, double norm) override {
        k_ = 0;
        A.combine(V_[0], {1 / norm}, {r});
    }
    // Products of x with the columns of V, and with u.
    void want(Vector x) {
        for (std::size_t i = 0; i <= k_; ++i) products_.push_back({V_[i], x});
    }
    // Reduces what is wanted, makes v of u, and ends the column of H that u came from. rho.
    double second_pass() {
        sums_.resize(products_.size());
        A.dots(products_, sums_);
        products_.clear();
        const auto s = std::span(sums_).first(k_);
        double square = sums_[k_];
        for (const double value : s) square -= value * value;
        const double rho = square < 0 ? 0.0 : std::sqrt(square);  // rounding may leave less than nothing
        if (k_ > 0) {
            const auto column = next_column();
            for (std::size_t i = 0; i < k_; ++i) column[i] = h_[i] + s[i];
            column.back() = rho;
        }
        shares_.assign(s.begin(), s.end());
        for (double& value : shares_) value /= -rho;
        add(V_[k_], 1 / rho, shares_, V_);
        return rho;
    }

    std::vector<Vector> V_;
    std::size_t k_ = 0;      // place of u
    std::vector<double> h_;  // the newest column of H, but for its second pass
    std::vector<double> sums_, t_, shares_;
    std::vector<Product> products_;
};

// Sums over the columns of a cycle of what a factorisation takes for one.
ArnoldiCost by_factorisation(const Orthogonaliser& form, int passes, int m) {
    ArnoldiCost cost;
    cost.vectors = m + 3.0;
    for (int k = 0; k <= m; ++k) {
        const QRCost one = form.add(k);
        cost.reductions += static_cast<double>(one.reductions);
        cost.words += static_cast<double>(one.words);
        // Copied, projected as often, and normalised; a projection of all columns at once subtracts in one.
        cost.flops += passes == 0 ? 5.0 * k + 4 : 4.0 + (k == 0 ? 0 : passes * (4 * k + 1));
    }
    return cost;
}

}  // namespace

std::unique_ptr<Arnoldi> make_arnoldi(const MethodSetup& setup) {
    if (setup.options.orthogonalisation == Orthogonalisation::delayed)
        return std::make_unique<Delayed>(setup);
    return std::make_unique<ByFactorisation>(setup,
                                             orthogonaliser_named(name(setup.options.orthogonalisation)));
}

ArnoldiCost cost_of_arnoldi(const BottomOptions& options) {
    const int m = options.restart;
    if (options.orthogonalisation == Orthogonalisation::delayed)
        return {m + 1.0, (m + 1.0) * (m + 1.0), 4.0 * m * m + 8 * m + 4, m + 1.0};
    const bool mgs = options.orthogonalisation == Orthogonalisation::mgs;
    const bool cgs2 = options.orthogonalisation == Orthogonalisation::cgs2;
    return by_factorisation(orthogonaliser_named(name(options.orthogonalisation)), mgs ? 0 : cgs2 ? 2 : 1, m);
}
}  // namespace keel
