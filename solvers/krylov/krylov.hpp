#pragma once

// The interface of all Krylov methods: how they end, what they report, and the verify-and-restart rule.

#include <optional>
#include <string>
#include <vector>

#include "solvers/krylov/options.hpp"
#include "solvers/krylov/run.hpp"
#include "solvers/systems/linear_system.hpp"
#include "solvers/systems/spectrum.hpp"

namespace keel {

class Preconditioner;

struct Report : Verdict {
    std::string vanished = {};              // breakdown: the quantity that vanished or was not finite
    std::vector<double> residuals = {};     // the method's own |r_k| / |b| after each iteration; entry 0 is 1
    std::optional<Spectrum> spectrum = {};  // the interval that was taken to hold the eigenvalues
    int columns_dropped = 0;  // enlarged methods: max over runs of the columns that block vectors lost

    // How a method ends its run: `return report.breakdown("(r~,Ap)")`.
    Outcome breakdown(const char* quantity) {
        vanished = quantity;
        return Outcome::breakdown;
    }
    Outcome breakdown(Vanished quantity) { return breakdown(name(quantity)); }
    Outcome converged(double residual) {
        residuals.push_back(residual);
        return Outcome::converged;
    }
};

// One Krylov method: improves x from its residual until it believes to have converged, breaks down or reaches
// the limit. Its vectors are made at construction; a run allocates none.
class KrylovMethod {
  public:
    using Run = KrylovRun<LinearSystem::Vector>;

    virtual ~KrylovMethod() = default;
    // Collective. Appends to report.residuals, adds to report.iterations, names what vanished on breakdown.
    virtual Outcome iterate(const Run& run, Report& report) = 0;
    // The eigenvalues of the operator, which may have other coefficients now, should lie in this spectrum.
    virtual void adopt(const Spectrum&) {}
    // |I - V^T V|, Frobenius norm, of the last cycle's columns of V, if the method keeps such a basis. It is
    // used up. Collective.
    virtual std::optional<double> orthogonality() { return {}; }
};

// All that a method is made for.
struct MethodSetup {
    LinearSystem& A;
    BottomOptions options = {};
    Spectrum spectrum = {};       // should hold the eigenvalues of A
    Preconditioner* M = nullptr;  // null for none
};

// A method with the system that it is made for, which outlives it, as M does.
class MethodOfSystem : public KrylovMethod {
  public:
    explicit MethodOfSystem(const MethodSetup& setup) : A(setup.A), M(setup.M), options(setup.options) {}

  protected:
    using Vector = LinearSystem::Vector;
    Vector vector() { return A.make_vector(); }
    // One of the form with a preconditioner alone.
    Vector vector_with_M() { return M ? vector() : Vector(); }

    LinearSystem& A;
    Preconditioner* M;
    BottomOptions options;
};

// The vectors that verify_and_restart() keeps: a true residual, and the x of the smallest one so far.
struct RestartVectors {
    explicit RestartVectors(LinearSystem& A) : r(A.make_vector()), best(A.make_vector()) {}

    static constexpr int count = 2;
    LinearSystem::Vector r, best;
};

// Solves A x = b from x = 0 with a method, and believes nothing: whenever the method stops, the true residual
// is formed (one application, one all-reduce). If it misses the tolerance, the method restarts from it, at
// most stop.max_restarts times; a run that raised the residual by more than 1e4 is discarded. Without this
// rule most "converged" verdicts after a breakdown are false.
//
// If (b,b) is zero or not safe(), the method sees b times a power of two, and its iterates are x times
// that: its sums of squares neither under- nor overflow, and no bit of its history changes. The x returned is
// verified once more, since it may be too large or too small for a double.
//
// b is not changed. Collective.
Report verify_and_restart(LinearSystem& A, KrylovMethod& method, const RestartVectors& own,
                          LinearSystem::Vector x, LinearSystem::Vector b, const Stop& stop);

}  // namespace keel
