// CA-CG: conjugate gradients with one all-reduce every s iterations (Toledo 1995; Hoemmen 2010). A must be
// symmetric and positive definite (semi-definite with b in its range). In exact arithmetic the iterates are
// those of cg.cpp for every s and basis; the numbers in the margin are those of the same steps there (Saad,
// Alg. 6.18). With a preconditioner M they are those of its Alg. 9.1, and the test is on the natural norm
// (s_step.hpp; Carson's thesis, 2015, for that of CG in coordinates).
//
// Per outer step of s iterations: 2s - 1 applications, s exchanges (paired; 2s - 1 sequential;
// ceil(s / depth) of deep ghosts with matrix powers, whose redundant work comes on top: grid_system.hpp), 1
// all-reduce of (2s+1)(s+1) words. Vectors: p, 2s - 1 further basis vectors and a spare, 2s + 1, besides x
// and r. About (2s - 1) F_A + 2 (2s+1)(s+1) + 6 (2s+1) flops per cell and outer step (newton: 3 more for each
// application, chebyshev: 5), F_A those of an application. With M 2s - 1 applications of M for s iterations,
// where CG makes s, one more at the start, and 2s + 2 vectors more.
//
// Weakness: as ca_bicgstab.cpp, but the degree is half of that one's. Monomial bases keep CG's counts up to
// s = 4, cost 40 % more iterations at s = 8 and fail from s = 12 on; Newton and Chebyshev keep them up to
// s = 16 with Jacobi scaling or a constant coefficient.

#include <cmath>
#include <optional>
#include <utility>

#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/s_step/numbers.hpp"
#include "solvers/krylov/s_step/s_step.hpp"
#include "solvers/systems/preconditioners/preconditioner.hpp"

namespace keel {
namespace {

template <class Scalar>
class CaConjugateGradients : public MethodOfSystem {
  public:
    explicit CaConjugateGradients(const MethodSetup& setup) : MethodOfSystem(setup), V(setup, 1) {}

    void adopt(const Spectrum& spectrum) override { V.adopt(spectrum); }

    Outcome iterate(const Run& run, Report& report) override {
        const Vector first = M ? z : run.r;
        if (M) M->apply(z, run.r);
        if (M) A.copy(partner, run.r);
        A.copy(p, first);  // 1
        const int last = report.iterations + run.limit;
        for (V.begin(); report.iterations < last; V.lengthen()) {
            V.span(run.x, p, first, {}, {partner, run.r});
            if (const auto end = inner_loop(run, last, report)) {
                V.finish();
                return *end;
            }
            V.advance(next_p, next_partner);
            std::swap(p, next_p);
            std::swap(partner, next_partner);
        }
        return Outcome::iteration_limit;
    }

  private:
    // The iterations of one outer step, or how they ended before.
    std::optional<Outcome> inner_loop(const Run& run, int last, Report& report) {
        auto norm = V.norm(V.c);
        if (unusable(double(norm))) return report.breakdown(Vanished::r_r);
        for (int j = 0; j < V.s; ++j) {  // 2
            V.apply(V.Ta, V.a);
            V.weigh(V.GT, V.Ta);
            const auto pAp = V.dot(V.a, V.GT);
            const auto alpha = norm * norm / pAp;  // 3
            if (unusable(double(alpha)) || double(pAp) < 0) return report.breakdown(Vanished::p_Ap);
            V.add(V.e, V.e, alpha, V.a);    // 4
            V.add(V.c, V.c, -alpha, V.Ta);  // 5
            ++report.iterations;
            const auto next = V.norm(V.c);
            const double norm_r = double(next);
            report.residuals.push_back(norm_r / run.scale);
            if (norm_r <= run.target) return Outcome::converged;
            if (!std::isfinite(norm_r)) return report.breakdown(Vanished::r_r);
            const auto beta = next * next / (norm * norm);  // 6
            V.add(V.a, V.c, beta, V.a);                     // 7
            norm = next;
            if (report.iterations == last) return Outcome::iteration_limit;
        }
        return std::nullopt;
    }

    PairSpace<Scalar> V;
    Vector p = vector(), next_p = vector();
    Vector z = vector_with_M(), partner = vector_with_M(), next_partner = vector_with_M();  // M r, M^-1 p
};

}  // namespace

Method ca_cg() {
    return {
        .name = "ca_cg",
        .source = "Toledo 1995; Hoemmen 2010",
        .use = "as ca_bicgstab for half the work; stands twice the s",
        .scaling = DiagonalScaling::symmetric,
        .exchanges = exchanges_of_pairs("1", "2 - 1/s", "s", 1),
        .reductions = per_outer_step("1/s", [](double) { return 1.0; }),
        .words = words_of_pairs("(2s+1)(s+1)/s", [](double s) { return (2 * s + 1) * (s + 1); }),
        .vectors = in_s("2s + 1", [](double s) { return 2 * s + 1; }),
        .applications = in_s("2 - 1/s", [](double s) { return 2 - 1 / s; }),
        .flops = flops_of_pairs("(4s^2+18s+7)/s", 1, 0),
        .at_once = vectors_of_pairs(),
        .degree = in_s("s", [](double s) { return s; }),
        .keys = keys_of_pairs({"spectrum", "norm"}),
        .independent = independent_pairs(1),
        .preconditioning = Preconditioning::symmetric,
        .norms = {Norm::natural},
        .preconditioned_vectors = in_s("2s + 2", [](double s) { return 2 * s + 2; }),
        .make = made_in_precision<CaConjugateGradients>,
        .make_preconditioned = made_in_precision<CaConjugateGradients>,
    };
}

}  // namespace keel
