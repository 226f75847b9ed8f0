// run.mode = spmv: products of a sparse matrix with vectors, and solves with it.

#include <fmt/format.h>

#include <cmath>

#include "miniapp/studies/mode_runs.hpp"
#include "miniapp/studies/spmv/matrix_memory.hpp"
#include "miniapp/studies/spmv/matrix_schemes.hpp"
#include "miniapp/studies/spmv/matrix_source.hpp"
#include "solvers/krylov/methods.hpp"
#include "solvers/krylov/sparse_krylov.hpp"
#include "solvers/systems/sparse_system.hpp"

namespace keel {
namespace {

// A vector without structure: what any rank can tell of any row and column.
double value_at(std::int64_t row, std::size_t column) {
    return std::sin(0.7 * static_cast<double>(row % 1000003) + static_cast<double>(column) + 1.0);
}

// |y - A x| / (|A| |x|) of the worst row and column, by a plain loop over the entries in the order of global columns.
Check product_check(const Communicator& comm, const SparseMatrix& A, const GlobalRows& rows,
                    std::span<const Field> y) {
    double worst = 0;
    for (std::size_t n = 0; n < y.size(); ++n) {
        const std::vector<double> got = A.read(y[n]);
        for (std::size_t r = 0; r < rows.rows(); ++r) {
            double sum = 0;
            double size = 0;
            for (auto e = static_cast<std::size_t>(rows.first[r]);
                 e < static_cast<std::size_t>(rows.first[r + 1]); ++e) {
                const double term = rows.values[e] * value_at(rows.columns[e], n);
                sum += term;
                size += std::abs(term);
            }
            const double error = std::abs(got[r] - sum);
            // Not a number is worst.
            if (!(error <= worst * size)) worst = size > 0 && std::isfinite(error) ? error / size : HUGE_VAL;
        }
    }
    worst = comm.max(worst);
    return {"spmv_product", worst < 1e-13, worst, "< 1e-13"};
}

// |f - A u| / |f| in the norm that the method's tolerance is on.
Check residual_check(SparseMatrix& A, DiagonalScaling scaling, Field u, Field f, double tolerance) {
    SparseSystem plain(A, DiagonalScaling::none);
    const Field r = plain.make_vector();
    plain.residual(r, f, u);
    const Field scaled = plain.make_vector();
    const bool symmetric = scaling == DiagonalScaling::symmetric;
    const Field scale = symmetric ? A.scale(scaling) : Field();
    const auto norm = [&](Field x) {
        if (symmetric)
            A.operations().multiply(scaled, scale, x);
        else
            plain.copy(scaled, x);
        return std::sqrt(plain.dot(scaled, scaled));
    };
    const double norm_f = norm(f);
    const double value = norm_f > 0 ? norm(r) / norm_f : norm(r);
    return {"residual_recomputed", value <= 1.001 * tolerance, value, "<= bottom.tolerance"};
}

// Compares and tries the schemes where that is wanted.
MatrixSchemes choose(const Parameters& p, const Communicator& comm, const Topology& topology,
                     const Backend& backend, const VectorPart& part, const Progress& progress,
                     Results& results) {
    std::vector<SchemeTable>& tables = results.facts.schemes;
    if (schemes_matter(p, topology)) {
        progress("comparing communication schemes");
        tables = compare_schemes(p, comm, part, topology);
    }
    if (tries_schemes(p)) {
        const Tried tried = time_schemes(p, comm, trial_of_matrix(p, comm, backend, part, topology), tables);
        results.facts.tuning_seconds = tried.seconds;
        results.checks.push_back(tried.check);
    }
    choose_schemes(p, comm, tables);
    return schemes_of_matrix(p, tables);
}

template <class Action>
double seconds_of(const Communicator& comm, const Action& action) {
    comm.barrier();
    const double start = now();
    action();
    return now() - start;
}

}  // namespace

TrafficOverRanks over_ranks(const Communicator& comm, const Traffic& mine) {
    TrafficOverRanks both;
    for (const auto number :
         {&Traffic::messages, &Traffic::bytes, &Traffic::off_node_messages, &Traffic::off_node_bytes}) {
        const auto value = static_cast<double>(mine.*number);
        both.busiest.*number = static_cast<long>(comm.max(value));
        both.all.*number = static_cast<long>(comm.sum(value));
    }
    return both;
}

double SpmvResults::products_per_second() const {
    const double middle = median(seconds);
    return middle > 0 ? nonzeros * columns / middle : 0;
}

void run_spmv(const Parameters& p, const Communicator& comm, const Topology& topology, const Backend& backend,
              const Progress& progress, Results& results) {
    progress("reading or generating the matrix");
    const RowPartition partition{matrix_size(p, comm.size()).rows, comm.size()};
    const GlobalRows rows = read_matrix(p, partition, comm.rank());
    const auto t = static_cast<std::size_t>(p.problem.columns);
    const MatrixSchemes schemes =
        choose(p, comm, topology, backend,
               {partition, comm.rank(), ghosts_of(partition, comm.rank(), rows.columns)}, progress, results);
    Ledger ledger(1);
    const HierarchyOptions options = hierarchy_options(p);
    SparseMatrix A(comm, topology, backend, partition, rows,
                   {.scheme = schemes.products,
                    .persistent = options.persistent,
                    .exchange = options.exchange,
                    .all_reduce = options.all_reduce},
                   ledger);
    A.exchange().reserve(t);

    SpmvResults& mine = results.of_mode.emplace<SpmvResults>();
    mine.rows = partition.rows;
    mine.columns = p.problem.columns;
    mine.nonzeros = comm.sum(static_cast<double>(A.nonzeros()));
    mine.most_rows = comm.max(static_cast<double>(A.rows()));
    mine.most_nonzeros = comm.max(static_cast<double>(A.nonzeros()));
    mine.most_ghosts = comm.max(static_cast<double>(A.ghosts()));
    mine.all_ghosts = comm.sum(static_cast<double>(A.ghosts()));
    mine.bytes_moved = comm.sum(work_of(A.plain(), t).bytes);
    const Plan& plan = A.exchange().plan();
    mine.traffic = over_ranks(comm, plan.traffic(comm.rank(), topology, t));
    const MatrixPart part = part_of(rows, A.ghosts(), plan, comm.rank(), topology);
    results.facts.predicted_bytes = comm.max(static_cast<double>(predicted_bytes(p, part)));
    results.facts.array_bytes = comm.max(static_cast<double>(array_bytes(p, part)));

    std::vector<Field> x;
    std::vector<Field> y;
    for (std::size_t n = 0; n < t; ++n) {
        x.push_back(A.make_vector());
        y.push_back(A.make_vector());
        A.assign(x.back(), [n](std::int64_t row) { return value_at(row, n); });
    }
    progress("multiplying");
    double my_seconds = 0;
    for (int n = -p.run.warmup; n < p.run.repeats; ++n) {
        if (n == 0) ledger.clear();
        const double seconds = seconds_of(comm, [&] {
            A.apply(y, A.plain(), x);
            A.operations().wait();
        });
        if (n < 0) continue;
        my_seconds += seconds;
        mine.seconds.push_back(comm.max(seconds));
    }
    mine.timers = gather_timers(comm, ledger, my_seconds, p.run.repeats);
    results.seconds = median(mine.seconds);
    results.checks.push_back(product_check(comm, A, rows, y));
    if (!p.run.solve) return;

    if (schemes.solves.columns != schemes.products.columns) A.carry_by(comm, topology, schemes.solves);
    const DiagonalScaling scaling = scaling_of(p.bottom);
    mine.solver = p.bottom.solver;
    const auto krylov = make_krylov(A, comm, p.bottom);
    const Field u = A.make_vector();
    long converged = 0;
    // f = A x, so that a singular matrix has a solution as well.
    for (int n = -p.run.warmup; n < p.run.repeats; ++n) {
        SpmvResults::Solve solve;
        solve.seconds = comm.max(seconds_of(comm, [&] {
            solve.report = krylov->solve(u, y[0]);
            A.operations().wait();
        }));
        progress(fmt::format("solve: {} iterations, {:.4g} s", solve.report.iterations, solve.seconds));
        if (n < 0) continue;
        if (solve.report.succeeded()) ++converged;
        mine.solves.push_back(std::move(solve));
    }
    results.checks.push_back(residual_check(A, scaling, u, y[0], p.bottom.tolerance));
    results.checks.push_back(all_converged(converged, p.run.repeats));
}

}  // namespace keel
