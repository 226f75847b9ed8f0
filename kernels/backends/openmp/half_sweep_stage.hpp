#pragma once

// A stage of a wavefront of half sweeps.

#include "kernels/backends/rows/rows.hpp"
#include "kernels/bodies/stencil.hpp"
#include "kernels/cost.hpp"

namespace keel {

// The first half sweep from zeros, without reading them: a cell of its colour, and a cell of the other
// colour.
template <class HalfSweep>
struct FromZero {
    HalfSweep half_sweep;

    static constexpr bool repeatable = true;
    auto& cell(int q, int i, int j, int k) const { return half_sweep.cell(q, i, j, k); }
    void operator()(int q, int i, int j, int k) const { cell(q, i, j, k) = half_sweep.from_zero(q, i, j, k); }
};
template <class HalfSweep>
struct StillZero {
    HalfSweep half_sweep;

    static constexpr bool repeatable = true;
    auto& cell(int q, int i, int j, int k) const { return half_sweep.cell(q, i, j, k); }
    void operator()(int q, int i, int j, int k) const { cell(q, i, j, k) = 0; }
};

// A half sweep of the cells of one colour by rows; the first one of a pass may start from zeros.
template <class HalfSweep>
struct HalfSweepStage {
    struct OfRow {
        HalfSweep half_sweep;
        Cells cells;
        bool from_zero;

        // The cost of a cell of the colour; from zeros also of a cell of the other colour.
        Cost cost() const { return from_zero ? Cost{1, 2, 2} : HalfSweep::cost; }
        void operator()(int low, int high, int q, int j, int k) const {
            const int first = cells.first(low, q, j, k);
            if (!from_zero) return every_other_in_row(half_sweep, first, high, q, j, k);
            every_other_in_row(FromZero<HalfSweep>{half_sweep}, first, high, q, j, k);
            every_other_in_row(StillZero<HalfSweep>{half_sweep}, first == low ? low + 1 : low, high, q, j, k);
        }
    };

    Cells cells;
    OfRow body;
};

}  // namespace keel
