#include "miniapp/modes/spmv/sparse_prediction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "miniapp/deck/text/text.hpp"
#include "miniapp/modes/spmv/spmv_mode.hpp"
#include "solvers/krylov/methods.hpp"
#include "solvers/krylov/sparse_krylov.hpp"

namespace keel {
namespace {

double share(double most, double all) {
    return all > 0 ? most / all : 0;
}

// Vectors are whole blocks of rows.
double share_of_vectors(double most, double all) {
    const auto blocks = [](double rows) {
        return static_cast<double>(blocks_of(static_cast<std::size_t>(rows)));
    };
    return share(blocks(most), blocks(all));
}

PredictedSolve solve_of(const MatrixUse& use, const Report& report) {
    const NamedSolver& solver = *use.solver;
    const int assumed = solver.options.assumed_iterations;
    PredictedSolve solve;
    solve.solver = solver.name;
    solve.assumed = assumed > 0;
    solve.proxy_iterations = report.iterations;
    solve.counts = {{"cycles", "cycles", 0},
                    {"iterations", "bottom_iterations", solve.assumed ? assumed : 1.0 * report.iterations}};
    solve.outcome = name(report.outcome);
    // Assumed iterations are taken to be enough.
    solve.converged = report.succeeded() || (solve.assumed && report.outcome == Outcome::iteration_limit);
    return solve;
}

// Seconds by level and operation, and what of them messages take.
std::string times_text(const char* of, const SolveTime& time) {
    // A set-up may have no seconds at all.
    const double share = time.seconds() > 0 ? time.communication_seconds() / time.seconds() : 0.0;
    return level_times(of, time.rows) +
           fmt::format(
               "sum {}, of which messages and waiting for them {} ({:.0f} %); {:.0f} exchanges, {:.0f} "
               "all-reduces\n\n",
               seconds_text(time.seconds()), seconds_text(time.communication_seconds()), 100 * share,
               time.exchanges, time.reductions);
}

std::vector<std::string> sources_of(const MatrixUse& use, const PredictedSolve& solve, std::int64_t rows) {
    const std::string on = fmt::format("the whole matrix of {} rows on 1 rank", rows);
    std::vector<std::string> sources;
    sources.push_back(
        solve.assumed
            ? fmt::format(
                  "assumed: bottom.assumed_iterations of {}; what belongs to them in proportion to {} of "
                  "a solve with {}",
                  use.solver->name, counted(solve.proxy_iterations, "iteration"), on)
            : fmt::format("computed: the solve, all-reduces and their words, by solving with {}", on));
    if (solve.setup) {
        sources.push_back(
            "counted: bytes of work as declared, of each level those of the rank with most; exchanges, "
            "all-reduces and plans of set-up; messages and bytes by the plans of all ranks, of rows that "
            "interpolation by C and F rows reads as if they were those for A P");
        sources.push_back(
            "modelled: all-reduces of set-up one by one, what is gathered by doublings; agreeing on a "
            "plan as a duplicate and a split communicator, once, an exchange of four words an item, "
            "what a node's ranks gather and a barrier a round; comparing schemes as agreeing on a plan "
            "by each, gathering on nodes what ranks send and one all-reduce; not modelled: making "
            "plans of that, moving rows to fewer ranks");
    } else {
        sources.push_back(
            "counted: bytes of work as declared, of the rank with most rows and the one with most "
            "entries; messages and bytes by the plans of all ranks");
    }
    return sources;
}

Json more_of(const PredictedSolve& solve, std::int64_t rows) {
    Json more{{"computed_on", {{"rows", rows}, {"ranks", 1}}}, {"cycles_computed_on", Json()}};
    if (!solve.setup) return more;
    const SolveTime& setup = *solve.setup;
    more["communication_seconds"] = solve.time.communication_seconds();
    more["setup"] = {{"seconds", setup.seconds()},
                     {"communication_seconds", setup.communication_seconds()},
                     {"all_reduce_seconds", setup.all_reduce_seconds()},
                     {"exchanges", setup.exchanges},
                     {"reductions", setup.reductions}};
    return more;
}

}  // namespace

BottomOptions proxy_options(const NamedSolver& solver) {
    constexpr int most_sampled = 50;
    BottomOptions options = solver.options;
    if (options.assumed_iterations > 0)
        options.max_iterations = std::min(options.assumed_iterations, most_sampled);
    return options;
}

SparseProxySolve solve_recorded(SparseMatrix& A, BottomSolver& krylov, Recorder& recorder) {
    const Field x = A.make_vector();
    const Field f = A.make_vector();
    A.assign(x, [](std::int64_t row) { return entry_of_x(row, 0); });
    A.apply(std::span(&f, 1), A.plain(), std::span(&x, 1));
    recorder.take();  // events of the set-up
    Report report = krylov.solve(x, f);
    return {.solve = recorder.take(), .report = std::move(report)};
}

void scale_levels(Trace& trace, const std::vector<MostOfLevel>& levels) {
    for (Event& event : trace) {
        if (event.kind != Event::Kind::work || event.op == Op::coarsest) continue;
        const MostOfLevel& level = levels[static_cast<std::size_t>(event.level)];
        double part = share_of_vectors(level.rows, level.all_rows);
        switch (event.op) {
            case Op::smooth:
            case Op::residual:
            case Op::bottom_operator:
            case Op::strength:
            case Op::aggregation:
            case Op::prolongation:
            case Op::galerkin:
                part = share(level.entries, level.all_entries);
                break;
            case Op::interpolate:
            case Op::restrict_:
                part = share(level.entries_of_P, level.all_entries_of_P);
                break;
            default:
                break;
        }
        event.work = {event.work.flops * part, event.work.bytes * part};
    }
}

// Every exchange is recorded although nothing has to travel.
SparseProxySolve proxy_solve(const MatrixUse& use, const GlobalRows& all, const MostOfLevel& most) {
    const Communicator self = Communicator::self();
    const auto backend = make_backend(all_backends().front().name);
    const RowPartition partition{static_cast<std::int64_t>(all.rows()), 1};
    Ledger ledger(1);
    SparseMatrix A(self, detect_topology(self), *backend, partition, all, {}, ledger);
    Recorder recorder(A, ledger);
    const auto krylov = make_krylov(A, self, proxy_options(*use.solver));
    SparseProxySolve proxy = solve_recorded(A, *krylov, recorder);
    scale_levels(proxy.solve, {most});
    return proxy;
}

std::string why_not_predicted(const MatrixUse& use, const MatrixSize& size, const DryRunLimit& limit) {
    const MatrixPart whole{static_cast<std::size_t>(size.rows), static_cast<std::size_t>(size.entries)};
    const double needed = bytes_to_read(use, size) + static_cast<double>(predicted_bytes(use, whole));
    const BottomOptions options = proxy_options(*use.solver);
    const auto rows = static_cast<double>(size.rows);
    // As if rows were points of a plane, which have few entries, or of a space.
    const double across = size.entries < 6 * rows ? std::sqrt(rows) : std::cbrt(rows);
    const double iterations =
        iterations_at_most(across, options.tolerance, method_named(options.solver).applications.of(options),
                           options.max_iterations);
    const std::string exceeded =
        limit.exceeded_by(cost_of_sparse_solve(rows, size.entries, iterations, needed),
                          "bottom.assumed_iterations or fewer rows");
    return exceeded.empty() ? "" : ", iterations not known: with a solve that counts them " + exceeded;
}

Prediction predict(const MatrixUse& use, const Resolved& resolved, const MatrixSize& size,
                   const SparseProxySolve& proxy, const Trace& setup, const std::vector<ExchangePlan>& plans,
                   const CoarsestRanks* coarsest) {
    VirtualRanks ranks = virtual_ranks(resolved);
    ranks.coarsest = coarsest;
    PredictedSolve solve = solve_of(use, proxy.report);
    Slice slice{.trace = proxy.solve};
    slice.ranks = {static_cast<double>(resolved.ranks)};
    Slice once = slice;
    if (solve.proxy_iterations > 0)
        slice.times = solve.counts.back().value / static_cast<double>(solve.proxy_iterations);
    VariedCosts costs(plans, ranks);
    predict(solve, std::span(&slice, 1), costs, {});
    if (coarsest) {
        once.trace = setup;
        ranks.progression = Progression::by_mpi;  // MPI's
        Costs of_setup(plans, ranks);
        solve.setup = time_of_solve(std::span(&once, 1), of_setup);
    }
    solve.more = more_of(solve, size.rows).dump();

    Prediction prediction;
    prediction.sources = sources_of(use, solve, size.rows);
    if (solve.setup) prediction.tables = times_text("Time of set-up, predicted", *solve.setup);
    prediction.tables += times_text("Time of a solve, predicted", solve.time);
    prediction.solves.push_back(std::move(solve));
    return prediction;
}

}  // namespace keel
