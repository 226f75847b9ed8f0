// Pipelined predict-and-recompute conjugate gradients, PIPE-PR-CG: Chen and Carson, SIAM J. Sci. Comput. 42
// (2020), with a preconditioner M and without. The iterates of cg.cpp in exact arithmetic, its accuracy in
// floating point, and one all-reduce in flight while the operator is applied. The test is on |r|, with M for
// a word more, or on the natural norm sqrt(r,Mr).
//
// Besides the norm of the next residual, as in pr_cg.cpp, w = A z, z = M r, is PREDICTED, z and w by the same
// recurrence: so s = A p needs no product. While the sums are in flight, w is RECOMPUTED, which is what
// p-CG (pipelined_cg.cpp) lacks and why that one drifts. Without M z is r.
//
// The margin has no step numbers: the recurrences are written from what the method is, not from the listing.
//
// Per iteration: 2 applications with 1 exchange of two vectors, and 1 all-reduce of 4 words, which is on its
// way during both. A solve of k iterations costs 2k + 2 applications in k + 2 exchanges and k + 1
// all-reduces. Vectors: w, p, s, u besides x and r. 2 F_A + 23 flops per cell. With M there are M r, M w, M s
// and M u besides, and 2k + 3 applications of M, two of each iteration during the all-reduce.
// Weakness: the second product. Where applications and not all-reduces take the time it costs up to twice
// what CG does. And where coefficients jump by 1000 and nothing is scaled it ends 3 to 7 times above CG
// (results/attainable).

#include <algorithm>
#include <cmath>

#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/methods.hpp"
#include "solvers/systems/preconditioners/preconditioner.hpp"

namespace keel {

Method pr_cg();  // pr_cg.cpp

namespace {

class PipelinedPredictAndRecomputeCG : public MethodOfSystem {
  public:
    using MethodOfSystem::MethodOfSystem;

    Outcome iterate(const Run& run, Report& report) override {
        const auto& [x, r, rr, target, limit, scale] = run;
        const Vector z = M ? own_z : r, v = M ? own_v : w, t = M ? own_t : s, q = M ? own_q : u;
        const Product all[] = {{r, z}, {p, s}, {z, s}, {t, s}, {r, r}};
        const bool natural = !M || options.norm == Norm::natural;
        const auto products = std::span<const Product>(all).first(natural ? 4 : 5);
        double sums[5] = {};
        const double& square = sums[natural ? 0 : 4];
        if (M) M->apply(z, r);
        A.apply(w, z);
        A.copy(p, z);
        A.copy(s, w);
        if (M) M->apply(t, s);
        if (M) A.copy(v, t);
        AllReduceRequest first = A.begin_dots(products);
        A.apply(u, t);
        if (M) M->apply(q, u);
        first.finish(std::span(sums).first(products.size()));
        for (int k = 0; k < limit; ++k) {
            const auto [nu, mu, delta, gamma, rr_now] = sums;
            const double alpha = nu / mu;
            if (unusable(alpha) || !(mu > 0)) return report.breakdown("(p,Ap)");
            A.axpby(x, 1, x, alpha, p);
            A.axpby(r, 1, r, -alpha, s);
            if (M) A.axpby(z, 1, z, -alpha, t);
            A.axpby(w, 1, w, -alpha, u);  // A z, predicted
            if (M) A.axpby(v, 1, v, -alpha, q);
            ++report.iterations;
            const double predicted = nu - 2 * alpha * delta + alpha * alpha * gamma;  // (r,z)
            const double beta = std::max(0.0, predicted / nu);  // rounding may leave less than nothing
            A.axpby(p, 1, z, beta, p);
            A.axpby(s, 1, w, beta, s);
            if (M) A.axpby(t, 1, v, beta, t);
            AllReduceRequest pending = A.begin_dots(products);
            A.apply(std::array{u, w}, std::array{t, z});  // A t, and A z recomputed
            if (M) M->apply(q, u);
            if (M) M->apply(v, w);
            pending.finish(std::span(sums).first(products.size()));
            report.residuals.push_back(std::sqrt(square) / scale);
            if (std::sqrt(square) <= target) return Outcome::converged;
            if (!std::isfinite(sums[0])) return report.breakdown(M ? "(r,Mr)" : "(r,r)");
        }
        return Outcome::iteration_limit;
    }

  private:
    Vector w = vector(), p = vector(), s = vector(), u = vector();  // A z, the direction, A p, A t
    // M r, M w, M s, M u
    Vector own_z = vector_with_M(), own_v = vector_with_M(), own_t = vector_with_M(), own_q = vector_with_M();
};

}  // namespace

Method pipelined_pr_cg() {
    Method method = pr_cg();
    method.name = "pipelined_pr_cg";
    method.source = "Chen and Carson 2020, PIPE-PR-CG";
    method.use = "cg and its accuracy, its one all-reduce hidden behind two applications";
    method.vectors = method.preconditioned_vectors = 4;
    method.hides_all_reduces = true;
    method.applications = method.at_once = 2;
    method.flops = 23;
    method.make = method.make_preconditioned = made<PipelinedPredictAndRecomputeCG>;
    return method;
}

}  // namespace keel
