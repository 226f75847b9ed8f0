#pragma once

// The only place that knows the storage order of a field.

#include <cstddef>

namespace keel {

// Cells of all local blocks of one field: view(q, i, j, k) is cell (i,j,k) of the rank's block q (a box, or boxes side by
// side); ghost cells have indices below 0 or from the block's extent on. In two dimensions plane = 0: whatever k is, it is
// the one plane. Trivially copyable, usable on a device.
template <class Real>
struct ViewOf {
    Real* origin;  // cell (0,0,0) of box 0
    std::ptrdiff_t row;
    std::ptrdiff_t plane;
    std::ptrdiff_t block;

    // Where a cell is in a field of this shape.
    constexpr std::ptrdiff_t place(int q, int i, int j, int k) const {
        return q * block + k * plane + j * row + i;
    }
    constexpr Real& operator()(int q, int i, int j, int k) const { return origin[place(q, i, j, k)]; }

    // The same values counted from the corner of so many ghost layers.
    constexpr ViewOf from_ghost(int layer) const {
        return {origin - layer * (1 + row + plane), row, plane, block};
    }
};
using View = ViewOf<double>;

}  // namespace keel
