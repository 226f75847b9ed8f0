#include "solvers/amg/cycle.hpp"

#include <array>
#include <cmath>

#include "solvers/krylov/methods.hpp"
#include "solvers/krylov/preconditioned_krylov.hpp"
#include "solvers/systems/sparse/sparse_system.hpp"

namespace keel {
namespace {

// Per iteration: 1 application of A and 1 of M, an all-reduce of 1 word, which only the stopping test needs. Vectors: z and Az
// besides x and r.
class Cycles : public KrylovMethod {
  public:
    Cycles(LinearSystem& system, Preconditioner& preconditioner)
        : A(system), M(preconditioner), z(A.make_vector()), Az(A.make_vector()) {}

    Outcome iterate(const Run& run, Report& report) override {
        const auto& [x, r, rr_start, target, limit, scale] = run;
        for (int k = 0; k < limit; ++k) {
            M.apply(z, r);
            A.axpby(x, 1, x, 1, z);
            A.apply(Az, z);
            A.axpby(r, 1, r, -1, Az);
            ++report.iterations;
            const double rr = A.dot(r, r);
            report.residuals.push_back(std::sqrt(rr) / scale);
            if (std::sqrt(rr) <= target) return Outcome::converged;
            if (!std::isfinite(rr)) return report.breakdown("(r,r)");
        }
        return Outcome::iteration_limit;
    }

  private:
    LinearSystem& A;
    Preconditioner& M;
    LinearSystem::Vector z, Az;
};

class AmgSolver : public KrylovSolver {
  public:
    AmgSolver(SparseMatrix& matrix, AmgCycle& M, const BottomOptions& options)
        : stop_{options.tolerance, options.max_iterations, options.max_restarts},
          A_(matrix, DiagonalScaling::none),
          M_(M),
          solver_(A_, std::make_unique<Cycles>(A_, M)) {}

    void update() override {}  // a matrix stays as it is

    Report solve(Field u, Field f) override {
        if (const std::string vanished = M_.vanished(); !vanished.empty()) return unsolved(A_, u, vanished);
        return solver_.solve(u, f, stop_);
    }

  private:
    Stop stop_;
    SparseSystem A_;
    AmgCycle& M_;
    Solver solver_;
};

}  // namespace

void AmgCycle::descend(std::size_t l, Field x, Field b) {
    AmgLevel& level = hierarchy_.level(l);
    if (!level.transfer) {
        const std::vector<double> right = level.A->read(b);
        const std::vector<double> solution = hierarchy_.coarsest().solve(right);
        level.A->assign(x, [&, first = level.A->first_row()](std::int64_t row) {
            return solution[static_cast<std::size_t>(row - first)];
        });
        return;
    }
    AmgLevel& next = hierarchy_.level(l + 1);
    smooth(level, x, b, true, false);
    residual(level, x, b);
    level.transfer->restrict_to(next.b, level.residual);
    descend(l + 1, next.x, next.b);
    level.transfer->interpolate(level.residual, next.x);
    level.operations->axpby(x, 1, x, 1, level.residual);
    smooth(level, x, b, false, true);
}

void AmgCycle::smooth(AmgLevel& level, Field x, Field b, bool from_zero, bool backward) {
    Operations& operations = *level.operations;
    if (hierarchy_.options().smoother == AmgSmoother::gauss_seidel) {
        if (from_zero)
            level.A->clear(x);
        else
            level.A->exchange().run(x);
        operations.sweep(x, level.A->plain(), b, backward);
        return;
    }
    if (hierarchy_.options().smoother == AmgSmoother::chebyshev) {
        polynomial(level, x, b, from_zero);
        return;
    }
    if (from_zero) {
        operations.multiply(x, level.scale, b);
        return;
    }
    residual(level, x, b);
    operations.multiply(level.residual, level.scale, level.residual);
    operations.axpby(x, 1, x, 1, level.residual);
}

// Saad, "Iterative methods for sparse linear systems", algorithm 12.1, for D^-1 A on the upper part of its spectrum: what is below is
// left to coarser levels.
void AmgCycle::polynomial(AmgLevel& level, Field x, Field b, bool from_zero) {
    constexpr double part = 0.25;
    Operations& operations = *level.operations;
    const double theta = level.bound * (1 + part) / 2;
    const double delta = level.bound * (1 - part) / 2;
    const double sigma = theta / delta;
    double rho = 1 / sigma;
    // D^-1 (b - A x) goes where residuals are.
    if (from_zero) {
        operations.multiply(level.residual, level.scale, b);
        operations.axpby(x, 1 / theta, level.residual, 0, level.residual);
        operations.axpby(level.step, 1 / theta, level.residual, 0, level.residual);
    } else {
        residual(level, x, b);
        operations.multiply(level.residual, level.scale, level.residual);
        operations.axpby(level.step, 1 / theta, level.residual, 0, level.residual);
        operations.axpby(x, 1, x, 1, level.step);
    }
    for (int k = 1; k < hierarchy_.options().degree; ++k) {
        residual(level, x, b);
        operations.multiply(level.residual, level.scale, level.residual);
        const double next = 1 / (2 * sigma - rho);
        operations.axpby(level.step, next * rho, level.step, 2 * next / delta, level.residual);
        operations.axpby(x, 1, x, 1, level.step);
        rho = next;
    }
}

// b - A x
void AmgCycle::residual(AmgLevel& level, Field x, Field b) {
    level.A->exchange().run(x);
    level.operations->apply(std::span(&level.residual, 1), level.A->plain(), std::span(&x, 1));
    level.operations->axpby(level.residual, 1, b, -1, level.residual);
}

std::unique_ptr<KrylovSolver> make_amg_solver(SparseMatrix& matrix, AmgCycle& M,
                                              const BottomOptions& options) {
    return std::make_unique<AmgSolver>(matrix, M, options);
}

std::unique_ptr<KrylovSolver> make_amg_krylov(SparseMatrix& matrix, AmgCycle& M,
                                              const BottomOptions& options) {
    return make_preconditioned_krylov(
        std::make_unique<SparseSystem>(matrix, DiagonalScaling::none,
                                       static_cast<std::size_t>(vectors_at_once(options))),
        options, M);
}

}  // namespace keel
