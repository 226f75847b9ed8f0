#pragma once

// The world of a Krylov method: vectors, an operator, inner products. Vectors are fields, sums go over ranks,
// and the operator is that of a problem L u = f, scaled by its diagonal or not; grids and sparse matrices
// derive from it. Every member function that applies the operator or reduces is collective over the system's
// ranks.

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "comm/carry/exchange.hpp"
#include "comm/reductions/reduction.hpp"
#include "kernels/bodies/diagonal_scaling.hpp"
#include "kernels/bodies/norms.hpp"
#include "kernels/cost.hpp"
#include "kernels/double_double.hpp"
#include "kernels/operations.hpp"
#include "solvers/systems/recurrence.hpp"
#include "solvers/systems/splitting.hpp"

namespace keel {

class Preconditioner;

class LinearSystem {
  public:
    using Vector = Field;  // a cheap handle; the system owns the memory
    using Product = keel::Product;
    using Combination = keel::Combination;

    virtual ~LinearSystem() = default;

    virtual Vector make_vector() = 0;  // zero; set-up only
    // y_n = A x_n with one exchange for all; no y is among the x.
    void apply(std::span<const Vector> y, std::span<const Vector> x);
    // Bases of Krylov spaces: of each, v_1, v_2, ... are made from v_0 by the recurrence. With one exchange
    // for each of the longest basis's applications, carrying one vector of every basis; a system may need
    // fewer.
    using Vectors = std::span<const Vector>;
    virtual void powers(std::span<const Vectors> bases, Recurrence recurrence);
    // The same, then the Gram matrix of their vectors x, one basis after the other, with y (gram).
    virtual void powers_and_gram(std::span<const Vectors> bases, Recurrence recurrence,
                                 std::span<const Vector> x, std::span<const Vector> y,
                                 std::span<double> results);
    void powers_and_gram(std::span<const Vectors> bases, Recurrence recurrence, std::span<const Vector> x,
                         std::span<const Vector> y, std::span<DoubleDouble> results);
    // next = v_{i+1}, where it holds A v_i.
    void recur(Vector next, Vectors v, std::size_t i, const Relation& relation);
    void combine(Vector y, std::span<const double> c, std::span<const Vector> x);  // y = SUM c_n x_n
    // The same one after the other; a y may be among the x of those after it.
    void combine_all(std::span<const Combination> combinations);
    virtual void fill(Vector y, double value) = 0;
    // Cuts r into columns: each entry of r is in one of them, which have zeros elsewhere; their sum is r.
    // Which entry is where does not depend on ranks.
    virtual void split(std::span<const Vector> columns, Vector r, Splitting splitting);
    // Decides which entry is in which of `columns` columns, in a vector; else the first split() does.
    void prepare_split(std::size_t columns, Splitting splitting);
    // All inner products with one all-reduce.
    void dots(std::span<const Product> products, std::span<double> results);
    // The upper triangle of X^T X and X^T Y beside it, row by row, with one all-reduce (Operations::gram).
    void gram(std::span<const Vector> x, std::span<const Vector> y, std::span<double> results);
    // The same to twice a double's precision, for twice the words.
    void gram(std::span<const Vector> x, std::span<const Vector> y, std::span<DoubleDouble> results);
    // The same begun and not waited for: finish() of the result delivers them.
    AllReduceRequest begin_dots(std::span<const Product> products);
    virtual Squares squares(Vector r);
    // max|x|, with one all-reduce; +infinity where a value is not finite.
    double max_norm(Vector x);
    virtual Counts counts() const;

    // --- A whole solve in one launch (krylov/single_launch/)
    // A grid system that this rank has alone, and the copies between boxes that an exchange is then.
    struct Alone {
        Operations& operations;
        Items<BlockCopy> copies;
        ScaledStencil A;
        double unit;  // power of two, times which D is far from under- and overflow
    };
    virtual std::optional<Alone> alone() { return std::nullopt; }
    // Adds what a launch spent to counts().
    void count(const Counts& spent);

    // --- Between the problem L u = f and the scaled one A y = b
    void scale_right_side(Vector b, Field f);
    void unscale_solution(Field u, Vector y);
    // L has other coefficients now, in the same fields.
    virtual void update() {}

    // --- A preconditioner for a method that knows nothing of it; not owned
    // The system A M y = b from now on, whose residuals are those of A x = b with x = M y (Saad, Iterative
    // Methods for Sparse Linear Systems, 2nd ed., section 9.3.2). A M is not symmetric even where A and M
    // are: no system for CG and its family.
    void precondition_from_right(Preconditioner& M);
    // Squares and norms are those of sqrt(r . M r) from now on; unscaled is the norm without M, in which all
    // methods can be compared.
    void take_natural_norm(Preconditioner& M);

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
    double norm(Vector x, double weight = 1.0);
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
        combine(z, {a, b}, {x, y});
    }
    template <std::size_t N>
    void combine(Vector y, const double (&c)[N], const Vector (&x)[N]) {
        combine(y, std::span<const double>(c), std::span<const Vector>(x));
    }
    void copy(Vector y, Vector x) { combine(y, {1.0}, {x}); }
    void residual(Vector r, Vector b, Vector x) {  // r = b - A x
        apply(r, x);
        axpby(r, 1, b, -1, r);
    }

  protected:
    // Nothing is owned. At most `at_once` vectors are exchanged together.
    LinearSystem(Operations& operations, Exchange& exchange, Reduction& reduction, DiagonalScaling scaling,
                 std::size_t at_once);

    // y_n = A x_n without a preconditioner.
    virtual void multiply(std::span<const Vector> y, std::span<const Vector> x) = 0;
    // numbers = the column that split() puts each entry into
    virtual void number_columns(Vector numbers, Splitting splitting, int columns) = 0;
    std::span<double> parts(std::size_t sums);  // room for `sums` of each local box

    Operations& operations_;
    Exchange& exchange_;
    Reduction& reduction_;
    DiagonalScaling scaling_;
    Field scale_;  // D^-1 or D^-1/2
    long applications_ = 0;

  private:
    std::span<double> local_sums(std::span<const Product> products);

    std::vector<double> parts_;
    std::size_t at_once_;
    Vector column_numbers_;                         // the column of each entry, from prepare_split() on
    std::pair<std::size_t, Splitting> numbered_{};  // how many columns, and how they are split
    Preconditioner* right_ = nullptr;
    std::vector<Vector> preconditioned_;  // M x, of the vectors applied to at once
    Preconditioner* natural_ = nullptr;
    Vector Mr_;
};

}  // namespace keel
