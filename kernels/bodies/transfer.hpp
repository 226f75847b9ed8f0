#pragma once

// Between a level and the next coarser one: the bodies of one coarse cell (restriction) or one fine cell
// (interpolation). Boxes coarsen in place, so all of it is local to a box; linear interpolation reads one
// ghost layer of the coarse box, edges and corners included. A cell has 2^D children, a face 2^(D-1) that
// tile it. Costs are per cell of the loop.

#include <type_traits>

#include "kernels/bodies/stencil.hpp"
#include "kernels/cost.hpp"
#include "kernels/layout/view.hpp"

namespace keel {

constexpr int children(int dimensions) {
    return 1 << dimensions;
}

// The mean over the fine cells of coarse cell (i,j,k) of anything that has a value per fine cell.
template <int D, class Value>
constexpr auto mean_of_children(const Value& fine, int q, int i, int j, int k) {
    using Real = std::decay_t<decltype(fine(q, i, j, k))>;
    const int x = 2 * i;
    const int y = 2 * j;
    if constexpr (D == 2)
        return Real(0.25) *
               (fine(q, x, y, k) + fine(q, x + 1, y, k) + fine(q, x, y + 1, k) + fine(q, x + 1, y + 1, k));
    const int z = 2 * k;
    return Real(0.125) * (fine(q, x, y, z) + fine(q, x + 1, y, z) + fine(q, x, y + 1, z) +
                          fine(q, x + 1, y + 1, z) + fine(q, x, y, z + 1) + fine(q, x + 1, y, z + 1) +
                          fine(q, x, y + 1, z + 1) + fine(q, x + 1, y + 1, z + 1));
}

// coarse = mean of the fine cells
template <int D, class Real = double>
struct Restrict {
    ViewOf<Real> coarse;
    ViewOf<Real> fine;

    static constexpr Cost cost{children(D), children(D), 1};
    constexpr void operator()(int q, int i, int j, int k) const {
        coarse(q, i, j, k) = mean_of_children<D>(fine, q, i, j, k);
    }
};

// coarse = mean of the fine residuals f - L u, which are never stored, all or those of one colour
template <int D, class Real = double, class Fine = Residual<D, Real>>
struct RestrictResidual {
    ViewOf<Real> coarse;
    Fine residual;

    static constexpr Cost cost{children(D) * (1 + Fine::cost.flops), children(D) * Fine::cost.reads, 1};
    constexpr void operator()(int q, int i, int j, int k) const {
        coarse(q, i, j, k) = mean_of_children<D>(residual, q, i, j, k);
    }
};

// Coarse face coefficient: the mean of the fine faces that tile the face, times `scale` (1/4, as c has
// 1/h^2). `direction` is the face's normal; the loop runs over the faces 0..width of that direction.
template <int D>
struct RestrictFaces {
    View coarse;
    View fine;
    int direction;
    double scale;

    static constexpr Cost cost{children(D - 1) + 1, children(D - 1), 1};
    constexpr void operator()(int q, int i, int j, int k) const {
        const int x = 2 * i;
        const int y = 2 * j;
        const int sx = direction == 0 ? 0 : 1;  // first tangent: y for x-faces, else x
        const int sy = direction == 0 ? 1 : 0;
        if constexpr (D == 2) {
            coarse(q, i, j, k) = 0.5 * scale * (fine(q, x, y, k) + fine(q, x + sx, y + sy, k));
            return;
        }
        const int z = 2 * k;
        const int ty = direction == 2 ? 1 : 0;  // second tangent: y for z-faces, else z
        const int tz = direction == 2 ? 0 : 1;
        const double sum = fine(q, x, y, z) + fine(q, x + sx, y + sy, z) + fine(q, x, y + ty, z + tz) +
                           fine(q, x + sx, y + sy + ty, z + tz);
        coarse(q, i, j, k) = 0.25 * scale * sum;
    }
};

// How values of a coarse level become those of a fine one: as they are, or linear in each direction.
enum class Interpolation { constant, linear };

// Either interpolation has two steps, so that a row can take the first one once for two cells
// (transfer_rows.hpp): `across` interpolates the value of a coarse cell in all directions but x, and `along`
// goes on in x, from the values of the parent and of the nearer neighbour.

// fine += coarse, piecewise constant
template <int D, class Real = double>
struct InterpolateConstant {
    ViewOf<Real> fine;
    ViewOf<Real> coarse;

    static constexpr Cost cost{1, 1 + 1.0 / children(D), 1};
    constexpr Real& cell(int q, int i, int j, int k) const { return fine(q, i, j, k); }
    constexpr Real across(int q, int x, int j, int k) const {
        return coarse(q, x, j >> 1, D == 2 ? k : k >> 1);
    }
    static constexpr Real along(Real parent, Real) { return parent; }
    constexpr void operator()(int q, int i, int j, int k) const {
        fine(q, i, j, k) += across(q, i >> 1, j, k);
    }
};

// fine += coarse, linear in each direction: 3/4 of the parent and 1/4 of the nearer neighbour
template <int D, class Real = double>
struct InterpolateLinear {
    ViewOf<Real> fine;
    ViewOf<Real> coarse;

    static constexpr Cost cost{D == 2 ? 10 : 22, 1 + 1.0 / children(D), 1};
    constexpr Real& cell(int q, int i, int j, int k) const { return fine(q, i, j, k); }
    constexpr Real across(int q, int x, int j, int k) const {
        const int y = j >> 1;
        const int dy = (j & 1) != 0 ? 1 : -1;
        const auto along_y = [&](int zz) { return along(coarse(q, x, y, zz), coarse(q, x, y + dy, zz)); };
        if constexpr (D == 2) return along_y(k);
        const int z = k >> 1;
        const int dz = (k & 1) != 0 ? 1 : -1;
        return along(along_y(z), along_y(z + dz));
    }
    static constexpr Real along(Real parent, Real neighbour) {
        return Real(0.75) * parent + Real(0.25) * neighbour;
    }
    constexpr void operator()(int q, int i, int j, int k) const {
        const int x = i >> 1;
        const int dx = (i & 1) != 0 ? 1 : -1;
        fine(q, i, j, k) += along(across(q, x, j, k), across(q, x + dx, j, k));
    }
};

}  // namespace keel
