#include "miniapp/modes/spmv/sparse_proxy_solve.hpp"

#include <algorithm>

#include "miniapp/modes/spmv/spmv.hpp"
#include "solvers/krylov/sparse_krylov.hpp"

namespace keel {
namespace {

// The work of the rank that has most: products by its entries and rows, vectors by its blocks of rows.
void scale_work(Trace& trace, const GlobalRows& all, const MatrixPart& largest) {
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

// Every exchange is recorded although nothing has to travel.
SparseProxySolve proxy_solve(const MatrixUse& use, const GlobalRows& all, const MatrixPart& largest) {
    const Communicator self = Communicator::self();
    const auto backend = make_backend(all_backends().front().name);
    const RowPartition partition{static_cast<std::int64_t>(all.rows()), 1};
    Ledger ledger(1);
    SparseMatrix A(self, detect_topology(self), *backend, partition, all, {}, ledger);
    Recorder recorder(A, ledger);
    const auto krylov = make_krylov(A, self, proxy_options(*use.solver));
    SparseProxySolve proxy = solve_recorded(A, *krylov, recorder);
    scale_work(proxy.solve, all, largest);
    return proxy;
}

}  // namespace keel
