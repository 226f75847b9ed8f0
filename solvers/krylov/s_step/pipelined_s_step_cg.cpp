// Pipelined s-step conjugate gradients: s iterations of CG for one all-reduce, which is in flight while the
// operator is applied s times. What Tiwari and Vadhiyar's PIPE-sCG is said to do (arXiv, abstract: one
// non-blocking reduction for s iterations, no further products); the recurrences are derived anew, so no line
// of theirs is in the margin. A must be symmetric and positive definite (semi-definite with b in its range).
// With s = 1 this is p-CG.
//
// rho_0 = 1, rho_1, .. are the polynomials of a basis that knows its own products: monomials, or Chebyshev's.
// Kept are
//     t_i = rho_i(A) r, i = 0 .. 2s,    Q_i = rho_i(A) P, i = 0 .. s+1,    P = Q_0, a block's s directions.
// The directions of the next block are R + P B, R = [t_0 .. t_{s-1}] (small_system.hpp). All inner products
// in that are moments mu_i = (r, rho_i r), i < 2s, and D = P^T [t_0 .. t_s]: 2s + s(s+1) words, known before
// t_{s+1} .. t_{2s} are, which are made meanwhile. Then Q_i = rho_i(A) R + Q_i B and t_i -= A rho_i(A) P
// alpha take vectors that are there. The norm of r is known at the end of a block only; the last block is as
// short as the limit asks.
//
// Per block of s iterations: s applications (s exchanges), 1 all-reduce of s^2 + 3s words. At the start s
// applications and 2s words; a solve ends with an all-reduce and s applications in vain. Vectors: s^2 + 5s
// besides x and r. If the first block of a run breaks down, since its s directions are dependent, s is halved
// until it does not.
// Weakness: t_2s has the degree that breaks ca_bicgstab's monomial basis at s = 4, and r comes from
// recurrences that drift: monomials hold for s = 2, Chebyshev's basis for s = 4 and more where the system is
// scaled by its diagonal or has constant coefficients. Every block costs s^2 + 2s combinations of s and more
// vectors.

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "kernels/bodies/vector.hpp"
#include "solvers/krylov/enlarged/block.hpp"
#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/s_step/basis.hpp"
#include "solvers/krylov/s_step/numbers.hpp"
#include "solvers/krylov/s_step/s_step.hpp"
#include "solvers/krylov/s_step/small_system.hpp"

namespace keel {
namespace {

// A polynomial in the basis: a few coefficients and what they belong to.
struct Term {
    double coefficient;
    int index;
};
struct Terms {
    std::array<Term, 3> terms{};
    int count = 0;

    void add(double coefficient, int index) {
        if (coefficient != 0.0) terms[at(count++)] = {coefficient, index};
    }
    const Term* begin() const { return terms.data(); }
    const Term* end() const { return terms.data() + count; }
};

class PipelinedSStepCG : public MethodOfSystem {
  public:
    explicit PipelinedSStepCG(const MethodSetup& setup) : MethodOfSystem(setup) {
        if (options.basis == Basis::newton)
            throw std::invalid_argument("Newton's basis does not know its own products");
        adopt(setup.spectrum);
        t.resize(at(2 * most_ + 1));
        for (int i = 1; i <= 2 * most_; ++i) t[at(i)] = vector();
        Q.resize(at(most_ + 2));
        for (auto& block : Q) block = make_block(A, most_);
        spare = make_block(A, most_);
        D.setZero(most_, most_ + 1);
        mu.resize(at(2 * most_));
        products_.reserve(at(words(most_)));
        sums_.resize(at(words(most_)));
    }

    void adopt(const Spectrum& spectrum) override {
        relations_ = recurrence(options.basis, 2 * most_ + 1, spectrum);
    }

    static int words(int s) { return s * s + 3 * s; }

    Outcome iterate(const Run& run, Report& report) override {
        const int before = report.iterations;
        for (int s = most_;; s /= 2) {
            const Outcome outcome = pipeline(s, run, report);
            if (outcome != Outcome::breakdown || report.iterations > before || s == 1) return outcome;
        }
    }

  private:
    Outcome pipeline(int s, const Run& run, Report& report) {
        const int last = report.iterations + run.limit;
        double known = std::sqrt(run.rr);
        int m = 0;  // iterations of the block before
        t[0] = run.r;
        for (int i = 0; i < s; ++i) extend(i);
        for (;;) {
            begin_products(s, m);
            AllReduceRequest pending = A.begin_dots(products_);
            for (int i = s; i < 2 * s; ++i) extend(i);
            pending.finish(std::span(sums_).first(products_.size()));
            take_sums(s, m);
            const double norm = mu[0] > 0 ? std::sqrt(mu[0]) : mu[0] * 0;
            if (m > 0) {
                report.iterations += m;
                // The iterations inside the block have no known norm.
                for (int j = 1; j < m; ++j) report.residuals.push_back(known / run.scale);
                report.residuals.push_back(norm / run.scale);
                if (norm <= run.target) return Outcome::converged;
                if (report.iterations == last) return Outcome::iteration_limit;
            }
            if (!std::isfinite(norm)) return report.breakdown("(r,r)");
            known = norm;
            const int directions = std::min(s, last - report.iterations);
            if (!next_block(directions, m)) return report.breakdown("P^T A P");
            update(s, directions, m, run.x);
            m = directions;
        }
    }

    // t_{i+1} from t_i and the one before.
    void extend(int i) {
        A.apply(t[at(i + 1)], t[at(i)]);
        A.recur(t[at(i + 1)], t, at(i), relations_[at(i)]);
    }

