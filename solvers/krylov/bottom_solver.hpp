#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/options.hpp"
#include "solvers/krylov/stationary/spectrum_estimate.hpp"
#include "solvers/systems/linear_system.hpp"
#include "solvers/systems/preconditioners/preconditioner.hpp"

namespace keel {

// A Krylov method as solver of a problem L u = f, scaling and preconditioner included: on the bottom grid, on
// algebraic multigrid's coarsest matrix, or alone.
class BottomSolver : KrylovMethod {
  public:
    // `L` is scaled as the options ask for. `bounds`: an interval that holds the eigenvalues of the scaled L,
    // asked for here and by update(). Collective.
    BottomSolver(std::unique_ptr<LinearSystem> L, const BottomOptions& options,
                 std::function<Spectrum()> bounds);
    // With a preconditioner, which must outlive this object; neither `L` nor the options scale. Throws
    // std::invalid_argument if the method takes no such preconditioner. Collective.
    BottomSolver(std::unique_ptr<LinearSystem> L, const BottomOptions& options, Preconditioner& M);

    // Vectors that a solver without a preconditioner makes, besides those of its system.
    static int vectors(const BottomOptions& options);

    // u = approximately L^-1 f, from a zero guess, with norms of the system that the method sees
    // (linear_system.hpp). f is not changed; if the problem is singular it has no mean. Collective.
    Report solve(Field u, Field f) {
        begin(u, f);
        return finish();
    }
    // The same in two halves. Operations on u may follow the first one, though a solve in one launch has its
    // report, whatever the verdict, only in the second: before the next solve begins.
    void begin(Field u, Field f);
    Report finish();
    // L has other coefficients now, in the same fields. Local.
    void update();
    std::optional<double> orthogonality() override { return method_->orthogonality(); }

  private:
    // A run of the method, which adopts an estimate of the spectrum first where the options ask for one and
    // the coefficients have none yet.
    Outcome iterate(const Run& run, Report& report) override;
    Report solve_by_host(Field u, Field f);

    Stop stop_;
    BottomOptions options_;
    std::unique_ptr<LinearSystem> L_;
    std::function<Spectrum()> bounds_;
    Preconditioner* M_ = nullptr;  // null: L is scaled instead
    bool is_right_ = false;        // whether M preconditions from the right
    Spectrum spectrum_;
    std::unique_ptr<KrylovMethod> method_;
    std::optional<SpectrumEstimate> estimate_;
    bool estimated_ = false;
    RestartVectors own_;
    Field y_, b_;    // vectors of the scaled system; y alone for L M y = f
    Report report_;  // of the last solve that the host drove
    bool launches_once_ = false;
};

}  // namespace keel
