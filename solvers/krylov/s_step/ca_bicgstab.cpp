// CABiCGStab: BiCGStab with one all-reduce every s iterations. Williams et al. 2014, Alg. 2, some of whose
// line numbers are in the margin, with three corrections: line 17 is printed with T'a_j where T'd_j is meant,
// line 20 with a minus where a plus is meant (the paper's text has both right), and lines 22 to 24 take the
// last indices that were completed when the inner loop stops early. In exact arithmetic the iterates are
// those of BiCGStab for every s and basis.
//
// Per outer step of s iterations: 4s - 1 applications, 2s exchanges (paired; 4s - 1 sequential;
// ceil(2s / depth) of deep ghosts with matrix powers, whose redundant work comes on top: grid_system.hpp), 1
// all-reduce of (4s+1)(2s+2) words. Vectors: r~, p, 4s - 1 further basis vectors and a spare, 4s + 2, besides
// x and r. About (4s - 1) F_A + 2 (4s+1)(2s+2) + 6 (4s+1) flops per cell and outer step (newton: 3 more for
// each application, chebyshev: 5), F_A those of an application. The inner loop costs order s^3 flops on every
// rank, no communication.
//
// Weakness: the Gram matrix squares the condition of the basis (basis.hpp). Monomial bases serve up to s = 4;
// with s = 8 most bottom solves on 16^3 cells miss 1e-3, unless in twofold precision. Newton and Chebyshev
// with Jacobi scaling serve up to s = 8 or 16. A norm that rounding makes negative is taken for zero, as in
// the paper; most such claims of convergence are false, so the caller verifies and restarts. After the limit
// of iterations the rest of an outer step is not used.

#include <optional>
#include <utility>

#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/s_step/numbers.hpp"
#include "solvers/krylov/s_step/s_step.hpp"

namespace keel {
namespace {

template <class Scalar>
class CaBiCGStab : public MethodOfSystem {
  public:
    explicit CaBiCGStab(const MethodSetup& setup) : MethodOfSystem(setup), V(setup, 2) {}

    void adopt(const Spectrum& spectrum) override { V.adopt(spectrum); }

    Outcome iterate(const Run& run, Report& report) override {
        A.copy(r0, run.r);
        A.copy(p, run.r);
        const int last = report.iterations + run.limit;
        for (V.begin(); report.iterations < last; V.lengthen()) {
            V.span(run.x, p, run.r, std::span(&r0, 1));
            if (const auto end = inner_loop(run, last, report)) {
                V.finish();  // 24
                return *end;
            }
            V.advance(next_p);  // 24, 22, 23
            std::swap(p, next_p);
        }
        return Outcome::iteration_limit;
    }

  private:
    // The iterations of one outer step, or how they ended before.
    std::optional<Outcome> inner_loop(const Run& run, int last, Report& report) {
        auto delta = V.dot(V.g, V.c);
        for (int j = 0; j < V.s; ++j) {
            V.apply(V.Ta, V.a);
            const auto alpha = delta / V.dot(V.g, V.Ta);
            if (unusable(double(alpha))) return report.breakdown(Vanished::r0_Ap);
            V.add(V.e, V.e, alpha, V.a);  // 12
            V.add(V.d, V.c, -alpha, V.Ta);
            ++report.iterations;
            const double norm_s = double(V.norm(V.d));
            if (norm_s <= run.target) return report.converged(norm_s / run.scale);

            V.apply(V.Td, V.d);
            V.weigh(V.GT, V.Td);
            const auto AsAs = V.dot(V.Td, V.GT);
            const auto omega = V.dot(V.d, V.GT) / AsAs;
            if (unusable(double(omega)) || double(AsAs) < 0) return report.breakdown(Vanished::omega);
            V.add(V.e, V.e, omega, V.d);
            V.add(V.c, V.d, -omega, V.Td);  // 17
            const double norm_r = double(V.norm(V.c));
            if (norm_r <= run.target) return report.converged(norm_r / run.scale);
            report.residuals.push_back(norm_r / run.scale);

            const auto next = V.dot(V.g, V.c);
            if (unusable(double(next))) return report.breakdown(Vanished::r0_r);
            const auto beta = next / delta * alpha / omega;
            V.add(V.a, V.a, -omega, V.Ta);
            V.add(V.a, V.c, beta, V.a);  // 20
            delta = next;
            if (report.iterations == last) return Outcome::iteration_limit;
        }
        return std::nullopt;
    }

    PairSpace<Scalar> V;
    Vector r0 = vector(), p = vector(), next_p = vector();
};

}  // namespace

Method ca_bicgstab() {
    return {
        .name = "ca_bicgstab",
        .source = "Williams et al. 2014, Alg. 2, corrected",
        .use = "one all-reduce every s iterations; beyond s = 4 basis newton or chebyshev",
        .scaling = DiagonalScaling::right,
        .exchanges = exchanges_of_pairs("2", "4 - 1/s", "2s", 2),
        .reductions = per_outer_step("1/s", [](double) { return 1.0; }),
        .words = words_of_pairs("(4s+1)(2s+2)/s", [](double s) { return (4 * s + 1) * (2 * s + 2); }),
        .vectors = in_s("4s + 2", [](double s) { return 4 * s + 2; }),
        .applications = in_s("4 - 1/s", [](double s) { return 4 - 1 / s; }),
        .flops = flops_of_pairs("(16s^2+44s+9)/s", 2, 1),
        .at_once = vectors_of_pairs(),
        .degree = in_s("2s", [](double s) { return 2 * s; }),
        .keys = keys_of_pairs(),
        .independent = independent_pairs(2),
        .preconditioning = Preconditioning::right,
        .make = made_in_precision<CaBiCGStab>,
    };
}

}  // namespace keel
