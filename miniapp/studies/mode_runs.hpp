#pragma once

// The measured part of a run, one function a mode.

#include "kernels/ledger.hpp"
#include "miniapp/setup/simulation.hpp"
#include "miniapp/studies/grids/problem.hpp"

namespace keel {

// What every mode finds built: the problem's hierarchy, its right-hand side in f of the finest level.
struct Setting {
    const Parameters& parameters;
    const Communicator& comm;
    const Backend& backend;
    const Problem& problem;
    Hierarchy& hierarchy;
    Ledger& ledger;
    const Progress& progress;
    double setup_start;  // on this rank's clock

    double setup_seconds() const { return comm.max(now() - setup_start); }
};

// Each makes its solvers, notes the set-up time in results.facts, solves run.warmup + run.repeats times, and fills
// of_mode, checks and seconds of the results. Collective.
void run_solve(const Setting& setting, Results& results);   // solve_mode.cpp
void run_krylov(const Setting& setting, Results& results);  // krylov_mode.cpp
void run_survey(const Setting& setting, Results& results);  // survey_mode.cpp

// The same, but for the set-up time, of a matrix instead of a hierarchy, and notes what memory it should need.
void run_spmv(const Parameters& parameters, const Communicator& comm, const Topology& topology,
              const Backend& backend, const Progress& progress, Results& results);  // spmv_mode.cpp

// One multigrid solve from u = 0 by the decorated hierarchy, measured; the ledger then holds this solve as well. Collective.
SolveRecord solve_once(const Setting& setting, Multigrid& multigrid, const std::string& solver);

// "warm-up 1", "solve 3": of the n-th solve, counted from -run.warmup on.
std::string numbered(int n);

}  // namespace keel
