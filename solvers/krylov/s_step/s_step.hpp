#pragma once

// The outer steps of s-step methods. One outer step spans the Krylov spaces of a pair of vectors p, r,
//     V = [P, R],   P = rho_0(A) p .. rho_m(A) p,   R = rho_0(A) r .. rho_{m-1}(A) r,
// reduces V^T V once, and then knows every inner product of the next s iterations from coordinates:
// A V c = V T c, (V c, V d) = c^T G d. In coordinates all is Scalar, double or DoubleDouble: G has the square
// of the basis's condition, and what rounding leaves of it in double is what limits s.
//
// With a preconditioner M, A is M A here and inner products are those of M^-1, in which M A is symmetric.
// Each v has a partner M^-1 v beside it, which is there before v is: G = (M^-1 V)^T V.

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "kernels/double_double.hpp"
#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/options.hpp"
#include "solvers/systems/linear_system.hpp"
#include "solvers/systems/preconditioners/preconditioner.hpp"
#include "solvers/systems/recurrence.hpp"
#include "solvers/systems/spectrum.hpp"

namespace keel {

inline std::size_t at(int n) {
    return static_cast<std::size_t>(n);
}

// The s of the outer steps of a run: s = 1, 2, 4, ... or the last one at once, which stays.
std::vector<int> outer_steps(const BottomOptions& options);

// Bases of M A from their first vectors and the partners of these. A basis may end before its partners do.
// An exchange for each of the longest basis's applications. Collective.
void preconditioned_powers(LinearSystem& A, Preconditioner& M, std::span<const LinearSystem::Vectors> bases,
                           std::span<const LinearSystem::Vectors> partners, Recurrence recurrence);

// The i-th coordinate of T x: A takes the last vector of each basis out of the space.
template <class Scalar>
Scalar applied_in_bases(Recurrence recurrence, int i, const std::vector<Scalar>& x);

template <class Scalar>
class PairSpace {
  public:
    using Vector = LinearSystem::Vector;
    using Coordinates = std::vector<Scalar>;

    // Collective. The longer basis has degree_per_s powers for each s.
    PairSpace(const MethodSetup& setup, int degree_per_s);

    void adopt(const Spectrum& spectrum);
    // The first outer step is next, or the one after this.
    void begin();
    void lengthen();

    // Spans the spaces of p and r, and forms G = V^T V and, if y is given, g = V^T y, with one all-reduce of
    // exactly their n (n + 1) / 2 (+ n) distinct numbers, n = 2m + 1. 2m - 1 applications. Both bases at
    // once: m exchanges, or fewer if the system needs fewer (grid_system.hpp); one after the other: 2m - 1.
    // x = x + V e, p = V a and r = V c. Collective. With M: r is M times the residual, and M^-1 p and the
    // residual are given, too; there is no y.
    void span(Vector x, Vector p, Vector r, std::span<const Vector> y = {},
              const std::array<Vector, 2>& partners = {});

    int size() const { return 2 * degree() + 1; }
    int place_of_r() const { return degree() + 1; }  // the place of p is 0

    void apply(Coordinates& y, const Coordinates& x) const;  // y = T x
    void weigh(Coordinates& y, const Coordinates& x) const;  // y = G x
    Scalar dot(const Coordinates& x, const Coordinates& y) const;
    // z = x + b y
    void add(Coordinates& z, const Coordinates& x, Scalar b, const Coordinates& y) const;
    // sqrt(x^T G x). Where rounding has made the square negative, 0: a claim of convergence, to be verified.
    Scalar norm(const Coordinates& x);

    void finish() { combine({}, false); }  // x += V e
    // x += V e, next_p = V a, and at last r = V c, with which V is r's space no more. Their partners alike.
    void advance(Vector next_p, Vector next_partner = {}) {
        combine(next_p, true);
        if (M_) combine_partners(next_partner);
    }

    int s = 0;  // iterations of this outer step
    // Coordinates of p, r and x - x_m; of BiCGStab's s; their images by A; G times one of them; V^T y.
    Coordinates a, c, e, d, Ta, Td, GT, g;

  private:
    int degree() const { return degree_per_s_ * s; }
    Recurrence recurrence() const {
        return std::span(relations_).subspan(first_, static_cast<std::size_t>(degree()));
    }
    std::span<const Vector> basis() const { return std::span(terms_).last(terms_.size() - 1); }
    void place(std::span<Vector> V, Vector p, Vector r, std::span<const Vector> own) const;
    void make_bases(std::span<const Vector> y, std::span<Scalar> sums);
    void choose(std::size_t first, int length);
    void combine(Vector next_p, bool all);
    void combine_partners(Vector next_p);

    LinearSystem& A_;
    Preconditioner* M_;
    BottomOptions options_;
    int degree_per_s_;
    std::vector<Relation> relations_;  // recurrences of all outer steps, one after the other
    std::size_t first_ = 0;            // where the recurrence of this outer step begins
    std::vector<Vector> own_;          // basis vectors besides p and r
    std::vector<Vector> terms_;        // x, then all basis vectors
    std::vector<Vector> own_partners_, partners_;
    std::vector<Product> products_;
    std::vector<double> made_;  // their sums
    std::vector<Scalar> G_, sums_, Gx_;
    std::vector<double> of_x_, of_p_, of_r_;
};

// Makes a method whose Scalar the options choose.
template <template <class Scalar> class Kind>
std::unique_ptr<KrylovMethod> made_in_precision(const MethodSetup& setup) {
    if (setup.options.gram_precision == GramPrecision::twofold)
        return std::make_unique<Kind<DoubleDouble>>(setup);
    return std::make_unique<Kind<double>>(setup);
}

}  // namespace keel
