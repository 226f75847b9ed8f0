#pragma once

// Ghost cells outside the domain. The operator needs none of them (stencil.hpp); linear interpolation does.

#include <array>
#include <cstddef>

#include "kernels/layout/box.hpp"
#include "kernels/layout/view.hpp"

namespace keel {

// Ghost cells of local box `box` beyond the physical boundaries `outward`: -1 or +1 in the directions where
// they lie outside the domain, 0 in the others.
struct BoundaryItem {
    int box;
    Region cells;
    Index outward;

    constexpr const Index& size() const { return cells.size; }
};

// A factor for each direction and side: -1 for u = 0 on the face (Dirichlet), +1 for du/dn = 0 (Neumann).
using MirrorFactors = std::array<Sides<double>, 3>;

// ghost = factor * mirror image, direction by direction
template <class Real = double>
struct Reflect {
    ViewOf<Real> u;
    Index extent;  // cells of a block
    MirrorFactors factor;

    constexpr void operator()(const BoundaryItem& b, std::size_t, std::size_t, int i, int j, int k) const {
        const Index ghost{b.cells.lo[0] + i, b.cells.lo[1] + j, b.cells.lo[2] + k};
        Index mirror = ghost;
        Real sign = 1;
        for (std::size_t d = 0; d < 3; ++d) {
            if (b.outward[d] == 0) continue;
            mirror[d] = b.outward[d] < 0 ? -1 - ghost[d] : 2 * extent[d] - 1 - ghost[d];
            sign *= static_cast<Real>(b.outward[d] < 0 ? factor[d].low : factor[d].high);
        }
        u(b.box, ghost[0], ghost[1], ghost[2]) = sign * u(b.box, mirror[0], mirror[1], mirror[2]);
    }
};

}  // namespace keel
