#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "miniapp/deck/text/text.hpp"
#include "miniapp/modes/grids/fixed_point/fixed_point.hpp"
#include "miniapp/modes/grids/fixed_point/prediction.hpp"
#include "miniapp/report/records/krylov_record.hpp"

namespace keel {
namespace {

std::string method_text(const AndersonOptions& options) {
    if (options.depth == 0) return "Picard's iteration";
    return fmt::format("Anderson acceleration of depth {} by {}", options.depth, options.orthogonalisation);
}

}  // namespace

std::string convergence_text(const AndersonOptions& options, const FixedPointRecord& solve,
                             const char* norm) {
    const AndersonReport& report = solve.report;
    std::string text = history_text(
        fmt::format("Convergence of the last solve: {}; {}", method_text(options), norm), report.history);
    text += fmt::format("{}, {}; {} of G", counted(report.iterations, "iteration"), name(report.outcome),
                        counted(report.evaluations, "evaluation"));
    if (solve.cycles) text += fmt::format(" by {} V-cycles", *solve.cycles);
    text += fmt::format("; true residual {:.3e}\n", report.true_residual);
    if (options.depth == 0) return text;
    text += fmt::format("orthogonalisation: {} all-reduces of {} words together",
                        report.orthogonalisation.reductions, report.orthogonalisation.words);
    if (report.dropped > 0)
        text += fmt::format("; {} dropped for the condition", counted(report.dropped, "difference"));
    if (report.dependent > 0) text += fmt::format("; {} dependent", counted(report.dependent, "difference"));
    return text + "\n";
}

Json solve_record(std::size_t repeat, const AndersonOptions& options, const FixedPointRecord& solve,
                  const char* norm) {
    const AndersonReport& report = solve.report;
    Json record{{"record", "solve"},
                {"solver", options.depth > 0 ? "anderson" : "picard"},
                {"repeat", repeat},
                {"seconds", solve.cost.seconds},
                {"converged", report.converged()},
                {"outcome", name(report.outcome)},
                {"norm", norm},
                {"iterations", report.iterations},
                {"evaluations", report.evaluations},
                {"residuals", report.history},
                {"true_residual", report.true_residual},
                {"depth", options.depth},
                {"orthogonalisation", options.orthogonalisation},
                {"orthogonalisation_reductions", report.orthogonalisation.reductions},
                {"orthogonalisation_words", report.orthogonalisation.words},
                {"differences_dropped", report.dropped},
                {"differences_dependent", report.dependent},
                {"map_cycles", solve.cycles ? Json(*solve.cycles) : Json()},
                {"map_unsolved", solve.unsolved ? Json(*solve.unsolved) : Json()}};
    add_cost(record, solve.cost, solve.u_l2);
    return record;
}

std::string iteration_text(const AndersonOptions& options) {
    if (options.depth == 0) return "per iteration: one evaluation of G, and the all-reduce of the test\n";
    const QRCost cost =
        orthogonaliser_named(options.orthogonalisation).iteration(options.depth, options.depth);
    return fmt::format(
        "per iteration with all {} differences, by {}: {} all-reduces of {} words together, beside "
        "G and the test\n",
        options.depth, options.orthogonalisation, cost.reductions, cost.words);
}

Prediction PreparedFixedPoint::predict(const std::vector<SchemeTable>& tables, const Communicator& comm,
                                       const SharedMemory& memory, Progress&) const {
    return predict_fixed_point(resolved_, grids_, equation_, acceleration_, tables, comm, memory);
}

DryRun PreparedFixedPoint::dry_run(const Communicator& comm, const SharedMemory& memory,
                                   Progress& progress) const {
    DryRun dry = PreparedGrids::dry_run(comm, memory, progress);
    if (comm.rank() == 0) dry.text += iteration_text(acceleration_);
    return dry;
}

}  // namespace keel
