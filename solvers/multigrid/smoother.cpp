#include "solvers/multigrid/smoother.hpp"

namespace keel {
namespace {

void half_sweep(Level& level, Operations& operations, Colour colour) {
    level.ghosts->run(level.u,
                      [&](Part part) { operations.relax(level.u, level.L.on(part), level.f, colour); });
}

void gauss_seidel(Level& level, Operations& operations, int sweeps, Colour first, Colour second) {
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        half_sweep(level, operations, first);
        half_sweep(level, operations, second);
    }
}

// u += p with p = a p + b D^-1 (f - L u)
void step(Level& level, Operations& operations, double a, double b) {
    level.ghosts->run(level.u, [&](Part part) {
        operations.polynomial_step(level.r, a, b, level.L.on(part), level.u, level.f);
    });
    operations.axpby(level.u, 1, level.u, 1, level.r);
}

void chebyshev(Level& level, Operations& operations, int sweeps, double ratio) {
    const double upper = level.jacobi_bound;
    const double lower = upper / ratio;
    const double theta = (upper + lower) / 2;
    const double delta = (upper - lower) / 2;
    const double sigma = theta / delta;
    double rho = 1 / sigma;
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        if (sweep == 0) {
            step(level, operations, 0.0, 1 / theta);
            continue;
        }
        const double next = 1 / (2 * sigma - rho);
        step(level, operations, next * rho, 2 * next / delta);
        rho = next;
    }
}

}  // namespace

void smooth(Level& level, Operations& operations, int sweeps, const MultigridOptions& options) {
    switch (options.smoother) {
        case Smoother::gsrb:
            return gauss_seidel(level, operations, sweeps, Colour::red, Colour::black);
        case Smoother::chebyshev:
            return chebyshev(level, operations, sweeps, options.chebyshev_ratio);
        case Smoother::jacobi:
            for (int sweep = 0; sweep < sweeps; ++sweep) step(level, operations, 0.0, options.jacobi_weight);
    }
}

void smooth_reversed(Level& level, Operations& operations, int sweeps, const MultigridOptions& options) {
    if (options.smoother == Smoother::gsrb)
        gauss_seidel(level, operations, sweeps, Colour::black, Colour::red);
    else  // a polynomial in D^-1 L, its own adjoint
        smooth(level, operations, sweeps, options);
}

void smooth_symmetric(Level& level, Operations& operations, int sweeps, const MultigridOptions& options) {
    smooth(level, operations, sweeps, options);
    if (options.smoother == Smoother::gsrb) half_sweep(level, operations, Colour::red);
}

}  // namespace keel
