#pragma once

// The bottom solve of the V-cycle.

#include <memory>
#include <optional>
#include <string>

#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/options.hpp"
#include "solvers/multigrid/hierarchy.hpp"
#include "solvers/multigrid/options.hpp"

namespace keel {

class AlgebraicCycle;

class BottomSolver {
  public:
    // What one visit did; absent where a method does not tell (relaxation measures nothing). Residuals are
    // relative. Where the bottom grid is on other ranks (BottomGrid, Handover), only those know more than that.
    struct Visit {
        int iterations = 0;
        std::string outcome = {};                  // the name of an Outcome, or one of the two below
        std::string vanished = {};                 // what did, in a breakdown
        int restarts = 0;                          // by the verify-and-restart rule
        std::optional<double> residual = {};       // what the method's recurrence claims
        std::optional<double> true_residual = {};  // of the u returned
        bool met = true;                           // the tolerance, by the true residual
        // The same in the 2-norm of f - L u, which methods that scale the system from the left do not stop by.
        std::optional<double> unscaled_residual = {};
        bool unscaled_met = true;
        int columns_dropped = 0;  // Report
        Counts counts = {};
    };
    static constexpr const char* not_tested = "not_tested";          // by relaxation
    static constexpr const char* on_other_ranks = "on_other_ranks";  // the bottom grid is

    virtual ~BottomSolver() = default;
    // u = approximately L^-1 f on the bottom level, from a zero guess; where the problem is singular the mean
    // of f is removed first, in place: f is what the cycle has just restricted. Collective.
    virtual Visit solve(Field u, Field f) = 0;
    // Improves the level's u towards L u = f: all there is to a cycle of a hierarchy of one level. Overwrites
    // the level's r. Collective.
    virtual Visit improve() = 0;
    // The level has other coefficients now, in the same fields. Collective: algebraic multigrid is set up again.
    virtual void update() {}
    // What it repeats, or is preconditioned by; null where that is nothing of the kind, and on ranks that do not solve.
    virtual AlgebraicCycle* algebraic() { return nullptr; }
};

// Grid-sized arrays that the bottom solver adds to the bottom level.
int bottom_fields(const BottomOptions& options);

// Null on ranks that have none of the bottom level. Throws std::invalid_argument for an unknown name. The hierarchy must outlive the result, and its bottom
// level have at least the ghost layers of powers_need().
std::unique_ptr<BottomSolver> make_bottom(Hierarchy& hierarchy, const BottomOptions& bottom,
                                          const MultigridOptions& multigrid);

}  // namespace keel
