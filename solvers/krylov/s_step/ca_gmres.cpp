// CA-GMRES: GMRES with one all-reduce every s iterations, its basis made orthogonal in two stages (Yamazaki,
// Higgins, Boman and Szyld, IPDPS 2024, arXiv 2402.15033; the relation H from the basis: Hoemmen's thesis,
// 2010). In exact arithmetic its iterates are those of gmres.cpp for every s and basis.
//
// A panel P is s vectors that a polynomial basis of A M adds to the newest column of V.
// Stage 1, BCGS-PIP: one all-reduce brings the Gram matrix of [V, P], whose Cholesky factor has the
// coordinates of P: P = V C + V' L. The columns V' are not yet orthogonal to rounding: they have an error of
// eps times the square of the panel's condition.
// Stage 2: with Cholesky's T^T T = V^T V, the columns of V T^-1 are. The paper takes this Gram matrix once a
// cycle, and stage 1 as if it were 1. Here its columns come with the next panel's all-reduce, as a delayed
// second pass does (forms.cpp), so that stage 1 has the T of all earlier panels: an error of 1e-7 where the
// paper's order leaves 1e-3 (monomial, s = 8, convection in 24^2 cells). V T^-1 is never formed: the least
// squares are solved in its coordinates, and vectors are made of V. Until the newest panel's part of T is
// known, H has 1 in its place.
//
// Per cycle of m = bottom.restart iterations: m applications (m exchanges, or fewer with matrix powers),
// ceil(m / s) + 1 all-reduces of m^2 + 3m + 1 words in all, about 3 m^2 flops per cell. The delayed form of
// gmres.cpp has m + 1 all-reduces of about as many words, and 4 m^2 flops. Vectors: the m + 1 columns of V
// besides x and r; with M, which must be fixed, one more.
// Where Cholesky breaks down, or rounding would reach H, since a panel is too dependent, it ends before that
// column. Where the first one depends on V, the Krylov space ends.
// Weakness: up to s - 1 applications are made in vain at the end. Shorter panels cost all-reduces: on the
// scaled convection matrices of the tests monomial bases keep whole panels up to s = 8, Newton's and
// Chebyshev's up to s = 24.

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "solvers/krylov/gmres/arnoldi.hpp"
#include "solvers/krylov/s_step/basis.hpp"
#include "solvers/krylov/s_step/numbers.hpp"
#include "solvers/krylov/s_step/s_step.hpp"

namespace keel {
namespace {

class Panels : public Arnoldi {
  public:
    explicit Panels(const MethodSetup& setup)
        : Arnoldi(setup), options_(setup.options), s_(static_cast<std::size_t>(options_.s)) {
        const auto most = static_cast<std::size_t>(options_.restart) + 1;
        for (std::size_t k = 0; k < most; ++k) V_.push_back(A.make_vector());
        for (auto* triangle : {&R_, &C_, &Z_}) triangle->assign(most, std::vector<double>(most));
        place_.resize(most);
        lengths_.resize(most);
        y_.reserve(most);
        sums_.resize(gram_pairs(most, 0));
        if (M != nullptr) Mv_of_panel_.assign(std::min(s_, most), Mv_.front());
        adopt(setup.spectrum);
    }

    void adopt(const Spectrum& spectrum) override {
        relations_ = recurrence(options_.basis, options_.s, spectrum);
    }

    void extend() override {
        const std::size_t first = columns_;
        const std::size_t n = std::min(s_, V_.size() - first);
        make_panel(first, n);
        reduce(first + n);
        const std::size_t kept = settled();
        second_stage();
        for (std::size_t k = first; k < first + n; ++k) {
            place_[k - 1] = k - first;
            factor(k);
            Z_[k] = R_[k];
            if (R_[k][k] == 0 || (k > first && cancellation(k, first) > 3e5)) break;
            orthogonalise(k, first);
            ++columns_;
        }
        // A space that ends has a column of H with a zero below the diagonal.
        make_columns(kept, std::max(columns_, first + 1) - 1);
    }
    void conclude() override {
        reduce(columns_);
        const std::size_t kept = settled();
        second_stage();
        make_columns(kept, known());
    }
    // Column k of H has entries for the first k + 2 columns of V.
    std::size_t settled() const override {
        return pending_ == columns_ ? known() : std::max<std::size_t>(pending_, 1) - 1;
    }
    std::span<const Vector> basis() const override { return V_; }

