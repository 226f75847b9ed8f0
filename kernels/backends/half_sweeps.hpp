#pragma once

// Half sweeps of Gauss-Seidel one after the other, as cells and bodies: backends run them so or fuse them
// into one pass.

#include <type_traits>

#include "kernels/backends/cycle_operations_on.hpp"

namespace keel {

// Base: CycleOperationsOn, or a class derived from it.
template <class Base, class Real = double>
class HalfSweepsOn : public Base {
  public:
    using Base::Base;

  protected:
    template <int D>
    using RelaxOf = Relax<D, Real, typename Base::Face>;

    // Passes the function that makes the body of a half sweep of Relax. Without over-relaxation the old value
    // is not read.
    template <int D, class Action>
    static Work with_relaxation(double relaxation, const Action& action) {
        if (relaxation == 1.0) return action([](const RelaxOf<D>& body) { return body; });
        return action([relaxation](const RelaxOf<D>& body) {
            return OverRelax<D, Real, typename Base::Face>{body, static_cast<Real>(relaxation)};
        });
    }
    template <class Body>
    struct HalfSweep {
        Cells cells;
        Body body;
    };
    // Cells by which the interior of half sweeps lies within a block, counted from the corner of the first
    // one's ghost layers, or of another's, which has one less. `last`: ghost layers of the last half sweep.
    Index margin_of_sweeps(int last, const HalfSweeps& sweeps) const {
        return this->layout().layers(this->shape().ghosts + last + sweeps.count() - 1);
    }
    // The n-th half sweep, on a ghost layer less than the one before.
    template <int D, class Relaxed>
    auto half_sweep(int n, int last, Field u, const Stencil& L, Field f, const HalfSweeps& all,
                    const Relaxed& relaxed) const {
        check_at_most(all.count() + last, this->shape().ghosts,
                      "each half sweep takes a ghost layer of those before it");
        const int layers = all.count() + last - 1 - n;
        const auto view = this->views_for(u.with_ghosts(layers));
        Cells cells = this->cells_for(u.with_ghosts(layers), L.part);
        cells.margin = margin_of_sweeps(last, all);
        const Colour colour = all.colours[static_cast<std::size_t>(n)];
        // The corner is off by the layers in each direction.
        cells.colour = (static_cast<int>(colour) + D * layers) & 1;
        const auto body =
            relaxed(RelaxOf<D>{view(u), StencilView<D, Real, typename Base::Face>(L, layers), view(f)});
        return HalfSweep<std::decay_t<decltype(body)>>{cells, body};
    }
    // A pass over memory for each.
    Work relax_one_by_one(int last, Field u, const Stencil& L, Field f, const HalfSweeps& sweeps) {
        return this->in_dimensions([&](auto D) {
            return with_relaxation<D>(sweeps.relaxation, [&](const auto& relaxed) {
                Work work;
                if (sweeps.guess == Guess::zero && L.part != Part::shell) work += this->fill(u, 0.0);
                for (int n = 0; n < sweeps.count(); ++n) {
                    const auto sweep = this->template half_sweep<D>(n, last, u, L, f, sweeps, relaxed);
                    work += this->relax_half(sweep.cells, sweep.body);
                }
                return work;
            });
        });
    }
};

}  // namespace keel
