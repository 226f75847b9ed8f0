#include "solvers/amg/cycle.hpp"

#include <cmath>

#include "solvers/krylov/methods.hpp"

namespace keel {

void AmgCycle::descend(std::size_t l, Field x, Field b) {
    AmgLevel& level = hierarchy_.level(l);
    if (!level.transfer) {
        hierarchy_.coarsest().solve(x, b);
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

std::unique_ptr<BottomSolver> make_amg_solver(SparseMatrix& matrix, AmgCycle& M,
                                              const BottomOptions& options) {
    BottomOptions cycles = options;
    cycles.solver = algebraic_cycles().name;
    cycles.scaling = Scaling::none;
    return make_krylov(matrix, cycles, M);
}

}  // namespace keel
