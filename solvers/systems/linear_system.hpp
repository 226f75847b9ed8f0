#pragma once

// The world of a Krylov method: vectors, an operator, inner products. Nothing about grids, ranks or
// devices. Every member function that applies the operator or reduces is collective over the system's ranks.

#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "comm/reductions/reduction.hpp"
#include "kernels/double_double.hpp"
#include "kernels/operations.hpp"
#include "solvers/systems/recurrence.hpp"
#include "solvers/systems/splitting.hpp"

namespace keel {

// The cost of a solve so far.
struct Counts {
    long applications = 0;  // operator times vector
    long exchanges = 0;     // messages to every neighbour, whatever the number of vectors in them
    long reductions = 0;    // all-reduces
    long words = 0;         // doubles in them

    friend Counts operator-(const Counts& a, const Counts& b) {
        return {a.applications - b.applications, a.exchanges - b.exchanges, a.reductions - b.reductions,
                a.words - b.words};
    }
};

// Whether a sum of squares is far from under- and overflow, and so are the sums that a method forms of a
// residual 1e-60 times as large; not so where it is zero or no number.
constexpr bool safe(double sum_of_squares) {
    return sum_of_squares > 0x1p-300 && sum_of_squares < 0x1p300;
}

class LinearSystem {
  public:
    using Vector = Field;  // a cheap handle; the system owns the memory

    virtual ~LinearSystem() = default;

    virtual Vector make_vector() = 0;  // zero; set-up only
    // y_n = A x_n with one exchange for all; no y is among the x.
    virtual void apply(std::span<const Vector> y, std::span<const Vector> x) = 0;
    // Bases of Krylov spaces: of each, v_1, v_2, ... are made from v_0 by the recurrence. With one exchange
    // for each of the longest basis's applications, carrying one vector of every basis; a system may need
    // fewer.
    using Vectors = std::span<const Vector>;
    virtual void powers(std::span<const Vectors> bases, const Recurrence& recurrence);
    virtual void combine(Vector y, std::span<const double> c,
                         std::span<const Vector> x) = 0;  // y = SUM c_n x_n
    // The same one after the other; a y may be among the x of those after it.
    virtual void combine_all(std::span<const Combination> combinations) = 0;
    virtual void fill(Vector y, double value) = 0;
    // Cuts r into columns: each entry of r is in one of them, which have zeros elsewhere; their sum is r.
    // Which entry is where does not depend on ranks.
    virtual void split(std::span<const Vector> columns, Vector r, Splitting splitting) = 0;
    // All inner products with one all-reduce.
    virtual void dots(std::span<const Product> products, std::span<double> results) = 0;
    // The upper triangle of X^T X and X^T Y beside it, row by row, with one all-reduce (Operations::gram).
    virtual void gram(std::span<const Vector> x, std::span<const Vector> y, std::span<double> results) = 0;
    // The same to twice a double's precision, for twice the words.
    virtual void gram(std::span<const Vector> x, std::span<const Vector> y,
                      std::span<DoubleDouble> results) = 0;
    // The same begun and not waited for: finish() of the result delivers them.
    virtual AllReduceRequest begin_dots(std::span<const Product> products) = 0;
    // Sums of a residual by one all-reduce: (r,r), and if the system is scaled from the left, (r,r) before
    // that but for a factor that is the same for every r.
    struct Squares {
        double own = 0;
        std::optional<double> unscaled = {};
    };
    virtual Squares squares(Vector r) { return {.own = dot(r, r)}; }
    // max|x|, with one all-reduce; +infinity where a value is not finite.
    virtual double max_norm(Vector x) = 0;
    virtual Counts counts() const = 0;

    // --- Shorthands
    void apply(Vector y, Vector x) { apply(std::span(&y, 1), std::span(&x, 1)); }  // y = A x; they differ
    double dot(Vector x, Vector y) {
        const Product product{x, y};
        double result = 0;
        dots(std::span(&product, 1), std::span(&result, 1));
        return result;
    }
    // sqrt(weight (x,x)); +infinity where a value is not finite. Where (x,x) is not safe(), of x scaled by a
    // power of two in place, and back.
    virtual double norm(Vector x, double weight = 1.0);
    // The power of two, or one near it that is a double, that brings max|x| to [1, 2); 1 where x is zero or
    // not finite.
    double unit(Vector x);
    template <std::size_t N>
    std::array<double, N> dots(const Product (&products)[N]) {
        std::array<double, N> results{};
        dots(std::span<const Product>(products), std::span<double>(results));
        return results;
    }
    void axpby(Vector z, double a, Vector x, double b, Vector y) {  // z = a x + b y
        combine(z, std::array{a, b}, std::array{x, y});
    }
    template <std::size_t N>
    void combine(Vector y, const std::array<double, N>& c, const std::array<Vector, N>& x) {
        combine(y, std::span<const double>(c), std::span<const Vector>(x));
    }
    void copy(Vector y, Vector x) { combine(y, std::array{1.0}, std::array{x}); }
    void residual(Vector r, Vector b, Vector x) {  // r = b - A x
        apply(r, x);
        axpby(r, 1, b, -1, r);
    }

  protected:
    // next = v_{i+1}, where it holds A v_i.
    void recur(Vector next, Vectors v, std::size_t i, const Recurrence& recurrence);
};

}  // namespace keel
