#pragma once

// Transfers between levels by rows. Cells of one level that lie side by side in memory have children, or
// parents, that do not (View): cell by cell the compiler cannot vectorise. So some cells at a time are
// brought into their natural order on the way.

#include <algorithm>

#include "kernels/backends/rows/rows.hpp"
#include "kernels/bodies/stencil.hpp"
#include "kernels/bodies/transfer.hpp"

namespace keel {

// Restriction fused with the residual: the residuals of fine rows are added up.
template <class Real, class Residual>
[[gnu::flatten]] void add_row(Real* sums, const Residual residual, int first, int cells, int q, int j,
                              int k) {
#pragma omp simd
    for (int i = 0; i < cells; ++i)
        sums[i] += residual(q, 2 * (first + i), j, k) + residual(q, 2 * (first + i) + 1, j, k);
}
// Sums of the first or the second cell of each pair, which are the cells of one colour.
template <int second, class Real, class Residual>
KEEL_WIDEST_VECTORS void add_every_other(Real* sums, const Residual residual, int first, int cells, int q,
                                         int j, int k) {
#pragma omp simd
    for (int i = 0; i < cells; ++i) sums[i] += residual(q, 2 * (first + i) + second, j, k);
}
// coarse = mean, of a row of sums over children
template <int D, class Real>
struct MeanOfSums {
    ViewOf<Real> coarse;
    const Real* sums;  // from cell `first` on
    int first;

    void operator()(int q, int i, int j, int k) const {
        constexpr Real of_each = Real(1) / children(D);
        coarse(q, i, j, k) = of_each * sums[i - first];
    }
};

template <int D, class Real = double, class Face = Real>
struct RestrictRow {
    ViewOf<Real> coarse;
    Residual<D, Real, Face> residual;
    Cells fine;  // whose residuals count

    Cost cost() const {
        using OfColour = ResidualOfColour<D, Real, Face>;
        return fine.colour == Cells::every ? RestrictResidual<D, Real, Residual<D, Real, Face>>::cost
                                           : RestrictResidual<D, Real, OfColour>::cost;
    }
    [[gnu::noinline]] void operator()(int low, int high, int q, int j, int k) const {
        constexpr int some = 64;
        Real sums[some];
        for (int first = low; first < high; first += some) {
            const int cells = std::min(some, high - first);
            std::fill_n(sums, cells, Real(0));
            for (int row = 0; row < children(D - 1); ++row)
                add(sums, first, cells, q, 2 * j + row % 2, D == 2 ? k : 2 * k + row / 2);
            each_in_row(MeanOfSums<D, Real>{coarse, sums, first}, first, first + cells, q, j, k);
        }
    }

  private:
    void add(Real* sums, int first, int cells, int q, int j, int k) const {
        if (fine.colour == Cells::every)
            add_row(sums, residual, first, cells, q, j, k);
        else if (fine.first(0, q, j, k) == 0)
            add_every_other<0>(sums, residual, first, cells, q, j, k);
        else
            add_every_other<1>(sums, residual, first, cells, q, j, k);
    }
};

// Coarse values interpolated in y and z (`across`), in the natural order of cells, from cell `first` on.
template <class Interpolation, class Real>
struct Across {
    Interpolation interpolation;
    Real* values;
    int first;
    int j, k;  // place of the fine row

    void operator()(int q, int i, int, int) const { values[i - first] = interpolation.across(q, i, j, k); }
};
template <class Interpolation, class Real>
[[gnu::flatten]] void add_along(const Interpolation interpolation, const Real* across, int first, int cells,
                                int q, int j, int k) {
#pragma omp simd
    for (int x = 0; x < cells; ++x) {
        interpolation.fine(q, 2 * (first + x), j, k) += interpolation.along(across[x], across[x - 1]);
        interpolation.fine(q, 2 * (first + x) + 1, j, k) += interpolation.along(across[x], across[x + 1]);
    }
}

// The first or the second cell of each pair, which are those of one colour.
template <int second, class Interpolation, class Real>
[[gnu::flatten]] void add_along_every_other(const Interpolation interpolation, const Real* across, int first,
                                            int cells, int q, int j, int k) {
#pragma omp simd
    for (int x = 0; x < cells; ++x)
        interpolation.fine(q, 2 * (first + x) + second, j, k) +=
            interpolation.along(across[x], across[x + 2 * second - 1]);
}

// Interpolates to a fine row, all of it or the cells of one colour.
template <class Interpolation, class Real>
struct InterpolateRow {
    Interpolation interpolation;
    Cells fine;

    [[gnu::noinline]] void operator()(int, int fine_cells, int q, int j, int k) const {
        constexpr int some = 64;
        Real across[some + 2];
        for (int first = 0; first < fine_cells / 2; first += some) {
            const int cells = std::min(some, fine_cells / 2 - first);
            each_in_row(Across<Interpolation, Real>{interpolation, across, first - 1, j, k}, first - 1,
                        first + cells + 1, q, j, k);
            if (fine.colour == Cells::every)
                add_along(interpolation, across + 1, first, cells, q, j, k);
            else if (fine.first(0, q, j, k) == 0)
                add_along_every_other<0>(interpolation, across + 1, first, cells, q, j, k);
            else
                add_along_every_other<1>(interpolation, across + 1, first, cells, q, j, k);
        }
    }
};

}  // namespace keel
