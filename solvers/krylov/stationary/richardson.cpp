// Richardson's iteration: Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., Example 4.1, with the
// stopping test after every step. The eigenvalues of A must be real and not negative.
//
// x += omega r multiplies the residual's part along an eigenvector of eigenvalue lambda by 1 - omega lambda.
// With bounds [lowest, highest] the best omega is 2 / (lowest + highest): the factors of both ends then are
// of the same size, (highest - lowest) / (highest + lowest). Where lowest is 0, as without scaling and where
// the problem is singular, that would make it -1 at the upper end, which a checkerboard attains, and leave
// such a part as it is for ever; omega is 1 / highest there, with factors from 0 to 1, for at most twice the
// iterations.
//
// Per iteration: 1 application (1 exchange), 1 all-reduce of 1 word, which nothing but the stopping test
// needs. Vectors: Ar besides x and r. F_A + 8 flops per cell.
// Weakness: the iterations for a digit grow with the condition, those of CG with its root. Measured on 16^3
// cells with constant coefficients and a random right-hand side, scaled, to 1e-3: 156 iterations under
// Dirichlet's condition (CG 28), 5549 in a periodic domain with a = 0.9 (CG 41).

#include <cmath>

#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/methods.hpp"
#include "solvers/systems/linear_system.hpp"

namespace keel {
namespace {

class Richardson : public MethodOfSystem {
  public:
    explicit Richardson(const MethodSetup& setup) : MethodOfSystem(setup) { adopt(setup.spectrum); }

    void adopt(const Spectrum& spectrum) override {
        omega = spectrum.lowest > 0 ? 2 / (spectrum.lowest + spectrum.highest) : 1 / spectrum.highest;
    }

    Outcome iterate(const Run& run, Report& report) override {
        const auto& [x, r, rr_start, target, limit, scale] = run;
        if (unusable(omega)) return report.breakdown("omega");
        for (int k = 0; k < limit; ++k) {
            A.apply(Ar, r);
            A.axpby(x, 1, x, omega, r);
            A.axpby(r, 1, r, -omega, Ar);
            ++report.iterations;
            const double rr = A.dot(r, r);
            report.residuals.push_back(std::sqrt(rr) / scale);
            if (std::sqrt(rr) <= target) return Outcome::converged;
            if (!std::isfinite(rr)) return report.breakdown("(r,r)");
        }
        return Outcome::iteration_limit;
    }

  private:
    double omega = 0;
    Vector Ar = vector();
};

}  // namespace

Method richardson() {
    return {
        .name = "richardson",
        .source = "Richardson 1911; Saad, Example 4.1",
        .use = "the least that an iteration with a stopping test can do; slow",
        .scaling = DiagonalScaling::symmetric,
        .exchanges = 1,
        .reductions = 1,
        .words = 1,
        .vectors = 1,
        .applications = 1,
        .flops = 8,
        .make = made<Richardson>,
    };
}

}  // namespace keel
