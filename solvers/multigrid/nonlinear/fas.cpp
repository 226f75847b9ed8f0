#include "solvers/multigrid/nonlinear/fas.hpp"

#include <tuple>
#include <utility>

#include "kernels/check.hpp"

namespace keel {

FasMap::FasMap(Hierarchy& hierarchy, const MultigridOptions& options, int bottom_sweeps, const Reaction& phi,
               Field f)
    : levels_(hierarchy), options_(options), bottom_sweeps_(bottom_sweeps), phi_(phi), f_(f), restricted_(1) {
    for (int l = 1; l < hierarchy.levels(); ++l)
        check(hierarchy.has(l) && hierarchy.redistribution(l) == nullptr,
              "the levels of a full approximation have the finest one's boxes");
    for (int l = 1; l < hierarchy.levels(); ++l)
        restricted_.push_back(hierarchy.level(l).plain->make_field());
}

// The level's own fields are those of the caller while `action` runs.
template <class Action>
void FasMap::with_fields(Vector u, const Action& action) {
    Level& finest = levels_.level(0);
    const auto own = std::pair(std::exchange(finest.u, u), std::exchange(finest.f, f_));
    action();
    std::tie(finest.u, finest.f) = own;
}

void FasMap::relax(Level& level, int sweeps) {
    for (int sweep = 0; sweep < sweeps; ++sweep)
        for (const Colour colour : {Colour::red, Colour::black})
            level.ghosts->run(level.u, [&](Part part) {
                level.operations.relax_newton(level.u, level.L.on(part), phi_, level.f, colour);
            });
}

void FasMap::smooth(Vector u, int sweeps) {
    with_fields(u, [&] { relax(levels_.level(0), sweeps); });
}

void FasMap::cycle(int l) {
    Level& fine = levels_.level(l);
    if (l + 1 == levels_.levels()) return relax(fine, bottom_sweeps_);
    relax(fine, options_.pre);

    Level& coarse = levels_.level(l + 1);
    form_residual(fine, fine.r);
    fine.operations.add_reaction(fine.r, fine.r, -1, phi_, fine.u);
    coarse.operations.fill(coarse.u, 0.0);  // ghosts outside the domain, which interpolation has filled
    fine.operations.restrict_to(coarse.u, fine.u);
    fine.operations.restrict_to(coarse.f, fine.r);
    const Field mean = restricted_[static_cast<std::size_t>(l + 1)];
    coarse.operations.copy(mean, coarse.u);
    coarse.ghosts->run(coarse.u,
                       [&](Part part) { coarse.operations.apply(coarse.r, coarse.L.on(part), coarse.u); });
    coarse.operations.add_reaction(coarse.r, coarse.r, 1, phi_, coarse.u);
    coarse.operations.axpby(coarse.f, 1, coarse.f, 1, coarse.r);

    cycle(l + 1);
    coarse.operations.axpby(coarse.u, 1, coarse.u, -1, mean);
    interpolate_add(fine, coarse, options_.interpolation);
    relax(fine, options_.post);
}

void FasMap::evaluate(Vector g, Vector u) {
    levels_.level(0).operations.copy(g, u);
    with_fields(g, [&] { cycle(0); });
}

void FasMap::start(Vector u) {
    with_fields(u, [&] {
        const int last = levels_.levels() - 1;
        for (int l = 0; l < last; ++l)
            levels_.level(l).operations.restrict_to(levels_.level(l + 1).f, levels_.level(l).f);
        for (int l = 0; l <= last; ++l) levels_.level(l).operations.fill(levels_.level(l).u, 0.0);
        cycle(last);
        for (int l = last - 1; l >= 0; --l) {
            interpolate_add(levels_.level(l), levels_.level(l + 1), Interpolation::linear);
            cycle(l);
        }
    });
}

double FasMap::residual(Vector u) {
    Level& finest = levels_.level(0);
    if (start_residual_ == 0) {
        finest.operations.copy(finest.r, f_);
        finest.operations.shift(finest.r, -phi_(0.0));
        start_residual_ = max_norm(finest, finest.r);
        if (start_residual_ == 0) start_residual_ = 1;
    }
    finest.ghosts->run(u);
    finest.operations.residual(finest.r, finest.L, u, f_);
    finest.operations.add_reaction(finest.r, finest.r, -1, phi_, u);
    return max_norm(finest, finest.r) / start_residual_;
}

}  // namespace keel
