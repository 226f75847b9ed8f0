#pragma once

// The outer steps of s-step methods. One outer step spans the Krylov spaces of a pair of vectors p, r,
//     V = [P, R],   P = rho_0(A) p .. rho_m(A) p,   R = rho_0(A) r .. rho_{m-1}(A) r,
// reduces V^T V once, and then knows every inner product of the next s iterations from coordinates:
// A V c = V T c, (V c, V d) = c^T G d. In coordinates all is Scalar, double or DoubleDouble: G has the square
// of the basis's condition, and what rounding leaves of it in double is what limits s.

#include <Eigen/Core>
#include <initializer_list>
#include <span>
#include <vector>

#include "kernels/double_double.hpp"
#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/options.hpp"
#include "solvers/systems/linear_system.hpp"
#include "solvers/systems/spectrum.hpp"

// Numbers of twice a double's precision as entries of Eigen's matrices.
template <>
struct Eigen::NumTraits<keel::DoubleDouble> : Eigen::GenericNumTraits<keel::DoubleDouble> {
    using Real = keel::DoubleDouble;
    using NonInteger = keel::DoubleDouble;
    using Nested = keel::DoubleDouble;
    using Literal = double;
    enum {
        IsComplex = 0,
        IsInteger = 0,
        IsSigned = 1,
        RequireInitialization = 1,
        ReadCost = 2,
        AddCost = 20,
        MulCost = 12
    };
};

namespace keel {

// The s of the outer steps of a run; the last one stays.
std::vector<int> outer_steps(const BottomOptions& options);

// The operator in coordinates, block diagonal with a block for each size m: for c in the span of the first m
// - 1 basis vectors V of a block, A V c = V T c. The last column of a block is zero: A takes that vector out
// of the space.
Eigen::MatrixXd operator_in_basis(const Recurrence& recurrence, std::initializer_list<Eigen::Index> sizes);

template <class Scalar>
class PairSpace {
  public:
    using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
    using Coordinates = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;

    // How many vectors the space needs besides p and r.
    static std::size_t vectors(int degree) { return 2 * static_cast<std::size_t>(degree) - 1; }

    // Bytes of its matrices T and G, and of the sums.
    static double bytes(int degree);

    // degree: m above. At least `vectors(degree)` vectors, which spaces may share that are not used at the
    // same time. The spectrum, that of A, plays no part for the monomial basis.
    PairSpace(const BottomOptions& options, const Spectrum& spectrum, int degree,
              std::span<const LinearSystem::Vector> vectors);

    // The operator has another spectrum now.
    void update(const Spectrum& spectrum);

    // Spans the spaces of p and r, and forms G = V^T V and, if y is given, g = V^T y, with one all-reduce of
    // exactly their n (n + 1) / 2 (+ n) distinct numbers, n = 2m + 1. 2m - 1 applications. Both bases at
    // once: m exchanges, or fewer if the system needs fewer (grid_system.hpp); sequential: 2m - 1.
    // Collective.
    void span(LinearSystem& A, LinearSystem::Vector p, LinearSystem::Vector r,
              std::span<const LinearSystem::Vector> y = {});

    Eigen::Index size() const { return T.rows(); }
    Eigen::Index place_of_r() const { return (size() + 1) / 2; }  // the place of p is 0

    void add(LinearSystem& A, LinearSystem::Vector x, const Coordinates& e);  // x += V e
    // x += V e, next_p = V a, and at last r = V c, with which V is r's space no more.
    void advance(LinearSystem& A, LinearSystem::Vector x, const Coordinates& e, LinearSystem::Vector next_p,
                 const Coordinates& a, LinearSystem::Vector r, const Coordinates& c);

    // sqrt(c^T G c). Where rounding has made the square negative, 0: a claim of convergence, to be verified.
    Scalar norm(const Coordinates& c);

    Matrix T;
    Matrix G;
    Coordinates g;

  private:
    std::span<LinearSystem::Vector> V() { return std::span(terms_).subspan(1); }

    bool sequential_;
    Basis basis_;
    int degree_;
    Recurrence recurrence_;
    std::vector<LinearSystem::Vector> terms_;  // the vectors that x += V e combines: x, then V
    std::vector<double> e_, a_, c_;            // the coefficients of those: 1, e; and of V alone
    std::vector<Scalar> sums_;                 // an all-reduce's
    Coordinates Gc_;
};

// Makes a method whose Scalar the options choose.
template <template <class Scalar> class Kind>
std::unique_ptr<KrylovMethod> made_in_precision(const MethodSetup& setup) {
    if (setup.options.gram_precision == GramPrecision::twofold)
        return std::make_unique<Kind<DoubleDouble>>(setup);
    return std::make_unique<Kind<double>>(setup);
}

}  // namespace keel
