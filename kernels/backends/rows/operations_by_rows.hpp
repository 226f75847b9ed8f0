#pragma once

// Operations of a backend that runs on processor cores: it has one verb more,
//   for_each_row(Cells, body(low, high, q, j, k), weight = 1)
// which takes the cells low <= i < high of each row; a cell is as much work as `weight` others.

#include "kernels/backends/cycle_operations_on.hpp"
#include "kernels/backends/rows/rows.hpp"
#include "kernels/backends/rows/transfer_rows.hpp"

namespace keel {

// Transfers between levels, in either precision. Base: CycleOperationsOn, or a class derived from it.
template <class Base, class Real = double>
class TransfersByRows : public Base {
  public:
    using Base::Base;

    Work restrict_residual(Field coarse, const Stencil& L, Field u, Field f) override {
        const Cells cells = this->coarser(coarse, L.part);
        return this->in_dimensions([&](auto D) {
            const RestrictRow<D, Real, typename Base::Face> row{
                this->view_of(coarse), this->template residual_body<D>(L, u, f), this->coloured(L)};
            this->backend().for_each_row(cells, row, children(D));
            return this->work(row.cost(), cells.count());
        });
    }
    Work interpolate_add(Field fine, Field coarse, Interpolation interpolation,
                         std::optional<Colour> colour) override {
        const Cells cells = this->of_colour(colour);
        return this->with_interpolation(fine, coarse, interpolation, [&](const auto& body) {
            using Body = std::decay_t<decltype(body)>;
            this->backend().for_each_row(cells, InterpolateRow<Body, Real>{body, cells});
            return this->template work_of_interpolation<Body>(cells);
        });
    }
};

}  // namespace keel
