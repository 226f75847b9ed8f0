#pragma once

// The interface of all Krylov methods: how they end, what they report, and the verify-and-restart rule.

#include <optional>
#include <string>
#include <vector>

#include "kernels/names.hpp"
#include "solvers/krylov/options.hpp"
#include "solvers/systems/linear_system.hpp"
#include "solvers/systems/spectrum.hpp"

namespace keel {

class Preconditioner;

// How a solve ends. The last two are those of a visit to the bottom grid that measured nothing: relaxation
// tests nothing, and ranks without the bottom grid wait for the others.
enum class Outcome { converged, iteration_limit, stagnated, breakdown, not_tested, on_other_ranks };
constexpr auto names_of(Outcome) {
    return std::array{Named<Outcome>{Outcome::converged, "converged"},
                      Named<Outcome>{Outcome::iteration_limit, "iteration_limit"},
                      Named<Outcome>{Outcome::stagnated, "stagnated"},
                      Named<Outcome>{Outcome::breakdown, "breakdown"},
                      Named<Outcome>{Outcome::not_tested, "not_tested"},
                      Named<Outcome>{Outcome::on_other_ranks, "on_other_ranks"}};
}

struct Stop {
    double tolerance;  // on |b - A x| / |b|, 2-norms of the system as it is scaled
    int limit;         // iterations in all
    int max_restarts;  // under the verify-and-restart rule
};

struct Report {
    Outcome outcome = Outcome::converged;
    std::string vanished = {};  // breakdown: the quantity that vanished or was not finite
    int iterations = 0;
    int restarts = 0;
    std::vector<double> residuals = {};  // the method's own |r_k| / |b| after each iteration; entry 0 is 1
    double true_residual = 0;            // |b - A x| / |b| of the x returned
    bool met = true;                     // whether the true residual meets the tolerance
    // The same two of the system before it was scaled from the left: a norm that all methods can be compared
    // in.
    double unscaled_residual = 0;
    bool unscaled_met = true;
    std::optional<Spectrum> spectrum = {};  // the interval that was taken to hold the eigenvalues
    int columns_dropped = 0;  // enlarged methods: max over runs of the columns that block vectors lost
    Counts counts = {};

    // Whether it converged by the method's word and by the true residual.
    bool succeeded() const { return met && outcome == Outcome::converged; }
    // Whether there is a true residual.
    bool tested() const { return outcome != Outcome::not_tested && outcome != Outcome::on_other_ranks; }

    // How a method ends its run: `return report.breakdown("(r~,Ap)")`.
    Outcome breakdown(const char* quantity) {
        vanished = quantity;
        return Outcome::breakdown;
    }
    Outcome converged(double residual) {
        residuals.push_back(residual);
        return Outcome::converged;
    }
};

// Whether a quantity that the method is about to divide by, or has just computed, is unusable.
bool unusable(double value);

// One Krylov method: improves x from its residual until it believes to have converged, breaks down or reaches
// the limit. Its vectors are made at construction; a run allocates none.
class KrylovMethod {
  public:
    struct Run {
        LinearSystem::Vector x;  // improved in place
        LinearSystem::Vector r;  // b - A x on entry; the method's to overwrite
        double rr;               // (r, r) on entry
        double target;           // stop at |r| <= target
        int limit;               // iterations left
        double scale;            // |b|, by which reported residuals are divided
    };

    virtual ~KrylovMethod() = default;
    // Collective. Appends to report.residuals, adds to report.iterations, names what vanished on breakdown.
    virtual Outcome iterate(const Run& run, Report& report) = 0;
    // The eigenvalues of the operator, which may have other coefficients now, should lie in this spectrum.
    virtual void adopt(const Spectrum&) {}
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
