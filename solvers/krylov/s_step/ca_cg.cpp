// CA-CG: conjugate gradients with one all-reduce every s iterations (Toledo 1995; Hoemmen 2010). A must be
// symmetric and positive definite (semi-definite with b in its range). In exact arithmetic the iterates are
// those of cg.cpp for every s and basis; the numbers in the margin are those of the same steps there (Saad,
// Alg. 6.18).
//
// Per outer step of s iterations: 2s - 1 applications, s exchanges (paired; 2s - 1 sequential;
// ceil(s / depth) of deep ghosts with matrix powers, whose redundant work comes on top: grid_system.hpp), 1
// all-reduce of (2s+1)(s+1) words. Vectors: p, 2s - 1 further basis vectors and a spare, 2s + 1, besides x
// and r. About (2s - 1) F_A + 2 (2s+1)(s+1) + 6 (2s+1) flops per cell and outer step (newton: 3 more for each
// application, chebyshev: 5), F_A those of an application.
//
// Weakness: as ca_bicgstab.cpp, but the degree is half of that one's. Monomial bases keep CG's counts up to
// s = 4, cost 40 % more iterations at s = 8 and fail from s = 12 on; Newton and Chebyshev keep them up to
// s = 16 with Jacobi scaling or a constant coefficient.

#include "kernels/bodies/krylov/ca_cg.hpp"
#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/s_step/numbers.hpp"
#include "solvers/krylov/s_step/s_step.hpp"

namespace keel {
namespace {

template <class Scalar>
class CaConjugateGradients : public PairMethod<Scalar> {
  public:
    explicit CaConjugateGradients(const MethodSetup& setup) : PairMethod<Scalar>(setup, 1) {}

    Outcome iterate(const KrylovMethod::Run& run, Report& report) override {
        auto V = this->space();
        return bodies::ca_cg(this->A, run, report, V, this->p, this->next_p);
    }
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
        .keys = keys_of_pairs(),
        .independent = independent_pairs(1),
        .launched = LaunchedMethod::ca_cg,
        .make = made_in_precision<CaConjugateGradients>,
    };
}

}  // namespace keel
