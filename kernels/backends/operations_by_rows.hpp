#pragma once

// Operations of a backend that runs on processor cores: it has one verb more,
//   for_each_row(Cells, body(low, high, q, j, k), weight)  the cells low <= i < high of each row; each counts `weight`
//                                                          times when the work is judged worth more than one thread

#include "kernels/backends/operations_on.hpp"
#include "kernels/backends/rows.hpp"
#include "kernels/backends/transfer_rows.hpp"

namespace keel {

// What is quicker by rows of what a cycle asks, in either precision. Base: CycleOperationsOn, or a class derived from it.
template <class Base, class Real = double>
class CyclesByRows : public Base {
  public:
    using Base::Base;

    Work restrict_residual(Field coarse, const Stencil& L, Field u, Field f) override {
        const Cells cells = this->coarser(coarse, L.part);
        return this->in_dimensions([&](auto D) {
            const RestrictRow<D, Real> row{this->view_of(coarse), this->template residual_body<D>(L, u, f),
                                           this->coloured(L)};
            this->backend().for_each_row(cells, row, children(D));
            return this->work(row.cost(), cells.count());
        });
    }
    Work interpolate_constant_add(Field fine, Field coarse) override {
        return this->in_dimensions([&](auto D) {
            return interpolate(InterpolateConstant<D, Real>{this->view_of(fine), this->view_of(coarse)});
        });
    }
    Work interpolate_linear_add(Field fine, Field coarse) override {
        return this->in_dimensions([&](auto D) {
            return interpolate(InterpolateLinear<D, Real>{this->view_of(fine), this->view_of(coarse)});
        });
    }

  private:
    template <class Interpolation>
    Work interpolate(const Interpolation& interpolation) {
        this->backend().for_each_row(this->all(), InterpolateRow<Interpolation, Real>{interpolation});
        return this->work(Interpolation::cost, this->all().count());
    }
};

template <class Backend>
class OperationsByRows : public CyclesByRows<OperationsOn<Backend>> {
  public:
    using CyclesByRows<OperationsOn<Backend>>::CyclesByRows;

    Work solve_incompletely(Field z, const Stencil& L, Field inverse, Field r) override {
        run_by_box(SolveIncompletely{this->incomplete(inverse, L), z.view(), r.view()});
        return IncompleteBlocks::solve_cost(this->layout().dimensions()) * this->cells();
    }
    Work solve_exactly(Field z, Buffer factors, Field r) override {
        run_by_box(SolveExactly{this->exact(factors), z.view(), r.view()});
        return SolveExactly::cost(this->layout().extent()) * this->cells();
    }

  private:
    // A box is as much work as its cells.
    template <class Body>
    void run_by_box(const Body& body) {
        const Cells boxes = this->each_box();
        this->backend().for_each_row(boxes, Row<Body>{body, boxes}, this->layout().box_cells().cells());
    }
};

}  // namespace keel