  private:
    using Triangle = std::vector<std::vector<double>>;  // columns, with zeros below the diagonal

    void take_first(Vector r, double norm) override {
        A.combine(V_[0], {1 / norm}, {r});
        columns_ = 1;
        pending_ = 0;
    }

    void make_panel(std::size_t first, std::size_t n) {
        const auto panel = std::span<const Vector>(V_).subspan(first - 1, n + 1);
        if (M == nullptr) return A.powers({&panel, 1}, Recurrence(relations_).first(n));
        M->apply(Mv_[0], panel[0]);
        const LinearSystem::Vectors preconditioned = std::span(Mv_of_panel_).first(n);
        preconditioned_powers(A, *M, {&preconditioned, 1}, {&panel, 1}, relations_);
    }

    // The columns of the Gram matrix that are not known yet, into R.
    void reduce(std::size_t end) {
        const std::size_t n = end - pending_;
        const auto V = std::span<const Vector>(V_);
        A.gram(V.subspan(pending_, n), V.first(pending_), std::span(sums_).first(gram_pairs(n, pending_)));
        const double* next = sums_.data();
        for (std::size_t i = pending_; i < end; ++i) {
            for (std::size_t k = i; k < end; ++k) R_[k][i] = *next++;
            for (std::size_t j = 0; j < pending_; ++j) R_[i][j] = *next++;
        }
    }

    // Makes column k of the Cholesky factor of column k of the Gram matrix in its place. Its diagonal is 0
    // where column k depends on those before, as far as rounding lets one see.
    void factor(std::size_t k) {
        std::vector<double>& r = R_[k];
        const double square = r[k];
        for (std::size_t i = 0; i < k; ++i) {
            for (std::size_t j = 0; j < i; ++j) r[i] -= R_[i][j] * r[j];
            r[i] /= R_[i][i];
            r[k] -= r[i] * r[i];
        }
        r[k] = r[k] > 1e-14 * square ? std::sqrt(r[k]) : 0.0;
        lengths_[k] = std::sqrt(square);
    }
    // y = T^-1 y, T without the columns and rows before `first`.
    void solve(std::span<double> y, std::size_t first = 0) const {
        for (std::size_t i = y.size(); i-- > 0;) {
            for (std::size_t j = i + 1; j < y.size(); ++j) y[i] -= R_[first + j][first + i] * y[j];
            y[i] /= R_[first + i][first + i];
        }
    }
    // The sum of the lengths of the multiples of the panel's columns whose sum is column k of V, of length 1.
    // Stage 1 leaves an error of eps times its square, H has one of eps times it.
    double cancellation(std::size_t k, std::size_t first) {
        y_.assign(k + 1 - first, 0.0);
        y_.back() = 1;
        solve(y_, first);
        double sum = 0;
        for (std::size_t i = 0; i < y_.size(); ++i) sum += std::abs(y_[i]) * lengths_[first + i];
        return sum;
    }
    std::span<const double> on_basis(std::span<const double> y) override {
        y_.assign(y.begin(), y.end());
        solve(y_);
        return y_;
    }

    void form_basis() override {
        std::vector<double> c;
        for (std::size_t k = columns_; k-- > 0;) {
            c.assign(k + 1, 0.0);
            c[k] = 1;
            solve(c);
            add(V_[k], c[k], std::span(c).first(k), V_);
        }
    }

    // Stage 1 for column k of a panel.
    void orthogonalise(std::size_t k, std::size_t first) {
        std::vector<double>& c = C_[k] = R_[k];
        solve(std::span(c).first(first));
        y_.assign(c.begin(), c.begin() + static_cast<std::ptrdiff_t>(k));
        for (double& value : y_) value /= -c[k];
        add(V_[k], 1 / c[k], y_, V_);
    }
    // T of the columns of V whose products are known now.
    void second_stage() {
        for (; pending_ < columns_; ++pending_) {
            const std::size_t k = pending_;
            factor(k);
            std::ranges::fill(Z_[k], 0.0);
            for (std::size_t j = 0; j <= k; ++j)
                for (std::size_t i = 0; i <= j; ++i) Z_[k][i] += R_[j][i] * C_[k][j];
        }
    }

