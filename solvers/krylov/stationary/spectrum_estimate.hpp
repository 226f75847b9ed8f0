#pragma once

#include <optional>
#include <vector>

#include "solvers/krylov/options.hpp"
#include "solvers/systems/linear_system.hpp"
#include "solvers/systems/preconditioners/preconditioner.hpp"
#include "solvers/systems/spectrum.hpp"

namespace keel {

// The extreme Ritz values of some steps of conjugate gradients from zero: of A, or of M A for a
// preconditioner M (Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., section 6.7.3). They lie
// inside the spectrum, where the right-hand side has something: polynomials for this interval serve the
// solve better than those for a wide one that surely holds all eigenvalues. A power method sees 0.6 to 0.9
// of the largest eigenvalue after as many steps.
//
// n steps cost n applications of A and of M and 2n all-reduces of a word.
class SpectrumEstimate {
  public:
    static constexpr int steps = 10;

    // `right`: A is the system A M already, in which CG with the inner products of M is CG for M A.
    SpectrumEstimate(LinearSystem& A, Preconditioner* M, bool right) : A_(A), M_(M), right_(right) {}
    static constexpr int vectors = 3;  // without a preconditioner

    // b is not changed. Nothing if no two Ritz values differ: b is in a space of one
    // dimension, or the system is not positive definite. Collective.
    std::optional<Spectrum> of(LinearSystem::Vector b);

  private:
    LinearSystem& A_;
    Preconditioner* M_;
    bool right_;
    LinearSystem::Vector r_ = A_.make_vector(), p_ = A_.make_vector(), Ap_ = A_.make_vector();
    LinearSystem::Vector z_ = M_ ? A_.make_vector() : r_;      // M r
    LinearSystem::Vector q_ = right_ ? A_.make_vector() : p_;  // p = M q
};

// The bounds, or the interval that the user gives in their place, if the method reads bottom.spectrum.
Spectrum chosen_spectrum(const BottomOptions& options, const Spectrum& bounds);

// Whether the options ask for an estimate in place of either, as bases with a preconditioner do unless an
// interval is given.
bool estimates(const BottomOptions& options, bool preconditioned);

// Whether an interval plays a part: powers need none.
bool uses_spectrum(const BottomOptions& options);

// The least and the largest eigenvalue of a symmetric tridiagonal matrix.
Spectrum extreme_eigenvalues(const std::vector<double>& diagonal, const std::vector<double>& beside);

}  // namespace keel
