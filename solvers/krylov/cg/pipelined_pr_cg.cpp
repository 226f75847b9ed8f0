// Pipelined predict-and-recompute conjugate gradients, PIPE-PR-CG: Chen and Carson, SIAM J. Sci. Comput. 42
// (2020), without preconditioner. The iterates of cg.cpp in exact arithmetic, its accuracy in floating
// point, and one all-reduce in flight while the operator is applied.
//
// Besides the norm of the next residual, as in pr_cg.cpp, w = A r is PREDICTED, r and w by the same
// recurrence: so s = A p needs no product. While the sums are in flight, w is RECOMPUTED, which is what
// p-CG (pipelined_cg.cpp) lacks and why that one drifts.
//
// The margin has no step numbers: the recurrences are written from what the method is, not from the listing.
//
// Per iteration: 2 applications with 1 exchange of two vectors, and 1 all-reduce of 4 words, which is on its
// way during both. A solve of k iterations costs 2k + 2 applications in k + 2 exchanges and k + 1
// all-reduces. Vectors: w, p, s, u besides x and r. 2 F_A + 23 flops per cell.
// Weakness: the second product. Where applications and not all-reduces take the time it costs up to twice
// what CG does. And where coefficients jump by 1000 and nothing is scaled it ends 3 to 7 times above CG
// (results/attainable).

#include <algorithm>
#include <cmath>

#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/methods.hpp"

namespace keel {
namespace {

class PipelinedPredictAndRecomputeCG : public MethodOfSystem {
  public:
    using MethodOfSystem::MethodOfSystem;

    Outcome iterate(const Run& run, Report& report) override {
        const auto& [x, r, rr, target, limit, scale] = run;
        A.apply(w, r);
        A.copy(p, r);
        A.copy(s, w);
        double sums[4];
        const Product products[] = {{r, r}, {p, s}, {r, s}, {s, s}};
        AllReduceRequest first = A.begin_dots(products);
        A.apply(u, s);
        first.finish(sums);
        for (int k = 0; k < limit; ++k) {
            const auto [nu, mu, delta, gamma] = sums;
            const double alpha = nu / mu;
            if (unusable(alpha) || !(mu > 0)) return report.breakdown("(p,Ap)");
            A.axpby(x, 1, x, alpha, p);
            A.axpby(r, 1, r, -alpha, s);
            A.axpby(w, 1, w, -alpha, u);  // A r, predicted
            ++report.iterations;
            const double predicted = nu - 2 * alpha * delta + alpha * alpha * gamma;  // (r,r)
            const double beta = std::max(0.0, predicted / nu);  // rounding may leave less than nothing
            A.axpby(p, 1, r, beta, p);
            A.axpby(s, 1, w, beta, s);
            AllReduceRequest pending = A.begin_dots(products);
            A.apply(std::array{u, w}, std::array{s, r});  // A s, and A r recomputed
            pending.finish(sums);
            report.residuals.push_back(std::sqrt(sums[0]) / scale);
            if (std::sqrt(sums[0]) <= target) return Outcome::converged;
            if (!std::isfinite(sums[0])) return report.breakdown("(r,r)");
        }
        return Outcome::iteration_limit;
    }

  private:
    Vector w = vector(), p = vector(), s = vector(), u = vector();  // A r, the direction, A p, A s
};

}  // namespace

Method pipelined_pr_cg() {
    return {
        .name = "pipelined_pr_cg",
        .source = "Chen and Carson 2020, PIPE-PR-CG",
        .use = "cg and its accuracy, its one all-reduce hidden behind two applications",
        .scaling = DiagonalScaling::symmetric,
        .exchanges = 1,
        .reductions = 1,
        .words = 4,
        .vectors = 4,
        .hides_all_reduces = true,
        .applications = 2,
        .flops = 23,
        .at_once = 2,
        .make = made<PipelinedPredictAndRecomputeCG>,
    };
}

}  // namespace keel
