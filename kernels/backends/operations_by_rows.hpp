#pragma once

// Operations of a backend that runs on processor cores: it has one verb more,
//   for_each_row(Cells, body(low, high, q, j, k), weight)  the cells low <= i < high of each row; each counts `weight`
//                                                          times when the work is judged worth more than one thread

#include "kernels/backends/operations_on.hpp"
#include "kernels/backends/rows.hpp"

namespace keel {

template <class Backend>
class OperationsByRows : public OperationsOn<Backend> {
  public:
    using OperationsOn<Backend>::OperationsOn;

    Work restrict_residual(Field coarse, const Stencil& L, Field u, Field f) override {
        const Cells cells = this->coarser(coarse, L.part);
        this->backend().for_each_row(cells, RestrictRow{coarse.view(), {StencilView(L), u.view(), f.view()}},
                                     8);
        return RestrictResidual::cost * cells.count();
    }

    Work solve_incompletely(Field z, const Stencil& L, Field inverse, Field r) override {
        run_by_box(SolveIncompletely{this->incomplete(inverse, L), z.view(), r.view()});
        return IncompleteBlocks::solve_cost * this->cells();
    }
    Work solve_exactly(Field z, Buffer factors, Field r) override {
        run_by_box(SolveExactly{this->exact(factors), z.view(), r.view()});
        return SolveExactly::cost(this->layout().width()) * this->cells();
    }

  private:
    // A box is as much work as its cells.
    template <class Body>
    void run_by_box(const Body& body) {
        const Cells boxes = this->each_box();
        this->backend().for_each_row(boxes, Row<Body>{body, boxes}, cube(this->layout().width()).cells());
    }
};

}  // namespace keel
