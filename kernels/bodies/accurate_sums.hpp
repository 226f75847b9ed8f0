#pragma once

// Inner products to twice a double's precision, in two steps: over a slice of a box (a plane, or a row of the
// only one), then over the slices of the box in order. A sum is kept as two doubles between steps. Each body
// forms one sum: a pair of fields and a slice take the place of a cell.

#include <cstddef>

#include "kernels/bodies/vector.hpp"
#include "kernels/double_double.hpp"
#include "kernels/layout/box.hpp"
#include "kernels/layout/storage.hpp"

namespace keel {

// Flops of a term: two fused multiply-adds, an exact sum, and two additions of what was lost.
inline constexpr double accurate_product_flops = 2 * 2 + 6 + 2;

// The memory of sums: max_terms of them for each box and slice.
struct KeptSums {
    double* values;
    int slices;  // slices of a box

    static constexpr int slices_of(const Index& extent) { return extent[2] > 1 ? extent[2] : extent[1]; }
    static constexpr std::size_t room(std::size_t boxes, int slices) {
        return boxes * static_cast<std::size_t>(slices) * max_terms * 2;
    }
    constexpr std::size_t place(int q, int slice, int n) const {
        return 2 * (static_cast<std::size_t>(q * slices + slice) * max_terms + static_cast<std::size_t>(n));
    }
    constexpr DoubleDouble get(int q, int slice, int n) const {
        return {values[place(q, slice, n)], values[place(q, slice, n) + 1]};
    }
    constexpr void put(int q, int slice, int n, const DoubleDouble& sum) const {
        values[place(q, slice, n)] = sum.high;
        values[place(q, slice, n) + 1] = sum.low;
    }
};

// The n-th inner product over a slice, by Dot2 of Ogita, Rump and Oishi: as if in twice the precision and
// then rounded to it.
struct SumSlice {
    InnerProducts products;
    const Window* windows;
    Index extent;  // cells of a box
    KeptSums kept;

    constexpr void operator()(int q, int n, int slice, int) const {
        const Window& window = windows[q];
        const bool plane = extent[2] > 1;
        const int k = window.at[2] + (plane ? slice : 0);
        const int first = plane ? 0 : slice;
        const int last = plane ? extent[1] : slice + 1;
        const InnerProduct pair = products.term(static_cast<std::size_t>(n));
        double high = 0;
        double low = 0;
        for (int j = window.at[1] + first; j < window.at[1] + last; ++j)
            for (int i = window.at[0]; i < window.at[0] + extent[0]; ++i) {
                const DoubleDouble term =
                    exact_product(pair.x(window.block, i, j, k), pair.y(window.block, i, j, k));
                const DoubleDouble sum = exact_sum(high, term.high);
                high = sum.high;
                low += sum.low + term.low;
            }
        kept.put(q, slice, n, exact_sum(high, low));
    }
};

// The sum of the n-th product over a box, in the place of its first slice.
struct AddSlices {
    KeptSums kept;

    constexpr void operator()(int q, int n, int, int) const {
        DoubleDouble sum = kept.get(q, 0, n);
        for (int slice = 1; slice < kept.slices; ++slice) sum += kept.get(q, slice, n);
        kept.put(q, 0, n, sum);
    }
};

// The n-th number from `first` on of the sums over boxes, high and low parts in turn: a sum over one cell, by
// which backends bring numbers to the host.
struct PartOfSum {
    KeptSums kept;
    std::size_t first;

    constexpr double operator()(std::size_t n, int q, int, int, int) const {
        return kept.values[kept.place(q, 0, 0) + first + n];
    }
    constexpr double operator()(int q, int, int, int) const {
        return kept.values[kept.place(q, 0, 0) + first];
    }
    constexpr PartOfSum term(std::size_t n) const { return {kept, first + n}; }
};

}  // namespace keel
