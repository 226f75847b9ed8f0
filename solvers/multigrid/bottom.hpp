#pragma once

// The bottom solve of the V-cycle, by name.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "solvers/krylov/bottom_methods.hpp"
#include "solvers/krylov/krylov.hpp"
#include "solvers/multigrid/hierarchy.hpp"
#include "solvers/options.hpp"
#include "solvers/systems/grid_system.hpp"

namespace keel {

// What the options' scaling means for their solver.
DiagonalScaling scaling_of(const BottomOptions& options);

// The method on any system, whose eigenvalues should lie in the spectrum. Throws std::invalid_argument for an unknown name.
std::unique_ptr<KrylovMethod> make_method(const BottomOptions& options, LinearSystem& A,
                                          const Spectrum& spectrum);

// How many vectors an exchange of the bottom solver carries at the most.
int vectors_at_once(const BottomOptions& options);

// Flops per cell of one application of the operator, the scaling included: 13, and 1 (right) or 2 (symmetric) more.
double application_flops(const BottomOptions& options);

// What bottom.powers = matrix_powers asks of the bottom level, whose boxes are `width` wide: ghost layers, and vectors that
// an exchange of them carries at the most. Nothing for other solvers and powers. No more layers than the box has, and no
// more than the longest basis has powers, are of use.
struct PowersNeed {
    int layers = 0;
    int at_once = 0;
};
PowersNeed powers_need(const BottomOptions& options, int width);

// Grid-sized arrays that the bottom solver adds to the bottom level.
int bottom_fields(const BottomOptions& options);

class BottomSolver {
  public:
    // What one visit did; absent where a method does not tell (relaxation measures nothing). Residuals are relative. Where the
    // bottom grid is on other ranks (BottomGrid), only those know more than that.
    struct Visit {
        int iterations = 0;
        std::string outcome;
        std::string vanished;                 // by breakdown
        int restarts = 0;                     // by the verify-and-restart rule
        std::optional<double> residual;       // what the method's recurrence claims
        std::optional<double> true_residual;  // of the u returned
        bool met = true;                      // the tolerance, by the true residual
        int columns_dropped = 0;              // Report
        Counts counts;
    };

    virtual ~BottomSolver() = default;
    // u = approximately L^-1 f on the bottom level, from a zero guess; where the problem is singular the mean of
    // f is removed first, in place. Collective.
    virtual Visit solve(Field u, Field f) = 0;
    // Improves the level's u towards L u = f: all there is to a cycle of a hierarchy of one level. Overwrites the
    // level's r. Collective.
    virtual Visit improve() = 0;
};

// A method of the table as solver of L u = f on one level.
class KrylovSolver {
  public:
    virtual ~KrylovSolver() = default;
    // u = approximately L^-1 f, from a zero guess, with norms of the system that the method sees (scaled_system.hpp); where the
    // problem is singular the mean of f is removed first, in place. Collective.
    virtual Report solve(Field u, Field f) = 0;
};

// M preconditions the level's L; null: none. Allowed are those that accept_preconditioner(), with scaling none and, for
// s-step methods, the monomial basis: of the spectrum of L M no bounds are known. Throws std::invalid_argument
// otherwise. Level and M must outlive the result.
std::unique_ptr<KrylovSolver> make_krylov(Level& level, bool singular, const BottomOptions& options,
                                          Preconditioner* M = nullptr);
// BiCGStab and its family, which solve L M y = f; and cg, which has a preconditioned form for symmetric M.
bool accepts_preconditioner(const BottomMethod& method);
std::vector<std::string> preconditionable();  // their names

// Grid-sized arrays that such a solver adds to its level.
int krylov_fields(const BottomOptions& options, bool preconditioned);

// Throws std::invalid_argument for an unknown name. The hierarchy must outlive the result, and its bottom level have at
// least the ghost layers of powers_need().
std::unique_ptr<BottomSolver> make_bottom(Hierarchy& hierarchy, const BottomOptions& bottom,
                                          const MultigridOptions& multigrid);

}  // namespace keel
