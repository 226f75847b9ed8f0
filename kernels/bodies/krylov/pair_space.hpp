#pragma once

// The outer steps of s-step methods. One outer step spans the Krylov spaces of a pair of vectors p, r,
//     V = [P, R],   P = rho_0(A) p .. rho_m(A) p,   R = rho_0(A) r .. rho_{m-1}(A) r,
// reduces V^T V once, and then knows every inner product of the next s iterations from coordinates:
// A V c = V T c, (V c, V d) = c^T G d. In coordinates all is Scalar, double or DoubleDouble: G has the square
// of the basis's condition, and what rounding leaves of it in double is what limits s. The threads of a
// block share the work on coordinates; sums of them, and what follows, all threads compute alike.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>

#include "kernels/bodies/krylov/recurrence.hpp"
#include "kernels/bodies/vector.hpp"

namespace keel::bodies {

// Basis vectors of a pair, P_0 .. P_m and R_0 .. R_{m-1}.
constexpr int pair_vectors(int degree) {
    return 2 * degree + 1;
}

// The memory of a space of this degree, and of the same one for lower degrees.
template <class Vector, class Scalar>
struct PairMemory {
    // The vectors besides p and r.
    static constexpr int vectors(int degree) { return pair_vectors(degree) - 2; }
    // G, the sums that it comes in, g, and eight coordinates.
    static constexpr std::size_t scalars(int degree) {
        const auto n = static_cast<std::size_t>(pair_vectors(degree));
        return n * n + gram_pairs(n, 1) + 9 * n;
    }
    // x += V e, next_p = V a, r = V c: x and V, and the coefficients of all three.
    static constexpr std::size_t terms(int degree) {
        return static_cast<std::size_t>(pair_vectors(degree)) + 1;
    }
    static constexpr std::size_t coefficients(int degree) { return 3 * terms(degree) - 2; }

    Scalar* scalar;
    Vector* term;
    double* coefficient;
};

// The i-th coordinate of T x: A takes the last vector of each basis out of the space.
template <class Scalar>
constexpr Scalar applied_in_bases(Recurrence recurrence, int i, const Scalar* x) {
    const int longer = static_cast<int>(recurrence.size()) + 1;
    const int length = i < longer ? longer : longer - 1;
    const auto k = static_cast<std::size_t>(i < longer ? i : i - longer);
    Scalar sum(0);
    if (k > 0) sum += Scalar(recurrence[k - 1].gamma) * x[i - 1];
    if (static_cast<int>(k) + 1 < length) sum += Scalar(recurrence[k].theta) * x[i];
    if (static_cast<int>(k) + 2 < length) sum += Scalar(recurrence[k + 1].sigma) * x[i + 1];
    return sum;
}

// Vectors: own(n) is the n-th of those that the space needs besides p and r.
template <class System, class Scalar, class Vectors>
class PairSpace {
  public:
    using Vector = typename System::Vector;

    constexpr PairSpace(System& A, const OuterSteps& steps, const Vectors& own,
                        const PairMemory<Vector, Scalar>& memory)
        : A_(A), steps_(steps), own_(own), memory_(memory) {
        begin();
    }

    // The first outer step is next, or the one after this.
    constexpr void begin() { choose(0, steps_.first); }
    constexpr void lengthen() {
        if (s < steps_.last)
            choose(first_ + static_cast<std::size_t>(degree()), std::min(2 * s, steps_.last));
    }

    // Spans the spaces of p and r, and forms G = V^T V and, if y is given, g = V^T y, with one all-reduce of
    // exactly their n (n + 1) / 2 (+ n) distinct numbers, n = 2m + 1. 2m - 1 applications. Both bases at
    // once: m exchanges, or fewer if the system needs fewer (grid_system.hpp); one after the other: 2m - 1.
    // x = x + V e, p = V a and r = V c. Collective.
    constexpr void span(Vector x, Vector p, Vector r, std::span<const Vector> y = {}) {
        const int m = degree();
        A_.for_each_number(size() + 1, [&](int i) {
            memory_.term[i] = i == 0       ? x
                              : i == 1     ? p
                              : i == m + 2 ? r
                                           : own_[static_cast<std::size_t>(i - (i < m + 2 ? 2 : 3))];
        });
        const std::span<const Vector> V = basis();
        const std::span<const Vector> pair[]{V.first(static_cast<std::size_t>(m) + 1),
                                             V.last(static_cast<std::size_t>(m))};
        const std::span<const std::span<const Vector>> bases(pair);
        const std::span<Scalar> sums(sums_, gram_pairs(V.size(), y.size()));
        if (steps_.at_once == 1) {
            A_.powers(bases.first(1), recurrence());
            A_.powers(bases.last(1), recurrence());
            A_.gram(V, y, sums);
        } else {
            A_.powers_and_gram(bases, recurrence(), V, y, sums);
        }
        const int n = size();
        const int others = static_cast<int>(y.size());
        A_.for_each_number(n, [&](int i) {
            const Scalar* next = sums_ + i * (n + others) - i * (i - 1) / 2;
            for (int j = i; j < n; ++j) G_[i * n + j] = G_[j * n + i] = *next++;
            if (others > 0) g[i] = *next;
            a[i] = Scalar(i == 0 ? 1.0 : 0.0);
            c[i] = Scalar(i == place_of_r() ? 1.0 : 0.0);
            e[i] = Scalar(0);
        });
    }

