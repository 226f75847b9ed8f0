#pragma once

// Bases of Krylov spaces of the operator, scaled by a field or not: the body of one cell makes the next
// vector from those before it.

#include <array>
#include <cstddef>

#include "kernels/bodies/diagonal_scaling.hpp"
#include "kernels/bodies/stencil.hpp"

namespace keel {

// A = L, L s or s L s, as DiagonalScaling says: s is D^-1 or D^-1/2.
struct ScaledStencil {
    Stencil L;
    Field s;  // only if the system is scaled
    DiagonalScaling scaling = DiagonalScaling::none;
};

inline constexpr std::size_t most_bases = 2;  // at once

// v_{n+1} = c[0] A v_n + c[1] v_n + c[2] v_{n-1}
using ThreeTerms = std::array<double, 3>;

// u as A's operator L sees it, s u, cell by cell. It is formed again for every neighbour: a value that is not
// stored need not be read.
struct ScaledView {
    View s, u;

    constexpr double operator()(int q, int i, int j, int k) const { return s(q, i, j, k) * u(q, i, j, k); }
    constexpr double operator[](std::ptrdiff_t place) const { return s[place] * u[place]; }
};

// The next vector of each of N bases, one or two. A term that a recurrence does not have has the coefficient
// zero, and v in place of v_{n-1}.
template <int D, DiagonalScaling scaling, std::size_t N = 1>
struct NextVectors {
    StencilView<D> L;
    View s;
    ThreeTerms c;
    std::array<View, N> next, v, before;

    constexpr void operator()(int q, int i, int j, int k) const {
        // Both before the one is stored, so that coefficients are read once.
        const double one = value(0, q, i, j, k);
        if constexpr (N == 2) next[1](q, i, j, k) = value(1, q, i, j, k);
        next[0](q, i, j, k) = one;
    }

    constexpr NextVectors<D, scaling> first() const { return {L, s, c, {next[0]}, {v[0]}, {before[0]}}; }

  private:
    constexpr double applied(std::size_t n, int q, int i, int j, int k) const {
        if constexpr (scaling == DiagonalScaling::none)
            return L(v[n], q, i, j, k);
        else if constexpr (scaling == DiagonalScaling::right)
            return L(ScaledView{s, v[n]}, q, i, j, k);
        else
            return s(q, i, j, k) * L(ScaledView{s, v[n]}, q, i, j, k);
    }
    constexpr double value(std::size_t n, int q, int i, int j, int k) const {
        double sum = c[0] * applied(n, q, i, j, k);
        sum += c[1] * v[n](q, i, j, k);
        sum += c[2] * before[n](q, i, j, k);
        return sum;
    }
};

// The next vectors of two bases at once.
template <int D, DiagonalScaling scaling>
constexpr NextVectors<D, scaling, 2> together(const NextVectors<D, scaling>& a,
                                              const NextVectors<D, scaling>& b) {
    return {a.L, a.s, a.c, {a.next[0], b.next[0]}, {a.v[0], b.v[0]}, {a.before[0], b.before[0]}};
}

// Flops per cell of the next vector of a basis: those of A and of the terms that there are, without scalings
// that are formed again for neighbours.
constexpr double next_vector_flops(std::size_t dimensions, DiagonalScaling scaling, const ThreeTerms& c) {
    const double scalings = scaling == DiagonalScaling::none ? 0 : scaling == DiagonalScaling::right ? 1 : 2;
    const double terms = c[2] != 0.0 ? 5 : c[0] != 1.0 || c[1] != 0.0 ? 3 : 0;
    return 4.0 * static_cast<double>(dimensions) + 1 + scalings + terms;
}

}  // namespace keel
