#include "miniapp/report/krylov_record.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "miniapp/report/quantities.hpp"

namespace keel {

std::string outcome_text(const Report& report) {
    return fmt::format("{}, {}{}, {}; residual claimed {:.3e}, true {:.3e}",
                       counted(report.iterations, "iteration"), name(report.outcome),
                       report.vanished.empty() ? "" : " of " + report.vanished,
                       counted(report.restarts, "restart"), report.residuals.back(), report.true_residual);
}

Json krylov_record(std::size_t repeat, const std::string& solver, double seconds, const Report& report) {
    return {{"record", "solve"},
            {"solver", solver},
            {"repeat", repeat},
            {"seconds", seconds},
            {"converged", report.succeeded()},
            {"iterations", report.iterations},
            {"outcome", name(report.outcome)},
            {"vanished", report.vanished},
            {"restarts", report.restarts},
            {"columns_dropped", report.columns_dropped},
            {"residuals", report.residuals},
            {"true_residual", report.true_residual},
            {"applications", report.counts.applications}};
}

}  // namespace keel