    constexpr int size() const { return pair_vectors(degree()); }
    constexpr int place_of_r() const { return degree() + 1; }  // the place of p is 0

    constexpr void apply(Scalar* y, const Scalar* x) {  // y = T x
        A_.for_each_number(size(), [&](int i) { y[i] = applied_in_bases(recurrence(), i, x); });
    }
    constexpr void weigh(Scalar* y, const Scalar* x) {  // y = G x
        A_.for_each_number(size(), [&](int i) { y[i] = dot(G_ + i * size(), x); });
    }
    constexpr Scalar dot(const Scalar* x, const Scalar* y) const {
        Scalar sum(0);
        for (int i = 0; i < size(); ++i) sum += x[i] * y[i];
        return sum;
    }
    // z = x + b y
    constexpr void add(Scalar* z, const Scalar* x, Scalar b, const Scalar* y) {
        A_.for_each_number(size(), [&](int i) { z[i] = x[i] + b * y[i]; });
    }
    // sqrt(x^T G x). Where rounding has made the square negative, 0: a claim of convergence, to be verified.
    constexpr Scalar norm(const Scalar* x) {
        weigh(Gx_, x);
        const Scalar square = dot(x, Gx_);
        using std::sqrt;
        return square < Scalar(0) ? Scalar(0) : sqrt(square);
    }

    constexpr void finish() { combine({}, false); }  // x += V e
    // x += V e, next_p = V a, and at last r = V c, with which V is r's space no more.
    constexpr void advance(Vector next_p) { combine(next_p, true); }

    int s = 0;  // iterations of this outer step
    // Coordinates of p, r and x - x_m; of BiCGStab's s; their images by A; G times one of them; V^T y.
    Scalar *a = nullptr, *c = nullptr, *e = nullptr, *d = nullptr, *Ta = nullptr, *Td = nullptr,
           *GT = nullptr, *g = nullptr;

  private:
    constexpr int degree() const { return steps_.degree_per_s * s; }
    constexpr Recurrence recurrence() const {
        return steps_.relations.subspan(first_, static_cast<std::size_t>(degree()));
    }
    constexpr std::span<const Vector> basis() const {
        return {memory_.term + 1, static_cast<std::size_t>(size())};
    }

    constexpr void choose(std::size_t first, int length) {
        first_ = first;
        s = length;
        const auto n = static_cast<std::size_t>(size());
        Scalar* place = memory_.scalar;
        const auto take = [&](std::size_t count) { return std::exchange(place, place + count); };
        G_ = take(n * n);
        sums_ = take(gram_pairs(n, 1));
        for (Scalar** coordinates : {&a, &c, &e, &d, &Ta, &Td, &GT, &g, &Gx_}) *coordinates = take(n);
    }

    constexpr void combine(Vector next_p, bool all) {
        const int n = size();
        double* const of_x = memory_.coefficient;
        double* const of_p = of_x + n + 1;
        double* const of_r = of_p + n;
        A_.for_each_number(n, [&](int i) {
            if (i == 0) of_x[0] = 1.0;
            of_x[i + 1] = static_cast<double>(e[i]);
            of_p[i] = static_cast<double>(a[i]);
            of_r[i] = static_cast<double>(c[i]);
        });
        const auto values = [&](const double* first, int more) {
            return std::span<const double>(first, static_cast<std::size_t>(n + more));
        };
        using Combination = typename System::Combination;
        const Vector x = memory_.term[0];
        const Vector r = memory_.term[place_of_r() + 1];
        const Combination combinations[]{
            Combination{x, values(of_x, 1), {memory_.term, static_cast<std::size_t>(n + 1)}},
            Combination{next_p, values(of_p, 0), basis()}, Combination{r, values(of_r, 0), basis()}};
        A_.combine_all(std::span<const Combination>(combinations, all ? 3 : 1));
    }

    System& A_;
    OuterSteps steps_;
    Vectors own_;
    PairMemory<Vector, Scalar> memory_;
    std::size_t first_ = 0;  // relation
    Scalar *G_ = nullptr, *sums_ = nullptr, *Gx_ = nullptr;
};

}  // namespace keel::bodies
