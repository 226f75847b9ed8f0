#pragma once

// Geometric multigrid: V-cycles, and full multigrid followed by V-cycles.

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "solvers/krylov/bottom_solver.hpp"
#include "solvers/multigrid/algebraic/algebraic_cycle.hpp"
#include "solvers/multigrid/flexible_cg.hpp"
#include "solvers/multigrid/hierarchy.hpp"
#include "solvers/multigrid/options.hpp"
#include "solvers/multigrid/smoothers/smoother.hpp"
#include "solvers/multigrid/stages.hpp"

namespace keel {

struct SolveReport {
    Outcome outcome = Outcome::iteration_limit;  // the cycles'; breakdown: a residual that is not finite
    int cycles = 0;
    std::vector<double> residuals;  // max|f - L u| / max|f| after each cycle; entry 0 is before the first
    // The number of cycles before each residual: 0, 1, 2, ..., with cycles in single precision some of these.
    std::vector<int> measured_after;
    // Bottom solves, in order; those of a bottom grid that is on other ranks are known there alone.
    std::vector<Report> visits;

    // If the solve stagnated, the residual that rounding alone may leave, eps |L| max|u| / max|f|, with |L|
    // the largest sum of magnitudes in a row.
    std::optional<double> floor = {};

    bool converged() const { return outcome == Outcome::converged; }
    // Bottom solves whose |f - L u| / |f|, in 2-norms, missed their tolerance, whatever norm their method
    // stops by.
    int missed_bottoms() const;
    int bottom_iterations() const;  // in all visits
};

class Multigrid {
  public:
    // The hierarchy has two levels or more, and its bottom level the ghost layers of powers_need(). It must
    // outlive this object. Cycle "F" and linear interpolation need its all_ghosts. Throws
    // std::invalid_argument if the bottom solver is unknown.
    Multigrid(Hierarchy& hierarchy, const MultigridOptions& options, const BottomOptions& bottom);

    // Solves L u = f on level `finest`, which is above the bottom. Its f is given (and solvable where the
    // problem is singular: make_solvable) and not changed. From u = 0 until max|f - L u| <= tolerance max|f|
    // or cycles no longer gain. Overwrites u, f and r of all coarser levels. Collective over the level's
    // ranks; where cycles gain little, with an all-reduce more. Guess::any: from u as it is, with which full
    // multigrid does nothing; residuals[0] is then that of u.
    SolveReport solve(int finest = 0, Guess guess = Guess::zero);

    // The hierarchy has other coefficients now. Collective: algebraic multigrid is set up again.
    void update();

    // The cycle that the bottom solver repeats, or is preconditioned by; null if it is no algebraic
    // multigrid, and on ranks that do not solve.
    AlgebraicCycle* algebraic() { return algebraic_.get(); }

    // The bottom level's u = approximately L^-1 f, from a zero guess; if the problem is singular the mean of
    // f is removed first, in place. Collective over the ranks of the bottom level.
    Report solve_bottom();

    // u = one V-cycle for L u = f from u = 0 or, in double precision, from the u that is given. u and f:
    // fields of the finest level; f is not changed. Overwrites the level's r and u, f, r of the coarser ones.
    // Collective.
    void cycle(Field u, Field f, Guess guess = Guess::zero);
    int bottom_iterations() const;  // in the last cycle
    // u of level `finest` by one full multigrid cycle for its f, as solve() begins with cycle "F", but
    // without the norms and all-reduces of a stopping test. Returns the visits to the bottom. Needs the
    // hierarchy's all_ghosts. Collective.
    std::vector<Report> full_cycle(int finest = 0);

    // max|f - L u| on a level by a fresh exchange; +infinity where a value is not finite. Collective.
    double residual_norm(int level);

  private:
    Report begin_bottom();
    Report finished(Report begun);
    Report relax(Level& bottom);
    void visit_bottom();
    void conclude_visit();

    // A solve in progress.
    struct Solve {
        Level& level;
        int finest;
        Guess guess;
        double norm_f;
        SolveReport report = {};
        std::optional<Outcome> end = {};
    };
    using ResidualNorm = std::function<double()>;  // for u as it is now
    void begin(Solve& solve, const ResidualNorm& norm);
    bool goes_on(const Solve& solve) const;
    void conclude_cycles(Solve& solve, int cycles, const ResidualNorm& norm, bool definite = true);
    void iterate_by_stages(Solve& solve);
    void iterate_accelerated(Solve& solve, FlexibleCG& cg);
    void iterate_cycles(Solve& solve);

    void take_over(int l);
    void interpolate(int l, Interpolation interpolation, std::optional<Colour> colour = std::nullopt);
    bool goes_by_stages() const;
    void correct(int finest, Field u, Update update, Field r, const CorrectionScales& scales, int count,
                 Cycle first);
    void correct_in_double(int finest, Field r, const CorrectionScales& scales, int count, Cycle first);
    void cycles(int l, Guess guess, int count, Cycle first);
    double stored_residual_norm(Level& level);
    void v_cycle(int l, Guess guess, double* norm = nullptr);
    void cycles_for(int l, Field u, Field f, Guess guess = Guess::zero, int count = 1,
                    Cycle first = Cycle::v);
    FlexibleCG* accelerator(int l);
    void full_multigrid(int finest);
    double rounding_floor(Level& level, double norm_f);

    Hierarchy& levels_;
    MultigridOptions options_;
    int bottom_sweeps_;
    bool bottom_is_symmetric_;                   // whether its relaxation is; accelerators do without
    std::unique_ptr<AlgebraicCycle> algebraic_;  // null: the bottom is not solved with it
    std::unique_ptr<BottomSolver> bottom_;       // null: the bottom is relaxed, or elsewhere
    std::vector<Report> visits_;
    bool visiting_ = false;  // whether the last one's solver has the report yet
    std::vector<std::unique_ptr<FlexibleCG>> accelerators_;  // by level, made when asked for
    // L e = r, also by level: what stages of cycles in double precision work on.
    struct Correction {
        Field e, r;
    };
    std::vector<std::optional<Correction>> corrections_;
};

}  // namespace keel
