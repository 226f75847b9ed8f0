// Predict-and-recompute conjugate gradients, PR-CG: Chen and Carson, SIAM J. Sci. Comput. 42 (2020), with a
// preconditioner M and without. The iterates of cg.cpp in exact arithmetic, with one all-reduce. The test is
// on |r|, with M for a word more, or on the natural norm sqrt(r,Mr).
//
// CG's second all-reduce sums (r_{k+1},z_{k+1}), z = M r. Here it is PREDICTED by expanding (r - alpha s, z -
// alpha t), t = M s, and used in beta alone; the next all-reduce RECOMPUTES it, so that errors of the
// prediction do not add up. Without M z is r and t is s.
//
// The margin has no step numbers: the recurrences are written from what the method is, not from the listing.
//
// Per iteration: 1 application (1 exchange) and 1 all-reduce of 4 words, not overlapped. A solve of k
// iterations costs k + 1 of each. Vectors: p, s besides x and r. F_A + 17 flops per cell. Attainable
// accuracy: CG's (results/attainable). With M there are z and t besides, and k + 2 applications of M.

#include <algorithm>
#include <cmath>

#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/methods.hpp"
#include "solvers/systems/preconditioners/preconditioner.hpp"

namespace keel {
namespace {

class PredictAndRecomputeCG : public MethodOfSystem {
  public:
    using MethodOfSystem::MethodOfSystem;

    Outcome iterate(const Run& run, Report& report) override {
        const auto& [x, r, rr, target, limit, scale] = run;
        const Vector z = M ? own_z : r;
        const Vector t = M ? own_t : s;
        const Product all[] = {{r, z}, {p, s}, {z, s}, {t, s}, {r, r}};
        const bool natural = !M || options.norm == Norm::natural;
        const auto products = std::span<const Product>(all).first(natural ? 4 : 5);
        double sums[5] = {};
        const double& square = sums[natural ? 0 : 4];
        if (M) M->apply(z, r);
        A.copy(p, z);
        apply(t);
        A.dots(products, std::span(sums).first(products.size()));
        for (int k = 0; k < limit; ++k) {
            const auto [nu, mu, delta, gamma, rr_now] = sums;
            const double alpha = nu / mu;
            if (unusable(alpha) || !(mu > 0)) return report.breakdown("(p,Ap)");
            A.axpby(x, 1, x, alpha, p);
            A.axpby(r, 1, r, -alpha, s);
            if (M) A.axpby(z, 1, z, -alpha, t);
            ++report.iterations;
            const double predicted = nu - 2 * alpha * delta + alpha * alpha * gamma;  // (r,z)
            const double beta = std::max(0.0, predicted / nu);  // rounding may leave less than nothing
            A.axpby(p, 1, z, beta, p);
            apply(t);
            A.dots(products, std::span(sums).first(products.size()));  // (r,z) recomputed
            report.residuals.push_back(std::sqrt(square) / scale);
            if (std::sqrt(square) <= target) return Outcome::converged;
            if (!std::isfinite(sums[0])) return report.breakdown(M ? "(r,Mr)" : "(r,r)");
        }
        return Outcome::iteration_limit;
    }

  private:
    void apply(Vector t) {
        A.apply(s, p);
        if (M) M->apply(t, s);
    }

    Vector p = vector(), s = vector();                        // the direction, A p
    Vector own_z = vector_with_M(), own_t = vector_with_M();  // M r, M s
};

}  // namespace

Method pr_cg() {
    return {
        .name = "pr_cg",
        .source = "Chen and Carson 2020, PR-CG",
        .use = "cg with one all-reduce and no loss of accuracy",
        .scaling = DiagonalScaling::symmetric,
        .exchanges = 1,
        .reductions = 1,
        .words = 4,
        .vectors = 2,
        .applications = 1,
        .flops = 17,
        .keys = {"norm"},
        .preconditioning = Preconditioning::symmetric,
        .norms = {Norm::residual, Norm::natural},
        .preconditioned_vectors = 2,
        .make = made<PredictAndRecomputeCG>,
        .make_preconditioned = made<PredictAndRecomputeCG>,
    };
}

}  // namespace keel
