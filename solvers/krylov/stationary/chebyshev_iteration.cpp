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

#include <algorithm>
#include <cmath>

#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/methods.hpp"

namespace keel {
namespace {

class ChebyshevIteration : public MethodOfSystem {
  public:
    explicit ChebyshevIteration(const MethodSetup& setup) : MethodOfSystem(setup), spectrum(setup.spectrum) {}

    void adopt(const Spectrum& bounds) override { spectrum = bounds; }

    Outcome iterate(const Run& run, Report& report) override {
        const auto& [x, r, rr, target, limit, scale] = run;
        if (!(spectrum.lowest > 0) || !(spectrum.highest > spectrum.lowest))
            return report.breakdown("lowest eigenvalue");
        const double theta = (spectrum.highest + spectrum.lowest) / 2;
        const double delta = (spectrum.highest - spectrum.lowest) / 2;
        const double sigma = theta / delta;                  // 2
        double rho = 1 / sigma;                              // 2
        double bound = std::sqrt(rr);                        // |r| / T_k(sigma)
        A.combine(d, std::array{1 / theta}, std::array{r});  // 2
        for (int k = 0; k < limit; ++k) {                    // 3
            A.axpby(x, 1, x, 1, d);                          // 4
            A.apply(Ad, d);
            A.axpby(r, 1, r, -1, Ad);                        // 5
            bound *= rho;                                    // T_k / T_{k+1}
            const double next = 1 / (2 * sigma - rho);       // 6
            A.axpby(d, next * rho, d, 2 * next / delta, r);  // 7
            rho = next;
            ++report.iterations;
            report.residuals.push_back(bound / scale);
            if (bound <= target) return Outcome::converged;
        }
        return Outcome::iteration_limit;
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
        .make = made<ChebyshevIteration>,
    };
}

}  // namespace keel
