#pragma once

// The only place that knows the storage order of a field.

#include <cstddef>

namespace keel {

// Cells of all local blocks of one field: view(q, i, j, k) is cell (i,j,k) of the rank's block q (a box, or
// boxes side by side); ghost cells have indices below 0 or from the block's extent on. A row has its even
// cells first and its odd ones behind them: the cells of one colour lie side by side, and so do their
// neighbours. In two dimensions plane = 0: whatever k is, it is the one plane. Trivially copyable, usable on
// a device.
template <class Real>
struct ViewOf {
    Real* origin;  // cell (0,0,0) of box 0
    // In bytes: how far an odd cell is from the middle of its neighbours, and from one row, plane, block to
    // the next.
    std::ptrdiff_t odd;
    std::ptrdiff_t row;
    std::ptrdiff_t plane;
    std::ptrdiff_t block;

    static constexpr std::ptrdiff_t half_value = sizeof(Real) / 2;

    // The place of a cell in a field of this shape, in bytes from the origin. In a loop over every other i
    // the compiler sees which cells are odd, and that i steps from value to value.
    constexpr std::ptrdiff_t place(int q, int i, int j, int k) const {
        return q * block + k * plane + j * row + i * half_value + ((i & 1) != 0 ? odd : 0);
    }
    static constexpr Real& at(Real* origin, std::ptrdiff_t place) {
        return *reinterpret_cast<Real*>(reinterpret_cast<char*>(origin) + place);
    }
    constexpr Real& operator()(int q, int i, int j, int k) const { return at(origin, place(q, i, j, k)); }
    constexpr Real& operator[](std::ptrdiff_t place) const { return at(origin, place); }

    // From the place of cell i to those of its neighbours in x.
    constexpr std::ptrdiff_t to_west(int i) const { return ((i & 1) != 0 ? -odd : odd) - half_value; }
    constexpr std::ptrdiff_t to_east(int i) const { return ((i & 1) != 0 ? -odd : odd) + half_value; }

    // The same values counted from the corner of `layers` ghost layers. If that is an odd cell, odd cells are
    // even ones now.
    constexpr ViewOf from_ghost(int layers) const {
        return {&(*this)(0, -layers, -layers, -layers), (layers & 1) != 0 ? -odd : odd, row, plane, block};
    }
};
using View = ViewOf<double>;

}  // namespace keel
