#include "miniapp/report/records/krylov_record.hpp"

#include <fmt/format.h>

#include "miniapp/deck/text/text.hpp"
#include "miniapp/report/norms.hpp"
#include "miniapp/report/tables/table.hpp"

namespace keel {

std::string outcome_text(const Report& report, const BottomOptions& options) {
    std::string text =
        fmt::format("{}, {}{}, {}; {} claimed {:.3e}, true {:.3e}", counted(report.iterations, "iteration"),
                    name(report.outcome), report.vanished.empty() ? "" : " of " + report.vanished,
                    counted(report.restarts, "restart"), norm_quotient(options), report.residuals.back(),
                    report.true_residual);
    if (scaling_of(options) == DiagonalScaling::symmetric)
        text += fmt::format(", |r| / |f| {:.3e}", report.unscaled_residual);
    return text;
}

std::string history_text(const std::string& title, const std::vector<double>& residuals) {
    ReportTable table(title);
    const std::size_t last = residuals.size() - 1;
    const std::size_t stride = 1 + residuals.size() / 21;
    for (std::size_t k = 0; k < residuals.size(); ++k)
        if (k % stride == 0 || k == last)
            table.add({{"", k, "iteration"}, {"", residuals[k], "residual", Unit::scientific}});
    return table.print();
}

// Both rely on vectors that rounding makes dependent, the sooner the more eigenvalues lie apart and the
// longer they are.
std::string restarts_text(int restarts, const BottomOptions& options, bool preconditioned) {
    const Method& method = method_named(options.solver);
    std::string cures;
    if (method.reads("depth"))
        cures = options.depth > 1 ? "a smaller bottom.depth" : "bottom.solver = \"pipelined_cg\"";
    else if (method.reads("s") && options.s > 1)
        cures = "a smaller bottom.s";
    if (restarts == 0 || cures.empty()) return "";
    if (!preconditioned && options.scaling == Scaling::none && method.scaling != DiagonalScaling::none)
        cures = "bottom.scaling = \"jacobi\" or " + cures;
    return fmt::format("{} by rounding: try {}\n", counted(restarts, "restart"), cures);
}

Json krylov_record(std::size_t repeat, const std::string& solver, double seconds, const Report& report,
                   const BottomOptions& options) {
    Json record{{"record", "solve"},
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
                {"norm", norm_quotient(options)},
                {"true_residual", report.true_residual},
                {"unscaled_residual", report.unscaled_residual},
                {"applications", report.counts.applications}};
    if (report.spectrum && method_named(options.solver).reads("spectrum"))
        record["spectrum"] = {report.spectrum->lowest, report.spectrum->highest};
    return record;
}

}  // namespace keel
