#pragma once

// Text and record of one solve by a Krylov method as main solver.

#include <string>

#include "miniapp/report/records/records.hpp"
#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/options.hpp"

namespace keel {

// "12 iterations, converged, 0 restarts; |r| / |f| claimed 1.0e-11, true 1.1e-11"
std::string outcome_text(const Report& report, const BottomOptions& options);
// A line on what makes deep pipelines and s-step methods restart less; empty where there is nothing to
// advise.
std::string restarts_text(int restarts, const BottomOptions& options, bool preconditioned);

// The residuals of a solve by iteration, not more than some twenty of them and always the last.
std::string history_text(const std::string& title, const std::vector<double>& residuals);

// A record "solve", but for what the solve communicated.
Json krylov_record(std::size_t repeat, const std::string& solver, double seconds, const Report& report,
                   const BottomOptions& options);

}  // namespace keel
