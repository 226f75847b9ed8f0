#include "miniapp/studies/spmv/sparse_prediction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "miniapp/deck/text/text.hpp"
#include "miniapp/prediction/solves_text.hpp"
#include "miniapp/prediction/trace.hpp"
#include "miniapp/studies/spmv/spmv.hpp"
#include "solvers/krylov/sparse_krylov.hpp"

namespace keel {
namespace {

// As many iterations as tell their proportions.
constexpr int most_sampled = 50;

struct SolvedHere {
    Trace trace;
    Report report;
};

// On this rank alone, where every exchange is noted although nothing has to travel.
SolvedHere solve_here(const MatrixUse& use, const GlobalRows& all) {
    const Communicator self = Communicator::self();
    const auto backend = make_backend(all_backends().front().name);
    const RowPartition partition{static_cast<std::int64_t>(all.rows()), 1};
    Ledger ledger(1);
    SparseMatrix A(self, detect_topology(self), *backend, partition, all, {}, ledger);
    Recorder recorder(A, ledger);
    BottomOptions options = use.solver->options;
    if (options.given_iterations > 0)
        options.max_iterations = std::min(options.given_iterations, most_sampled);
    const auto krylov = make_krylov(A, self, options);
    const Field x = A.make_vector();
    const Field f = A.make_vector();
    A.assign(x, [](std::int64_t row) { return entry_of_x(row, 0); });
    A.apply(std::span(&f, 1), A.plain(), std::span(&x, 1));
    recorder.take();  // what was before
    Report report = krylov->solve(x, f);
    return {recorder.take(), std::move(report)};
}

// The work of the rank that has most: of products as it has entries and rows, of vectors as it has blocks of these.
void scale_work(Trace& trace, const GlobalRows& all, const LargestPart& largest) {
    const auto product = [](std::size_t rows, std::size_t entries) {
        return work_of({.rows = rows, .nonzeros = entries}, 1);
    };
    const Work whole = product(all.rows(), all.columns.size());
    const Work part = product(largest.rows, largest.entries);
    const double of_vectors =
        static_cast<double>(blocks_of(largest.rows)) / static_cast<double>(blocks_of(all.rows()));
    for (Event& event : trace) {
        const bool is_product = event.op == Op::bottom_operator;
        event.work.flops *= is_product ? part.flops / whole.flops : of_vectors;
        event.work.bytes *= is_product ? part.bytes / whole.bytes : of_vectors;
    }
}

}  // namespace

bool predicts(const MatrixUse& use, const Resolved& resolved) {
    return resolved.machine && resolved.machine->machine.compute && use.solver;
}

std::string why_not_predicted(const MatrixUse& use, const Resolved& resolved, const MatrixSize& size,
                              double available) {
    if (use.amg != AmgUse::none)
        return "no seconds of solves are predicted with run.amg, only those of each exchange; choose "
               "run.amg = \"none\"";
    if (!resolved.imagined())
        return "no seconds of solves are predicted where each rank has its own rows; start one rank, with "
               "problem.ranks";
    const MatrixPart whole{static_cast<std::size_t>(size.rows), static_cast<std::size_t>(size.entries)};
    const auto needed = static_cast<double>(predicted_bytes(use, whole));
    if (needed <= available) return "";
    return fmt::format(
        "no seconds of solves are predicted: one with the whole matrix has to stand for it here, and takes "
        "{} "
        "of {}; choose fewer rows",
        bytes_text(needed), bytes_text(available));
}

PredictedSolve predict(const MatrixUse& use, const Resolved& resolved, const GlobalRows& all,
                       const LargestPart& largest, const Pattern& pattern, const SchemeOptions& scheme) {
    // Sums are of the host, wherever the vectors are.
    require_known({resolved.machine->machine, Memory::host}, resolved.topology);
    SolvedHere rehearsed = solve_here(use, all);
    scale_work(rehearsed.trace, all, largest);

    const BottomOptions& options = use.solver->options;
    PredictedSolve solve;
    solve.solver = use.solver->name;
    solve.given = options.given_iterations > 0;
    solve.rehearsed_iterations = rehearsed.report.iterations;
    solve.iterations = solve.given ? options.given_iterations : rehearsed.report.iterations;
    solve.outcome = name(rehearsed.report.outcome);
    // Whoever gives the iterations says that they are enough.
    solve.converged =
        rehearsed.report.succeeded() || (solve.given && rehearsed.report.outcome == Outcome::iteration_limit);
    Slice slice{.trace = &rehearsed.trace};
    slice.ranks = resolved.ranks;
    if (rehearsed.report.iterations > 0) slice.times = solve.iterations / rehearsed.report.iterations;

    std::vector<ExchangePlan> plans;
    plans.push_back({0,
                     GhostCells::Purpose::stencil,
                     scheme,
                     Representatives::of(block_layout(1), resolved.topology, resolved.ranks),
                     {}});
    plans.front().plans.push_back(make_plan(pattern, resolved.topology, scheme, {}));
    const Imagined where{resolved.topology, *resolved.machine, resolved.comm.all_reduce_model,
                         move_of(resolved.comm.all_reduce), 0};
    predict_times(solve, std::span(&slice, 1), plans, where);
    return solve;
}

std::string prediction_text(const MatrixUse& use, const PredictedSolve& solve, const Resolved& resolved,
                            const MatrixSize& size) {
    const std::string on = fmt::format("the whole matrix of {} rows on 1 rank", size.rows);
    const std::vector<std::string> sources{
        solve.given
            ? fmt::format(
                  "given: bottom.given_iterations of {}; what belongs to them in proportion to {} of a "
                  "solve with {}",
                  use.solver->name, counted(solve.rehearsed_iterations, "iteration"), on)
            : fmt::format("computed: the solve, all-reduces and their words, by solving with {}", on),
        "counted: bytes of work as declared, of the rank with most rows and the one with most entries; "
        "messages "
        "and bytes by the plans of all ranks",
        "modelled: seconds of work, messages and all-reduces by the machine's file; sums under way cost what "
        "work "
        "does not hide; equal ranks, perfect progress, no contention but a node's rate"};
    std::string text =
        sources_text(resolved, sources) + "\nTime per solve, predicted: the rank with most to do\n";
    for (const TimerRow& row : solve.time.rows)
        text += fmt::format("{:<24} {:>14}\n", row.op, seconds_text(row.t_mean));
    return text + fmt::format("{:<24} {:>14}\n\n", "sum", seconds_text(solve.seconds.solve)) +
           solves_text(std::span(&solve, 1));
}

std::string prediction_records(const PredictedSolve& solve, const Resolved& resolved,
                               const MatrixSize& size) {
    const std::span one(&solve, 1);
    Json record = solve_json(one, solve, resolved, 0);
    record["computed_on"] = {{"rows", size.rows}, {"ranks", 1}};
    record["cycles_computed_on"] = Json();
    return line_of(record) + timer_records(one, solve);
}

}  // namespace keel
