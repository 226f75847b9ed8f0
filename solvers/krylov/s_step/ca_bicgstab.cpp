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

#include "kernels/bodies/krylov/ca_bicgstab.hpp"
#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/s_step/numbers.hpp"
#include "solvers/krylov/s_step/s_step.hpp"

namespace keel {
namespace {

template <class Scalar>
class CaBiCGStab : public PairMethod<Scalar> {
  public:
    explicit CaBiCGStab(const MethodSetup& setup) : PairMethod<Scalar>(setup, 2) {}

    Outcome iterate(const KrylovMethod::Run& run, Report& report) override {
        auto V = this->space();
        return bodies::ca_bicgstab(this->A, run, report, V, r0, this->p, this->next_p);
    }

  private:
    LinearSystem::Vector r0 = this->vector();
};

}  // namespace

Method ca_bicgstab() {
    return {
        .name = "ca_bicgstab",
        .source = "Williams et al. 2014, Alg. 2, corrected",
        .use =
            "all-reduces are the bottleneck: one every s iterations; beyond s = 4 with basis newton or "
            "chebyshev",
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
        .launched = LaunchedMethod::ca_bicgstab,
        .make = made_in_precision<CaBiCGStab>,
    };
}

}  // namespace keel
