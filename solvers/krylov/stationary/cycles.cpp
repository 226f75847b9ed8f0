// Cycles of multigrid M as an iteration of their own, x += M (b - A x), with the stopping test after every
// one: they are the preconditioner of nothing.
//
// Per iteration: 1 application of A (1 exchange) and 1 of M, an all-reduce of 1 word, which only the stopping
// test needs. Vectors: z and Az besides x and r. F_A + 8 flops per cell, and those of M.
// Weakness: converges only where M brings every part of the residual down, and ends where |r| has grown
// 1e5-fold; conjugate gradients with M need not more cycles.

#include <cmath>

#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/methods.hpp"
#include "solvers/systems/preconditioners/preconditioner.hpp"

namespace keel {
namespace {

constexpr double most_growth = 1e5;

class Cycles : public MethodOfSystem {
  public:
    using MethodOfSystem::MethodOfSystem;

    Outcome iterate(const Run& run, Report& report) override {
        const auto& [x, r, rr_start, target, limit, scale] = run;
        for (int k = 0; k < limit; ++k) {
            M->apply(z, r);
            A.axpby(x, 1, x, 1, z);
            A.apply(Az, z);
            A.axpby(r, 1, r, -1, Az);
            ++report.iterations;
            const double rr = A.dot(r, r);
            report.residuals.push_back(std::sqrt(rr) / scale);
            if (std::sqrt(rr) <= target) return Outcome::converged;
            if (!(rr <= most_growth * most_growth * rr_start))  // or it is not finite
                return report.breakdown("convergence: |r| has grown 1e5-fold");
        }
        return Outcome::iteration_limit;
    }

  private:
    Vector z = vector(), Az = vector();
};

}  // namespace

Method algebraic_cycles() {
    return {
        .name = "amg",
        .source = "Vanek, Mandel, Brezina 1996; Ruge, Stueben 1987; keys of [amg]",
        .use = "bottom grids of many cells, whatever their coefficients; its cycle comes on top",
        .exchanges = 1,
        .reductions = 1,
        .words = 1,
        .vectors = 2,
        .applications = 1,
        .flops = 8,
        .keys = {"tolerance", "max_iterations", "max_restarts"},
        .preconditioning = Preconditioning::symmetric,
        .flexible = true,
        .make_preconditioned = made<Cycles>,
    };
}

}  // namespace keel
