// s-step conjugate gradients: Chronopoulos and Gear, J. Comput. Appl. Math. 25 (1989), and Parallel Computing
// 11 (1989) with a preconditioner M; in any basis, and with one all-reduce, as D'Ambra et al. (2026,
// arXiv 2603.09790), whose Gauss-Seidel solve of the small systems is a choice. A, and M, must be symmetric
// and positive definite (semi-definite with b in the range of A). In exact arithmetic every s-th iterate is
// CG's.
//
// A block takes s directions at a time, V + P B, V = [z, .., rho_{s-1}(M A) z], z = M r (small_system.hpp).
// Kept beside V are the partners U = M^-1 V = [r, .., rho_s(A M) r], one more, since A V is made of them:
//     A v_j = gamma_j u_{j+1} + theta_j u_j + sigma_j u_{j-1}.
// So all inner products are V^T U and P^T U. The norm is the natural one, sqrt(r . M r), which is among the
// next block's; where the gain of the last block would reach the target it is reduced alone, before that
// basis is made.
//
// Per block of s iterations: s applications of A (s exchanges) and s of M, 1 all-reduce of (3s^2 + 5s) / 2
// words. Vectors: 4s besides x and r, with M and without. If the first block of a run breaks down, since its
// s directions are dependent, s is halved until it does not.
// Weakness: the directions are as dependent as the basis is (basis.hpp), and r comes from a recurrence.
// Powers of M A are the more dependent the better M is: with a V-cycle for contrast 1000 in 16^3 cells and
// s = 8 they break down at once, where Newton's and Chebyshev's bases take cg's 8 iterations to 1e-10. The
// iterations inside a block have no known norm, so up to s - 1 are made in vain.

#include <algorithm>
#include <cmath>
#include <optional>

#include "solvers/krylov/enlarged/block.hpp"
#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/s_step/basis.hpp"
#include "solvers/krylov/s_step/numbers.hpp"
#include "solvers/krylov/s_step/s_step.hpp"
#include "solvers/krylov/s_step/small_system.hpp"
#include "solvers/systems/preconditioners/preconditioner.hpp"

namespace keel {
namespace {

int words_of_block(int s) {
    return (3 * s * s + 5 * s) / 2;
}

class SStepCG : public MethodOfSystem {
  public:
    explicit SStepCG(const MethodSetup& setup) : MethodOfSystem(setup) {
        adopt(setup.spectrum);
        for (auto* matrix : {&G, &D}) matrix->setZero(most_, most_ + 1);
        for (Block* block : {&u, &v}) block->resize(at(most_ + 1));
    }

    void adopt(const Spectrum& spectrum) override { relations_ = recurrence(options.basis, most_, spectrum); }

    Outcome iterate(const Run& run, Report& report) override {
        const int before = report.iterations;
        for (int s = most_;; s /= 2) {
            const Outcome outcome = blocks(s, run, report);
            if (outcome != Outcome::breakdown || report.iterations > before || s == 1) return outcome;
        }
    }

  private:
    Outcome blocks(int s, const Run& run, Report& report) {
        const int last = report.iterations + run.limit;
        known_ = std::sqrt(run.rr);
        gain_ = 0;           // not known before a second block
        for (int m = 0;;) {  // m: directions of the block before
            const int n = std::min(s, last - report.iterations);
            begin_basis(run.r);
            const bool asks = m > 0 && (n == 0 || gain_ * known_ <= 10 * run.target);
            if (asks)
                if (const auto end = judge(A.dot(u[0], v[0]), m, n, run, report)) return *end;
            make_basis(n);
            reduce(n, m);
            if (m > 0 && !asks)
                if (const auto end = judge(G(0, 0), m, n, run, report)) return *end;
            if (!solve_small(n, m)) return report.breakdown("P^T A P");
            update(n, m, run);
            report.iterations += n;
            m = n;
        }
    }

    // Takes (r, M r) after a block of m iterations, which may be the last one.
    std::optional<Outcome> judge(double rz, int m, int n, const Run& run, Report& report) {
        const double norm = std::sqrt(rz);
        for (int j = 1; j < m; ++j) report.residuals.push_back(known_ / run.scale);
        report.residuals.push_back(norm / run.scale);
        if (norm <= run.target) return Outcome::converged;
        if (!std::isfinite(norm)) return report.breakdown(Vanished::r_r);
        if (n == 0) return Outcome::iteration_limit;
        gain_ = norm / known_;
        known_ = norm;
        return {};
    }