    // A M w_k = gamma z_{k+1} + theta w_k + sigma w_{k-1}, where w_k is z_k, or v_k at the begin of a panel.
    const std::vector<double>& w(std::size_t k) const { return place_[k] == 0 ? R_[k] : Z_[k]; }
    void make_columns(std::size_t begin, std::size_t end) {
        forget(begin);
        for (std::size_t k = begin; k < end; ++k) {
            const auto& [gamma, theta, sigma] = relations_[place_[k]];
            const auto h = next_column();
            for (std::size_t i = 0; i < h.size(); ++i) {
                h[i] = gamma * Z_[k + 1][i] + theta * w(k)[i];
                if (place_[k] > 0) h[i] += sigma * w(k - 1)[i];
            }
            for (std::size_t j = 0; j < k; ++j)
                for (std::size_t i = 0; i < j + 2; ++i) h[i] -= column(j)[i] * w(k)[j];
            for (double& value : h) value /= w(k)[k];
        }
    }

    BottomOptions options_;
    std::size_t s_;
    std::vector<Relation> relations_;
    std::vector<Vector> V_, Mv_of_panel_;  // all entries of the latter are one vector, which is enough
    std::size_t columns_ = 0;              // columns of V
    std::size_t pending_ = 0;              // first column of V whose products with the others are not known
    std::vector<std::size_t> place_;       // powers of A M between the begin of a panel and column k of V
    Triangle R_;                           // T, and beside it the newest panel's coordinates on V T^-1
    Triangle C_, Z_;                       // coordinates of all panels' columns on V, and on V T^-1
    std::vector<double> lengths_;          // lengths of columns before they are made orthogonal
    std::vector<double> sums_, y_;
};

double panels(const BottomOptions& o) {
    return std::ceil(1.0 * o.restart / o.s);
}

double flops_of_cycle(const BottomOptions& o) {
    const auto m = static_cast<std::size_t>(o.restart);
    double flops = 2.0 * static_cast<double>(m * m + 3 * m + 1) + 2 * combine_flops(m + 1) + 1;
    for (std::size_t k = 1; k <= m; ++k) flops += combine_flops(k + 1);
    return flops + recurrence_flops(o.basis, o.restart, static_cast<int>(panels(o)));
}

std::unique_ptr<KrylovMethod> by_panels(const MethodSetup& setup) {
    return gmres_on(setup, make_panels(setup));
}

}  // namespace

std::unique_ptr<Arnoldi> make_panels(const MethodSetup& setup) {
    return std::make_unique<Panels>(setup);
}

Method ca_gmres() {
    return {
        .name = "ca_gmres",
        .source = "Hoemmen 2010; Yamazaki et al. 2024",
        .use = "gmres, s iterations an all-reduce; M fixed",
        .scaling = DiagonalScaling::right,
        .exchanges = {"1; matrix_powers ceil(s/depth)/s",
                      [](const BottomOptions& o) { return exchanges_of_powers(o, o.s).value_or(1); }},
        .reductions = {"1/s + 1/m", [](const BottomOptions& o) { return (panels(o) + 1) / o.restart; }},
        .words = {"m + 3 + 1/m", [](const BottomOptions& o) { return o.restart + 3 + 1.0 / o.restart; }},
        .vectors = {"m + 1", [](const BottomOptions& o) { return o.restart + 1; }},
        .applications = 1,
        .flops = {"about 3m + 12 + 5/m",
                  [](const BottomOptions& o) { return flops_of_cycle(o) / o.restart; }},
        .degree = in_s("s", [](double s) { return s; }),
        .keys = {"restart", "s", "basis", "spectrum", "powers", "powers_depth"},
        .preconditioning = Preconditioning::own,
        .preconditioned_vectors = 1,
        .make = by_panels,
        .make_preconditioned = by_panels,
    };
}

}  // namespace keel
