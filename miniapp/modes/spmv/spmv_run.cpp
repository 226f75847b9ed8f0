// run.mode = spmv: products of a sparse matrix with vectors, and solves with it.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/hash.hpp"
#include "miniapp/modes/repeat.hpp"
#include "miniapp/modes/spmv/matrix/file/file_rows.hpp"
#include "miniapp/modes/spmv/matrix/matrix_source.hpp"
#include "miniapp/modes/spmv/matrix_schemes.hpp"
#include "miniapp/modes/spmv/spmv_mode.hpp"
#include "miniapp/report/facts.hpp"
#include "miniapp/report/header.hpp"
#include "miniapp/report/norms.hpp"
#include "miniapp/report/tables/level_tables.hpp"
#include "miniapp/schemes/amg_schemes.hpp"
#include "miniapp/setup/machine/machine_facts.hpp"
#include "miniapp/setup/machine/memory.hpp"
#include "solvers/amg/cycle.hpp"
#include "solvers/krylov/methods.hpp"
#include "solvers/krylov/sparse_krylov.hpp"
#include "solvers/systems/sparse/block_ic0.hpp"
#include "solvers/systems/sparse/sparse_system.hpp"

namespace keel {
namespace {

// |y - A x| / (|A| |x|) of the worst row and column, by a plain loop over the entries in the order of global
// columns.
Check product_check(const Communicator& comm, const SparseMatrix& A, const GlobalRows& rows,
                    std::span<const Field> y) {
    double worst = 0;
    for (std::size_t n = 0; n < y.size(); ++n) {
        const std::vector<double> got = A.read(y[n]);
        for (std::size_t r = 0; r < rows.rows(); ++r) {
            double sum = 0;
            double size = 0;
            for (auto [e, end] = entries_of(rows, r); e < end; ++e) {
                const double term = rows.values[e] * entry_of_x(rows.columns[e], n);
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

// An entry of a vector without structure, so that differences whose sum is zero along diagonals are seen.
double rough_entry(std::uint64_t vector, std::int64_t row) {
    return uniform(vector, static_cast<std::uint64_t>(row));
}

// A warning where the method is for symmetric matrices and |(A x,y) - (x,A y)|, of two vectors without
// structure, is more than rounding makes of its terms; empty where all is well. Collective.
std::string warning_of_asymmetry(const Communicator& comm, const GlobalRows& rows, std::int64_t first,
                                 const std::string& method) {
    if (method_named(method).scaling != DiagonalScaling::symmetric) return "";
    double difference = 0;
    double size = 0;
    for (std::size_t r = 0; r < rows.rows(); ++r) {
        const std::int64_t i = first + static_cast<std::int64_t>(r);
        for (auto [e, end] = entries_of(rows, r); e < end; ++e) {
            const std::int64_t j = rows.columns[e];
            const double ij = rows.values[e] * rough_entry(0, j) * rough_entry(1, i);
            const double ji = rows.values[e] * rough_entry(0, i) * rough_entry(1, j);
            difference += ij - ji;
            size += std::abs(ij) + std::abs(ji);
        }
    }
    difference = std::abs(comm.sum(difference));
    size = comm.sum(size);
    if (!(difference > 1e-12 * size)) return "";
    return fmt::format(
        "the matrix is not symmetric, and bottom.solver = \"{}\" is for symmetric positive definite ones: it "
        "need not converge; choose gmres or bicgstab",
        method);
}

// |f - A u| / |f| in the norm that the method's tolerance is on.
Check residual_check(SparseMatrix& A, const BottomOptions& options, Preconditioner* M, Field u, Field f) {
    const DiagonalScaling scaling = scaling_of(options);
    SparseSystem plain(A, DiagonalScaling::none);
    const Field r = plain.make_vector();
    plain.residual(r, f, u);
    const bool natural = M && options.norm == Norm::natural;
    if (natural) plain.take_natural_norm(*M);
    const Field scaled = plain.make_vector();
    const bool symmetric = !natural && scaling == DiagonalScaling::symmetric;
    const Field scale = symmetric ? A.scale(scaling) : Field();
    const auto norm = [&](Field x) {
        if (symmetric) A.operations().multiply(scaled, scale, x);
        return plain.norm(symmetric ? scaled : x);
    };
    const double norm_f = norm(f);
    const double value = norm_f > 0 ? norm(r) / norm_f : norm(r);
    return {"residual_recomputed", value <= 1.001 * options.tolerance, value,
            fmt::format("<= bottom.tolerance, of {}", norm_quotient(options))};
}

// |(M x, y) - (x, M y)| / (|M x| |y|), of two vectors without structure.
Check symmetry_check(SparseMatrix& A, Preconditioner& M) {
    SparseSystem system(A, DiagonalScaling::none);
    const Field x = system.make_vector();
    const Field y = system.make_vector();
    const Field Mx = system.make_vector();
    const Field My = system.make_vector();
    A.assign(x, [](std::int64_t row) { return rough_entry(0, row); });
    A.assign(y, [](std::int64_t row) { return rough_entry(1, row); });
    M.apply(Mx, x);
    M.apply(My, y);
    const double size = system.norm(Mx) * system.norm(y);
    const double difference = std::abs(system.dot(Mx, y) - system.dot(x, My));
    const double value = size > 0 ? difference / size : difference;
    return {"preconditioner_symmetry", value < 1e-12, value, "< 1e-12"};
}

Traffic sent(const Ledger& ledger) {
    Traffic all;
    for (int level = 0; level < ledger.levels(); ++level)
        for (const Op op : {Op::send, Op::reduction, Op::reduction_begin})
            all += ledger.at(op, level).traffic;
    return all;
}

template <class Action>
double seconds_of(const Communicator& comm, const Action& action) {
    comm.barrier();
    const double start = now();
    action();
    return now() - start;
}

// The parts of the matrix that ranks have, and the messages of a product. Collective.
SpmvResults sizes_of(const MatrixUse& use, const Communicator& comm, const Topology& topology,
                     SparseMatrix& A, const GlobalRows& rows) {
    const auto columns = static_cast<std::size_t>(use.columns);
    SpmvResults sizes;
    sizes.rows = A.partition().rows;
    sizes.singular = is_singular(use.matrix) || rows_cancel(comm, rows);
    sizes.columns = use.columns;
    sizes.counts = {count_over(comm, A.rows()), count_over(comm, A.nonzeros()), count_over(comm, A.ghosts())};
    sizes.bytes_moved = comm.sum(work_of(A.plain(), columns).bytes);
    sizes.traffic = over_ranks(comm, A.exchange().plan().traffic(comm.rank(), topology, columns));
    return sizes;
}

// Whether the columns sum to zero, by a product with a vector without structure. Collective.
bool columns_cancel(const Communicator& comm, const GlobalRows& rows) {
    double sum = 0;
    double size = 0;
    for (std::size_t e = 0; e < rows.values.size(); ++e) {
        const double term = rows.values[e] * entry_of_x(rows.columns[e], 0);
        sum += term;
        size += std::abs(term);
    }
    return std::abs(comm.sum(sum)) <= 1e-12 * comm.sum(size);
}

// Notes the size of f from a file and, if constants are in the null spaces of the matrix and its transpose,
// takes its mean away. Collective.
void prepare_values(const Communicator& comm, const GlobalRows& rows, bool singular,
                    std::vector<double>& values, RunFacts& facts) {
    double largest = 0;
    for (const double value : values) largest = std::max(largest, std::abs(value));
    facts.norm_f = comm.max(largest);
    facts.zero_right_side = facts.norm_f == 0;
    if (!singular || facts.zero_right_side) return;
    if (!columns_cancel(comm, rows)) {
        facts.warnings.push_back(
            "problem.rhs: each row of the matrix sums to zero, so that A u = f need not have a solution");
        return;
    }
    double sum = 0;
    for (const double value : values) sum += value / facts.norm_f;
    facts.removed_mean = comm.sum(sum) / comm.sum(static_cast<double>(values.size()));
    for (double& value : values) value -= facts.removed_mean * facts.norm_f;
    facts.warnings.push_back(
        fmt::format("problem.rhs: constants are in the null space, so f has lost its mean, {:.3e} of max|f|",
                    facts.removed_mean));
}

// The memory and the warnings that the matrix brings. Collective.
void note_matrix(const MatrixUse& use, const Communicator& comm, const Topology& topology, SparseMatrix& A,
                 const GlobalRows& rows, RunFacts& facts) {
    const auto ghosts = static_cast<std::int64_t>(A.ghosts());
    const MatrixPart part = part_of(rows.rows(), rows.columns.size(), comm.all_gather({&ghosts, 1}),
                                    A.exchange().plan(), comm.rank(), topology, use.columns);
    facts.predicted_bytes = comm.max(static_cast<double>(predicted_bytes(use, part)));
    facts.array_bytes =
        comm.max(array_bytes(use, {static_cast<std::int64_t>(part.rows), static_cast<double>(part.entries)}));
    facts.least_memory = "the matrix and the vectors";
    if (!use.solver) return;
    const std::string warning = warning_of_asymmetry(comm, rows, A.first_row(), use.solver->options.solver);
    if (!warning.empty()) facts.warnings.push_back(warning);
}

}  // namespace

double SpmvResults::products_per_second() const {
    const double middle = median(seconds);
    return middle > 0 ? counts.nonzeros.all * columns / middle : 0;
}

void PreparedSpmv::run(const RunContext& context, Findings& findings) const {
    const Communicator& comm = context.comm;
    const Topology& topology = resolved_.topology;
    RunFacts& facts = findings.facts;
    context.progress.say("measuring the triad bandwidth");
    facts.triad_bytes_per_second = bandwidth(resolved_, comm, context.backend);
    const MemoryGrowth growth(context.backend);

    context.progress.say("reading or generating the matrix");
    const RowPartition partition = owners_of_rows(use_.matrix, topology);
    RowOrder order = order_of(use_.matrix, partition.rows, comm);
    GlobalRows rows = read_matrix(use_.matrix, order, partition, comm);
    std::vector<double> values;
    if (!use_.rhs_file.empty()) values = values_of_file(comm, use_.rhs_file, order.to_new, partition);
    order = {};
    const VectorPart vectors{partition, comm.rank(), ghosts_of(partition, comm.rank(), rows.columns)};
    const std::vector<SchemeTable> tables = choose_schemes(
        resolved_, context, [&] { return compare_schemes(use_, resolved_, comm, vectors); },
        [&](const SchemeTable& table) {
            return make_matrix_trial(resolved_, comm, context.backend, vectors, table);
        },
        findings);
    const MatrixSchemes schemes = schemes_of_matrix(resolved_.comm.scheme, tables);
    Ledger ledger(use_.uses_amg() ? most_amg_levels : 1, price_of(resolved_.simulation));
    ledger.mark(context.regions);
    ledger.mark(context.backend.regions());
    ledger.watch(context.backend.device_log());
    SparseOptions sparse{.scheme = schemes.products,
                         .exchange = resolved_.comm.exchange,
                         .all_reduce = resolved_.comm.all_reduce,
                         .keeps_rows = !use_.uses_amg()};
    SparseMatrix A(comm, topology, context.backend, partition, rows, sparse, ledger);
    A.exchange().reserve(static_cast<std::size_t>(use_.columns));
    SpmvResults mine = sizes_of(use_, comm, topology, A, rows);
    note_matrix(use_, comm, topology, A, rows, facts);
    std::optional<Field> given;
    if (!use_.rhs_file.empty()) {
        prepare_values(comm, rows, mine.singular, values, facts);
        given = A.make_vector();
        A.assign(*given,
                 [&](std::int64_t row) { return values[static_cast<std::size_t>(row - A.first_row())]; });
        values = {};
    }
    context.report.begin(facts);
    if (facts.zero_right_side) context.report.tell(right_side_text(facts));

    const std::vector<Field> y = multiply(context, A, ledger, mine, findings);
    if (mine.seconds.empty()) return;
    context.report.record(spmv_records(mine));
    findings.merit = {"spmv.nonzeros_per_second", mine.products_per_second(), "nonzeros/s"};
    findings.checks.push_back(product_check(comm, A, rows, y));
    if (use_.solver) {
        if (schemes.solves.columns != schemes.products.columns) A.carry_by(comm, topology, schemes.solves);
        sparse.scheme = schemes.solves;
        solve(context, A, std::move(rows), sparse, ledger, given.value_or(y[0]), mine, findings);
        findings.seconds = median(mine.seconds);  // a product's, with solves, too
    }
    facts.measured_bytes = comm.max(growth.on_host() + growth.on_device() / facts.device_sharing);
    const TimeVerdict product =
        verdict_on(resolved_, facts, tables, mine.timers, static_cast<int>(mine.seconds.size()));
    TimeVerdict cycles;
    if (mine.amg && !mine.solves.empty())
        cycles = verdict_on(resolved_, facts, tables, mine.solve_timers, static_cast<int>(mine.solves.size()),
                            mine.solver->name);
    context.report.tell(
        spmv_text(use_.matrix.options.matrix, mine, facts.triad_bytes_per_second, product.text, cycles.text) +
        schemes_text(resolved_.comm.chooser, tables, facts.tuning_seconds));
    context.report.record(product.record + cycles.record + scheme_records(resolved_.comm.chooser, tables));
}

// Returns y = A x; the results have no seconds where the run ended before.
std::vector<Field> PreparedSpmv::multiply(const RunContext& context, SparseMatrix& A, Ledger& ledger,
                                          SpmvResults& mine, Findings& findings) const {
    std::vector<Field> x;
    std::vector<Field> y;
    for (std::size_t n = 0; n < static_cast<std::size_t>(use_.columns); ++n) {
        x.push_back(A.make_vector());
        y.push_back(A.make_vector());
        A.assign(x.back(), [n](std::int64_t row) { return entry_of_x(row, n); });
    }
    context.progress.say("multiplying");
    const auto product = [&](int) {
        const double seconds = seconds_of(context.comm, [&] {
            A.apply(y, A.plain(), x);
            A.operations().wait();
        });
        return TimedSolve{.seconds = context.comm.max(seconds), .my_seconds = seconds};
    };
    const auto repeated =
        repeat_solves(resolved_, context, ledger, findings, {.solve = product, .what = "products"});
    if (!repeated) return y;
    mine.seconds = repeated->seconds;
    mine.timers = repeated->timers;
    return y;
}

// Solves A u = f as often as asked for. The rows are freed once a hierarchy has been
// made of them.
void PreparedSpmv::solve(const RunContext& context, SparseMatrix& A, GlobalRows rows,
                         const SparseOptions& sparse, Ledger& ledger, Field f, SpmvResults& mine,
                         Findings& findings) const {
    const Communicator& comm = context.comm;
    mine.solver = use_.solver;
    const auto& [solver, options] = *use_.solver;
    AmgSchemeChoice choice(resolved_, context.backend);
    const SetupContext amg_context{comm, resolved_.topology, context.backend,
                                   choice.scheme_for(comm, resolved_.topology, sparse.scheme)};
    std::unique_ptr<AmgHierarchy> hierarchy;
    std::unique_ptr<Preconditioner> M;
    if (use_.factors_blocks()) {
        const double my_seconds =
            seconds_of(comm, [&] { M = std::make_unique<BlockIncompleteCholesky>(comm, A, rows, ledger); });
        findings.facts.setup_seconds = comm.max(my_seconds);
    }
    if (use_.uses_amg()) {
        context.progress.say("setting up algebraic multigrid");
        ledger.clear();
        const double my_seconds = seconds_of(comm, [&] {
            hierarchy = std::make_unique<AmgHierarchy>(
                amg_context, A, std::move(rows), use_.amg, sparse, ledger,
                AmgSetting{.watch = {},
                           .singular = mine.singular,
                           .near_null = near_null(use_.matrix, A.first_row(), A.rows())});
        });
        M = std::make_unique<AmgCycle>(*hierarchy);
        mine.amg = findings_of(comm, *hierarchy);
        mine.amg->setup_seconds = findings.facts.setup_seconds = comm.max(my_seconds);
        mine.amg->setup = gather_timers(comm, ledger, my_seconds, 1, false);
        for (const Check& check : choice.checks()) findings.checks.push_back(check);
    }
    const auto krylov = M ? make_krylov(A, options, *M) : make_krylov(A, comm, options);
    const Field u = A.make_vector();
    const auto visits_so_far = [&] {
        const Coarsest* const coarsest = hierarchy ? hierarchy->solver_of_coarsest() : nullptr;
        return coarsest ? coarsest->visits() : CoarsestVisits();
    };
    CoarsestVisits before_solves;
    SpmvResults::Solve last;
    const auto one = [&](int) {
        const Traffic before = sent(ledger);
        const double seconds = seconds_of(comm, [&] {
            last.report = krylov->solve(u, f);
            A.operations().wait();
        });
        last.seconds = comm.max(seconds);
        last.traffic = over_ranks(comm, sent(ledger) - before);
        return TimedSolve{.seconds = last.seconds,
                          .my_seconds = seconds,
                          .progress = fmt::format("{} iterations", last.report.iterations)};
    };
    const auto keep = [&] {
        context.report.record(solve_record(*mine.solver, mine.solves.size(), last));
        mine.solves.push_back(last);
        mine.iterations += last.report.iterations;
    };
    const auto repeated =
        repeat_solves(resolved_, context, ledger, findings,
                      {.solve = one, .begin = [&] { before_solves = visits_so_far(); }, .keep = keep});
    if (!repeated) return;
    mine.solve_timers = repeated->timers;
    mine.iterations /= repeated->done;
    if (!method_named(options.solver).repeats_cycles())
        mine.kernels =
            kernel_times(mine.solve_timers, 0, mine.amg ? PreconditionedBy::cycle : PreconditionedBy::blocks);
    context.report.record(kernel_records(mine.kernels, solver, mine.iterations));
    if (mine.amg) {
        mine.amg->solves = mine.solve_timers;
        count_visits(*mine.amg, comm, visits_so_far() - before_solves, repeated->done);
        context.report.record(amg_records(*mine.amg, solver, "amg.setup", solver));
    }
    if (M && M->vanished().empty() && !M->varies() && wants_symmetric_preconditioner(options))
        findings.checks.push_back(symmetry_check(A, *M));
    if (const auto lost = krylov->orthogonality()) findings.checks.push_back(basis_orthogonality(*lost));
    findings.checks.push_back(residual_check(A, options, M.get(), u, f));
    const auto converged =
        std::ranges::count_if(mine.solves, [](const auto& solve) { return solve.report.succeeded(); });
    findings.checks.push_back(all_converged(converged, static_cast<int>(mine.solves.size())));
}

}  // namespace keel
