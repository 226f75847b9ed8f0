#include "solvers/amg/cycle.hpp"

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
    if (from_zero) {
        operations.multiply(x, level.scale, b);
        return;
    }
    residual(level, x, b);
    operations.multiply(level.residual, level.scale, level.residual);
    operations.axpby(x, 1, x, 1, level.residual);
}

// b - A x
void AmgCycle::residual(AmgLevel& level, Field x, Field b) {
    level.A->exchange().run(x, [&](Part part) {
        level.operations->apply(std::span(&level.residual, 1), level.A->plain().on(part), std::span(&x, 1));
    });
    level.operations->axpby(level.residual, 1, b, -1, level.residual);
}

}  // namespace keel