    void begin_basis(Vector r) {
        u[0] = v[0] = r;
        if (M) M->apply(v[0] = next[0], r);
    }
    void make_basis(int n) {
        for (int i = 0; i < n; ++i) {
            u[at(i + 1)] = spare[at(i)];
            v[at(i)] = M ? next[at(i)] : u[at(i)];
        }
        const LinearSystem::Vectors partners = first(u, n + 1), basis = first(v, n);
        if (M)
            preconditioned_powers(A, *M, {&basis, 1}, {&partners, 1}, relations_);
        else
            A.powers({&partners, 1}, std::span(relations_).first(at(n)));
    }

    void reduce(int n, int m) {
        for (int j = 0; j <= n; ++j) {
            for (int i = 0; i < n && i <= j; ++i) products.add(G(i, j), v[at(i)], u[at(j)]);
            for (int a = 0; a < m; ++a) products.add(D(a, j), P[at(a)], u[at(j)]);
        }
        products.reduce(A);
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < j; ++i) G(j, i) = G(i, j);
    }

    // From the products with u_0 .. those with A v_j.
    double applied(const Eigen::MatrixXd& of_u, int row, int j) const {
        const auto& [gamma, theta, sigma] = relations_[at(j)];
        return gamma * of_u(row, j + 1) + theta * of_u(row, j) + (j > 0 ? sigma * of_u(row, j - 1) : 0.0);
    }

    bool solve_small(int n, int m) {
        for (int i = 0; i < n; ++i) {
            small.alpha(i) = G(i, 0);
            for (int j = 0; j < n; ++j) small.W(i, j) = applied(G, i, j);
        }
        for (int a = 0; a < m; ++a) {
            small.Pr(a) = D(a, 0);
            for (int j = 0; j < n; ++j) small.C(a, j) = applied(D, a, j);
        }
        return small.solve(n, m);
    }

    void update(int n, int m, const Run& run) {
        for (int c = 0; c < n; ++c) sum.add(v[at(c)]).add(first(P, m), small.B.col(c)).into(A, next[at(c)]);
        for (int c = n - 1; c >= 0; --c) {  // u_{c+1} is no more needed
            const auto& [gamma, theta, sigma] = relations_[at(c)];
            sum.add(u[at(c + 1)], gamma);
            if (theta != 0) sum.add(u[at(c)], theta);
            if (sigma != 0) sum.add(u[at(c - 1)], sigma);
            sum.add(first(AP, m), small.B.col(c)).into(A, u[at(c + 1)]);
        }
        P.swap(next);
        AP.swap(spare);
        sum.add(run.x).add(first(P, n), small.alpha).into(A, run.x);
        sum.add(run.r).add(first(AP, n), small.alpha, -1).into(A, run.r);
    }

    int most_ = options.s;
    std::vector<Relation> relations_;
    Block P = make_block(A, most_), AP = make_block(A, most_);  // the block before
    Block next = make_block(A, most_), spare = make_block(A, most_);
    Block u, v;            // u_0 = r, others in `spare`; v = u, with M in `next`
    Eigen::MatrixXd G, D;  // V^T U, P^T U
    SmallSystem small{most_, options.small_system};
    BlockProducts products{words_of_block(most_)};
    BlockSum sum{most_ + 3};
    double known_ = 0, gain_ = 0;  // the newest norm, over that of the block before
};

double flops_of_block(const BottomOptions& o) {
    const auto s = at(o.s);
    const bool chebyshev = o.basis == Basis::chebyshev;
    double flops = 2.0 * words_of_block(o.s) + static_cast<double>(s + 2) * combine_flops(s + 1);
    for (std::size_t c = 0; c < s; ++c) {
        const std::size_t terms = o.basis == Basis::monomial ? 1 : chebyshev && c > 0 ? 3 : 2;
        flops += combine_flops(s + terms) + (terms > 1 ? combine_flops(terms) : 0);
    }
    return flops / o.s;
}

}  // namespace

Method s_step_cg() {
    return {
        .name = "s_step_cg",
        .source = "Chronopoulos and Gear 1989",
        .use = "as ca_cg for the applications of cg; for preconditioners",
        .scaling = DiagonalScaling::symmetric,
        .exchanges = 1,
        .reductions = per_outer_step("1/s", [](double) { return 1.0; }),
        .words = in_s("(3s + 5)/2", [](double s) { return (3 * s + 5) / 2; }),
        .vectors = in_s("4s", [](double s) { return 4 * s; }),
        .applications = 1,
        .flops = {"7s + 11 + 2/s", flops_of_block},
        .degree = in_s("s", [](double s) { return s; }),
        .keys = {"s", "basis", "small_system", "spectrum", "norm"},
        .independent = Independent{.key = "s", .value = &BottomOptions::s, .more = 1, .lowered = true},
        .preconditioning = Preconditioning::symmetric,
        .norms = {Norm::natural},
        .make = made<SStepCG>,
        .make_preconditioned = made<SStepCG>,
    };
}

}  // namespace keel
