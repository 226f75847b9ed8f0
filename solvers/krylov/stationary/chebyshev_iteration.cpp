// Chebyshev's iteration without an all-reduce: Saad, Iterative Methods for Sparse Linear Systems, 2nd ed.,
// Alg. 12.1, whose step numbers are in the margin. The eigenvalues of A must lie in [lowest, highest], lowest
// above 0.
//
// The residual after k steps is T_k(Z) r / T_k(sigma), Z = (theta - A) / delta, so that |r_k| <= |r| /
// T_k(sigma): the number of steps is known before the first, and nothing is measured on the way. What is
// reported of each step is that bound; the solver's verification, one all-reduce, tells whether it was true.
// With an interval that is too short, as an estimated one may be, it is not, and the solver restarts; the
// parts outside it are damped less.
//
// Per iteration: 1 application (1 exchange), no all-reduce. Vectors: d, Ad besides x and r. F_A + 9 flops per
// cell.
// Weakness: as many steps as the interval asks for, whatever the right-hand side has of it. To 1e-2,
// Poisson's equation under Dirichlet's condition: 7 steps on 4^3 cells, 14 on 8^3, 27 on 16^3, where CG takes
// 4, 3 and 4 of two all-reduces.

#include "kernels/bodies/krylov/chebyshev.hpp"
#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/methods.hpp"

namespace keel {
namespace {

class ChebyshevIteration : public MethodOfSystem {
  public:
    explicit ChebyshevIteration(const MethodSetup& setup) : MethodOfSystem(setup), spectrum(setup.spectrum) {}

    void adopt(const Spectrum& bounds) override { spectrum = bounds; }

    Outcome iterate(const Run& run, Report& report) override {
        return bodies::chebyshev(A, run, report, spectrum.lowest, spectrum.highest, d, Ad);
    }

  private:
    Spectrum spectrum;
    Vector d = vector(), Ad = vector();
};

}  // namespace

Method chebyshev_iteration() {
    return {
        .name = "chebyshev",
        .source = "Golub and Varga 1961; Saad, Alg. 12.1",
        .use =
            "no all-reduce but the verification's; bottoms of 4^3 to 8^3 cells whose lowest eigenvalue is "
            "known",
        .scaling = DiagonalScaling::symmetric,
        .exchanges = 1,
        .reductions = 0,
        .words = 0,
        .vectors = 2,
        .applications = 1,
        .flops = 9,
        .keys = {"spectrum"},
        .launched = LaunchedMethod::chebyshev,
        .make = made<ChebyshevIteration>,
    };
}

}  // namespace keel
