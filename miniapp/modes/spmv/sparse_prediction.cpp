#include "miniapp/modes/spmv/sparse_prediction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "miniapp/deck/text/text.hpp"
#include "miniapp/modes/spmv/spmv.hpp"
#include "miniapp/prediction/solves_text.hpp"
#include "miniapp/prediction/trace.hpp"
#include "solvers/krylov/methods.hpp"
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
    const auto krylov = make_krylov(A, self, rehearsed_options(*use.solver));
    const Field x = A.make_vector();
    const Field f = A.make_vector();
    A.assign(x, [](std::int64_t row) { return entry_of_x(row, 0); });
    A.apply(std::span(&f, 1), A.plain(), std::span(&x, 1));
    recorder.take();  // what was before
    Report report = krylov->solve(x, f);
    return {recorder.take(), std::move(report)};
}

// The work of the rank that has most: of products as it has entries and rows, of vectors as it has blocks of
// these.
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

PredictedSolve solve_of(const NamedSolver& solver, const Report& report) {
    PredictedSolve solve;
    solve.solver = solver.name;
    solve.given = solver.options.assumed_iterations > 0;
    solve.rehearsed_iterations = report.iterations;
    solve.iterations = solve.given ? solver.options.assumed_iterations : report.iterations;
    solve.outcome = name(report.outcome);
    // Whoever gives the iterations says that they are enough.
    solve.converged = report.succeeded() || (solve.given && report.outcome == Outcome::iteration_limit);
    return solve;
}

// All levels of it.
Slice slice_of(const Trace& trace, const PredictedSolve& solve, const Resolved& resolved) {
    Slice slice{.trace = &trace};
    for (const Event& event : trace) slice.last = std::max(slice.last, event.level);
    slice.shares.front().ranks = resolved.ranks;
    if (solve.rehearsed_iterations > 0)
        slice.times = solve.iterations / static_cast<double>(solve.rehearsed_iterations);
    return slice;
}

// Seconds by level and operation of what algebraic multigrid does, and what of them messages take.
std::string amg_times_text(const PredictedSolve& solve) {
    const auto share = [](const SolveTime& time) {
        return fmt::format(
            "sum {}, of which messages and waiting for them {} ({:.0f} %); {} exchanges, {} "
            "all-reduces\n",
            seconds_text(time.seconds()), seconds_text(time.communication_seconds()),
            100 * time.communication_seconds() / time.seconds(), time.exchanges, time.reductions);
    };
    return level_times("Time of set-up, predicted", solve.setup->rows) + share(*solve.setup) + "\n" +
           level_times("Time of a solve, predicted", solve.time.rows) + share(solve.time) + "\n";
}

}  // namespace

BottomOptions rehearsed_options(const NamedSolver& solver) {
    BottomOptions options = solver.options;
    if (options.assumed_iterations > 0)
        options.max_iterations = std::min(options.assumed_iterations, most_sampled);
    return options;
}

bool predicts(const MatrixUse& use, const Resolved& resolved) {
    return resolved.machine && resolved.machine->machine.compute && use.solver;
}

std::string why_not_predicted(const MatrixUse& use, const Resolved& resolved, const MatrixSize& size,
                              double available, const DryRunLimit& limit, const ImaginedAmg* amg) {
    if (!resolved.has_virtual_ranks())
        return "no seconds of solves are predicted where each rank has its own rows; start one rank, with "
               "problem.ranks";
    if (use.uses_amg()) {
        if (!amg)
            return "no seconds are predicted of a hierarchy that depends on ranks; choose amg.coarsening = "
                   "\"pmis\" or \"aggregation\"";
        if (amg->rehearsal) return "";
        if (!amg->too_large.empty()) return "no seconds of solves are predicted: " + amg->too_large;
        if (!amg->missing.empty())
            return "no seconds of solves are predicted: there is no cycle, for want of " + amg->missing +
                   remedy(amg->outcome);
        return "no seconds of solves are predicted with a Krylov method on the coarsest level; choose "
               "amg.coarsest = \"replicated\" or \"gathered\"";
    }
    const MatrixPart whole{static_cast<std::size_t>(size.rows), static_cast<std::size_t>(size.entries)};
    const auto needed = static_cast<double>(predicted_bytes(use, whole));
    if (needed <= available) {
        const BottomOptions options = rehearsed_options(*use.solver);
        const auto rows = static_cast<double>(size.rows);
        // As if rows were points of a plane, which have few entries, or of a space.
        const double across = size.entries < 6 * rows ? std::sqrt(rows) : std::cbrt(rows);
        const Method& method = method_named(options.solver);
        const double iterations = iterations_at_most(across, options.tolerance,
                                                     method.applications.of(options), options.max_iterations);
        const std::string exceeded =
            limit.exceeded_by(cost_of_sparse_solve(rows, size.entries, iterations, needed),
                              "bottom.assumed_iterations or fewer rows");
        return exceeded.empty()
                   ? ""
                   : "no seconds are predicted, iterations not known: with a solve that counts them " +
                         exceeded;
    }
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

    PredictedSolve solve = solve_of(*use.solver, rehearsed.report);
    const Slice slice = slice_of(rehearsed.trace, solve, resolved);

    std::vector<ExchangePlan> plans;
    plans.push_back({0,
                     VectorEntries::Use::solve,
                     scheme,
                     Representatives::themselves(block_layout(1), resolved.topology),
                     {}});
    plans.front().plans.push_back(make_plan(pattern, resolved.topology, scheme, {}));
    const Imagined where{resolved.topology,
                         *resolved.machine,
                         resolved.comm.all_reduce_model,
                         move_of(resolved.comm.all_reduce),
                         {}};
    predict_times(solve, std::span(&slice, 1), plans, where);
    return solve;
}

