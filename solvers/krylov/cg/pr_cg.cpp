// Predict-and-recompute conjugate gradients, PR-CG: Chen and Carson, SIAM J. Sci. Comput. 42 (2020), without
// preconditioner. The iterates of cg.cpp in exact arithmetic, with one all-reduce.
//
// CG's second all-reduce sums (r_{k+1},r_{k+1}). Here it is PREDICTED by expanding (r - alpha s, r - alpha
// s), and used in beta alone; the next all-reduce RECOMPUTES it, so that errors of the prediction do not
// add up.
//
// The margin has no step numbers: the recurrences are written from what the method is, not from the listing.
//
// Per iteration: 1 application (1 exchange) and 1 all-reduce of 4 words, not overlapped. A solve of k
// iterations costs k + 1 of each. Vectors: p, s besides x and r. F_A + 17 flops per cell. Attainable
// accuracy: CG's (results/attainable).

#include <algorithm>
#include <cmath>

#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/methods.hpp"

namespace keel {
namespace {

class PredictAndRecomputeCG : public MethodOfSystem {
  public:
    using MethodOfSystem::MethodOfSystem;

    Outcome iterate(const Run& run, Report& report) override {
        const auto& [x, r, rr, target, limit, scale] = run;
        const Product products[] = {{r, r}, {p, s}, {r, s}, {s, s}};
        A.copy(p, r);
        A.apply(s, p);
        std::array sums = A.dots(products);
        for (int k = 0; k < limit; ++k) {
            const auto [nu, mu, delta, gamma] = sums;
            const double alpha = nu / mu;
            if (unusable(alpha) || !(mu > 0)) return report.breakdown("(p,Ap)");
            A.axpby(x, 1, x, alpha, p);
            A.axpby(r, 1, r, -alpha, s);
            ++report.iterations;
            const double predicted = nu - 2 * alpha * delta + alpha * alpha * gamma;  // (r,r)
            const double beta = std::max(0.0, predicted / nu);  // rounding may leave less than nothing
            A.axpby(p, 1, r, beta, p);
            A.apply(s, p);
            sums = A.dots(products);  // (r,r) recomputed
            report.residuals.push_back(std::sqrt(sums[0]) / scale);
            if (std::sqrt(sums[0]) <= target) return Outcome::converged;
            if (!std::isfinite(sums[0])) return report.breakdown("(r,r)");
        }
        return Outcome::iteration_limit;
    }

  private:
    Vector p = vector(), s = vector();  // the direction, A p
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
        .make = made<PredictAndRecomputeCG>,
    };
}

}  // namespace keel
