#pragma once

// Vector operations on whole fields, as bodies of one cell. Fields of a level have one shape, so a cell is at
// one place in all of them, which is computed once.

#include <array>
#include <cmath>
#include <cstddef>

#include "kernels/cost.hpp"
#include "kernels/layout/view.hpp"

namespace keel {

// More terms than this are taken in several passes.
inline constexpr std::size_t max_terms = 8;

// Flops per cell of Operations::combine with `terms` terms: more than max_terms take further passes, each of
// which carries on what the passes before have summed as a term of its own.
constexpr double combine_flops(std::size_t terms) {
    const std::size_t passes = terms <= max_terms ? 1 : 1 + (terms - 2) / (max_terms - 1);
    return 2.0 * static_cast<double>(terms + passes - 1) - static_cast<double>(passes);
}

// The number of inner products of n vectors with themselves, each pair once, and with m others.
constexpr std::size_t gram_pairs(std::size_t n, std::size_t m) {
    return n * (n + 1) / 2 + n * m;
}

// A value of y, cell or ghost, = value
template <class Real = double>
struct Fill {
    Real value;

    constexpr void operator()(Real& y) const { y = value; }
};

// y = SUM_n c_n x_n; y may be one of the x
template <std::size_t N, class Real = double>
struct Combine {
    ViewOf<Real> y;
    std::array<Real, N> c;
    std::array<ViewOf<Real>, N> x;

    static constexpr Cost cost{2.0 * N - 1, N, 1};
    constexpr void operator()(int q, int i, int j, int k) const {
        const std::ptrdiff_t place = y.place(q, i, j, k);
        Real sum = c[0] * y.at(x[0].origin, place);
        for (std::size_t n = 1; n < N; ++n) sum += c[n] * y.at(x[n].origin, place);
        y.at(y.origin, place) = sum;
    }
};

// y = c x, where x is of another precision
template <class Real, class Other>
struct Convert {
    ViewOf<Real> y;
    double c;
    ViewOf<Other> x;

    static constexpr Work work{1, sizeof(Real) + sizeof(Other)};  // per cell
    constexpr void operator()(int q, int i, int j, int k) const {
        y(q, i, j, k) = static_cast<Real>(c * x(q, i, j, k));
    }
};

// y += c x, where x is of another precision
template <class Real, class Other>
struct AddConverted {
    ViewOf<Real> y;
    double c;
    ViewOf<Other> x;

    static constexpr Work work{2, 2 * sizeof(Real) + sizeof(Other)};  // per cell
    constexpr void operator()(int q, int i, int j, int k) const {
        y(q, i, j, k) = static_cast<Real>(y(q, i, j, k) + c * x(q, i, j, k));
    }
};

// z = function(x, y), cell by cell; z may be x or y
template <class Function>
struct MapCells {
    View z;
    View x, y;
    // No padding: launches are compared by bytes (gpu/device.hpp).
    [[no_unique_address]] Function function;

    static constexpr Cost cost = Function::cost;
    constexpr void operator()(int q, int i, int j, int k) const {
        const std::ptrdiff_t place = z.place(q, i, j, k);
        z.at(z.origin, place) = function(z.at(x.origin, place), z.at(y.origin, place));
    }
};

struct Multiply {
    static constexpr Cost cost{1, 2, 1};
    constexpr double operator()(double x, double y) const { return x * y; }
};
struct Divide {
    static constexpr Cost cost{1, 2, 1};
    constexpr double operator()(double x, double y) const { return x / y; }
};
struct SquareRoot {
    static constexpr Cost cost{1, 1, 1};
    constexpr double operator()(double x, double) const { return std::sqrt(x); }
};
struct Shift {
    double amount;

    static constexpr Cost cost{1, 1, 1};
    constexpr double operator()(double x, double) const { return x + amount; }
};

// x where y is the value that is wanted, 0 elsewhere
struct Select {
    double wanted;

    static constexpr Cost cost{0, 2, 1};
    constexpr double operator()(double x, double y) const { return y == wanted ? x : 0.0; }
};

// The summand of an inner product
struct InnerProduct {
    View x, y;

    constexpr double operator()(int q, int i, int j, int k) const {
        const std::ptrdiff_t place = x.place(q, i, j, k);
        return x.at(x.origin, place) * x.at(y.origin, place);
    }
};

// The summand of the n-th of several inner products
struct InnerProducts {
    std::array<View, max_terms> x;
    std::array<View, max_terms> y;

    constexpr double operator()(std::size_t n, int q, int i, int j, int k) const {
        const std::ptrdiff_t place = x[0].place(q, i, j, k);
        return View::at(x[n].origin, place) * View::at(y[n].origin, place);
    }
    constexpr InnerProduct term(std::size_t n) const { return {x[n], y[n]}; }
};

// The summand of a sum over the cells of x
struct Value {
    View x;

    static constexpr Cost cost{1, 1, 0};
    constexpr double operator()(std::size_t, int q, int i, int j, int k) const { return x(q, i, j, k); }
    constexpr double operator()(int q, int i, int j, int k) const { return x(q, i, j, k); }
    constexpr Value term(std::size_t) const { return *this; }
};

}  // namespace keel