PredictedSolve predict(const MatrixUse& use, const Resolved& resolved, const ImaginedAmg& amg) {
    require_known({resolved.machine->machine, Memory::host}, resolved.topology);
    const AmgRehearsal& rehearsed = *amg.rehearsal;
    PredictedSolve solve = solve_of(*use.solver, rehearsed.report);
    const Imagined where{resolved.topology,
                         *resolved.machine,
                         resolved.comm.all_reduce_model,
                         move_of(resolved.comm.all_reduce),
                         {},
                         &*amg.coarsest_ranks};
    const Slice slice = slice_of(rehearsed.solve, solve, resolved);
    predict_times(solve, std::span(&slice, 1), amg.plans, where);
    // All of its sums are MPI's.
    Costs costs(amg.plans, where.topology, where.model, where.all_reduce, SumsMove::by_themselves,
                where.coarsest);
    const Slice once{.trace = &rehearsed.setup, .last = slice.last, .shares = slice.shares};
    solve.setup = time_of_solve(std::span(&once, 1), costs);
    return solve;
}

std::string prediction_text(const MatrixUse& use, const PredictedSolve& solve, const Resolved& resolved,
                            const MatrixSize& size) {
    const std::string on = fmt::format("the whole matrix of {} rows on 1 rank", size.rows);
    const std::vector<std::string> sources{
        solve.given
            ? fmt::format(
                  "given: bottom.assumed_iterations of {}; what belongs to them in proportion to {} of a "
                  "solve with {}",
                  use.solver->name, counted(solve.rehearsed_iterations, "iteration"), on)
            : fmt::format("computed: the solve, all-reduces and their words, by solving with {}", on),
        "counted: bytes of work as declared, of the rank with most rows and the one with most entries; "
        "messages "
        "and bytes by the plans of all ranks",
        "modelled: seconds of work, messages and all-reduces by the machine's file; sums under way cost what "
        "work "
        "does not hide; equal ranks, perfect progress, no contention but a node's rate"};
    if (solve.setup) {
        const std::vector<std::string> of_amg{sources.front(),
                                              "counted: bytes of work as declared, of each level those of "
                                              "the rank with most; exchanges of set-up; "
                                              "messages and bytes by the plans of all ranks, of rows that "
                                              "interpolation by C and F rows reads as if "
                                              "they were those for A P",
                                              "modelled: all-reduces of set-up one by one, what is gathered "
                                              "by doublings; agreeing on a plan as a "
                                              "duplicate and a split communicator, once, an exchange of four "
                                              "words an item, what a node's ranks gather and a barrier a "
                                              "round; comparing schemes as agreeing on a plan by each, "
                                              "gathering on nodes what ranks send and one all-reduce; not "
                                              "charged: making plans of that, moving rows to fewer ranks",
                                              sources.back()};
        return sources_text(resolved, of_amg) + "\n" + amg_times_text(solve) +
               solves_text(std::span(&solve, 1));
    }
    std::string text =
        sources_text(resolved, sources) + "\nTime per solve, predicted: the rank with most to do\n";
    for (const TimerRow& row : solve.time.rows)
        text += fmt::format("{:<24} {:>14}\n", row.op, seconds_text(row.t_mean));
    return text + fmt::format("{:<24} {:>14}\n\n", "sum", seconds_text(solve.seconds.solve)) +
           solves_text(std::span(&solve, 1));
}

namespace {

std::string named_timers(const std::vector<TimerRow>& rows, const std::string& solver) {
    std::string lines;
    for (const TimerRow& row : rows) {
        Json record = timer_record(row);
        record["solver"] = solver;
        lines += line_of(record);
    }
    return lines;
}

}  // namespace

std::string prediction_records(const PredictedSolve& solve, const Resolved& resolved,
                               const MatrixSize& size) {
    const std::span one(&solve, 1);
    Json record = solve_json(one, solve, resolved, 0);
    record["computed_on"] = {{"rows", size.rows}, {"ranks", 1}};
    record["cycles_computed_on"] = Json();
    if (!solve.setup) return line_of(record) + timer_records(one, solve);
    record["communication_seconds"] = solve.time.communication_seconds();
    record["setup"] = {{"seconds", solve.setup->seconds()},
                       {"communication_seconds", solve.setup->communication_seconds()},
                       {"all_reduce_seconds", solve.setup->all_reduce_seconds()},
                       {"exchanges", solve.setup->exchanges},
                       {"reductions", solve.setup->reductions}};
    return line_of(record) + named_timers(solve.setup->rows, "amg.setup") +
           named_timers(solve.time.rows, solve.solver);
}

}  // namespace keel