    // rho_i rho_j and A rho_i.
    Terms times(int i, int j) const {
        Terms terms;
        if (!chebyshev_ || i == 0 || j == 0) {
            terms.add(1.0, i + j);
        } else {
            terms.add(0.5, i + j);
            terms.add(0.5, std::abs(i - j));
        }
        return terms;
    }
    Terms times_A(int i) const {
        Terms terms;
        terms.add(relations_[at(i)].gamma, i + 1);
        terms.add(relations_[at(i)].theta, i);
        if (i > 0) terms.add(relations_[at(i)].sigma, i - 1);
        return terms;
    }

    void begin_products(int s, int m) {
        products_.clear();
        for (int i = 0; i < 2 * s; ++i) products_.push_back({t[at((i + 1) / 2)], t[at(i / 2)]});
        for (int a = 0; a < m; ++a)
            for (int i = 0; i <= s; ++i) products_.push_back({Q[0][at(a)], t[at(i)]});
    }

    void take_sums(int s, int m) {
        for (int i = 0; i < 2 * s; ++i)  // T_i = 2 T_ceil(i/2) T_floor(i/2) - T_(i mod 2)
            mu[at(i)] = chebyshev_ && i > 1 ? 2 * sums_[at(i)] - mu[at(i % 2)] : sums_[at(i)];
        for (int a = 0; a < m; ++a)
            for (int i = 0; i <= s; ++i) D(a, i) = sums_[at(2 * s + a * (s + 1) + i)];
    }

    // False where the next block's W is not positive definite.
    bool next_block(int n, int m) {
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) {  // R^T A R
                small.W(i, j) = 0;
                for (const auto& [c, k] : times_A(j))
                    for (const auto& [d, l] : times(i, k)) small.W(i, j) += c * d * mu[at(l)];
            }
        for (int i = 0; i < n; ++i) small.alpha(i) = mu[at(i)];
        for (int a = 0; a < m; ++a) {
            small.Pr(a) = D(a, 0);
            for (int j = 0; j < n; ++j) {
                small.C(a, j) = 0;
                for (const auto& [c, k] : times_A(j)) small.C(a, j) += c * D(a, k);
            }
        }
        return small.solve(n, m);
    }

    void update(int s, int n, int m, Vector x) {
        for (int i = 0; i <= s + 1; ++i) {
            for (int c = 0; c < n; ++c) {  // Q_i = rho_i(A) R + Q_i B
                for (const auto& [d, l] : times(i, c)) sum.add(t[at(l)], d);
                for (int a = 0; a < m; ++a) sum.add(Q[at(i)][at(a)], small.B(a, c));
                sum.into(A, spare[at(c)]);
            }
            Q[at(i)].swap(spare);
        }
        sum.add(x, 1.0);
        for (int a = 0; a < n; ++a) sum.add(Q[0][at(a)], small.alpha(a));
        sum.into(A, x);
        for (int i = 0; i <= s; ++i) {  // t_i -= A rho_i(A) P alpha
            sum.add(t[at(i)], 1.0);
            for (const auto& [c, k] : times_A(i))
                for (int a = 0; a < n; ++a) sum.add(Q[at(k)][at(a)], -c * small.alpha(a));
            sum.into(A, t[at(i)]);
        }
    }

    int most_ = options.s;
    bool chebyshev_ = options.basis == Basis::chebyshev;
    std::vector<Relation> relations_;
    Block t;
    std::vector<Block> Q;
    Block spare;
    std::vector<double> mu;
    Eigen::MatrixXd D;
    SmallSystem small{most_, SmallSystemBy::cholesky};
    std::vector<Product> products_;
    std::vector<double> sums_;
    BlockSum sum{3 * most_ + 2};
};

double flops_of_block(const BottomOptions& o) {
    const int s = o.s;
    const bool chebyshev = o.basis == Basis::chebyshev;
    double flops = 2.0 * PipelinedSStepCG::words(s) + combine_flops(at(1 + s));
    for (int i = 0; i <= s + 1; ++i)
        for (int c = 0; c < s; ++c) flops += combine_flops(at(s + (chebyshev && i > 0 && c > 0 ? 2 : 1)));
    for (int i = 0; i <= s; ++i) flops += combine_flops(at(1 + s * (!chebyshev ? 1 : i == 0 ? 2 : 3)));
    if (chebyshev) flops += 5.0 * s;  // the recurrence, of three terms in all but the first block
    return flops / s;
}

}  // namespace

Method pipelined_s_step_cg() {
    return {
        .name = "pipelined_s_step_cg",
        .source = "derived here, after Tiwari and Vadhiyar's PIPE-sCG",
        .use =
            "one all-reduce every s iterations, hidden behind s applications; s = 2, or basis chebyshev with "
            "scaling = jacobi",
        .scaling = DiagonalScaling::symmetric,
        .exchanges = 1,
        .reductions = per_outer_step("1/s", [](double) { return 1.0; }),
        .words = in_s("s + 3", [](double s) { return s + 3; }),
        .vectors = in_s("s^2 + 5s", [](double s) { return s * s + 5 * s; }),
        .hides_all_reduces = true,
        .applications = 1,
        .flops = {"about 2s^2 + 9s + 13", flops_of_block},
        .keys = {"s", "basis"},
        .independent =
            Independent{.key = "s", .value = &BottomOptions::s, .per_unit = 2, .more = 1, .lowered = true},
        .multiplies_basis = true,
        .make = made<PipelinedSStepCG>,
    };
}

}  // namespace keel
