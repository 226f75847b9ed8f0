// keel_boomeramg: the matrix of a deck with algebraic multigrid, solved by conjugate gradients around hypre's
// BoomerAMG.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "comm/ranks/communicator.hpp"
#include "kernels/timing/clock.hpp"
#include "miniapp/deck/rules.hpp"
#include "miniapp/deck/text/text.hpp"
#include "miniapp/modes/spmv/spmv_mode.hpp"
#include "miniapp/report/records/records.hpp"
#include "miniapp/report/timers.hpp"
#include "peers/matrix_solver.hpp"
#include "peers/program.hpp"
#include "solvers/systems/sparse/sparse_system.hpp"

namespace {

using namespace keel;

constexpr const char* usage =
    "usage: keel_boomeramg [--method=like_keel | --method=defaults] [DECK.toml] [section.key=value ...]";
constexpr const char* about =
    "Solves A u = A x, with the matrix of a deck of keel with run.mode = \"spmv\" and bottom.preconditioner "
    "= "
    "\"amg\", by conjugate gradients around hypre's BoomerAMG, as often as run.warmup and "
    "run.repeats say, "
    "until |r| / |f| is below bottom.tolerance. Keel's own product tells the residual. With output.json it "
    "appends a record \"peer\".";

std::vector<std::string> not_for_peers(const Deck& deck, int) {
    const auto& matrix = deck.parameters.mode_options.of<MatrixOptions>();
    if (deck.parameters.run.mode != "spmv" || !matrix.solve ||
        deck.parameters.bottom.preconditioner != PreconditionerKind::amg)
        return {
            "bottom.preconditioner: BoomerAMG is set beside Keel's algebraic multigrid; choose run.mode = "
            "\"spmv\", run.solve = true and bottom.preconditioner = \"amg\""};
    Rules rules(deck);
    rules.require(deck.parameters.problem.ranks == 0, {"problem.ranks"},
                  "problem.ranks: is for virtual ranks, and a peer runs; leave it out");
    rules.require(!deck.is_set("problem.rhs"), {"problem.rhs"},
                  "problem.rhs: the peer solves A u = A x; leave it out");
    rules.require(deck.parameters.bottom.solver == "cg", {"bottom.solver"},
                  fmt::format("bottom.solver = \"{}\": the peer is conjugate gradients; choose cg",
                              deck.parameters.bottom.solver));
    return std::move(rules).errors();
}

struct Found {
    std::vector<double> seconds;  // the slowest rank's, by measured solve
    double setup_seconds = 0;
    int iterations = 0;
    int levels = 0;
    double operator_complexity = 0;
    double residual = 0;  // |f - A u| / |f|, formed anew
    double u_l2 = 0;
    bool valid = false;
};

Found solve(const PeerRun& run, const Communicator& comm, SparseMatrix& A, const GlobalRows& rows) {
    const BottomOptions& options = run.deck.parameters.bottom;
    SparseSystem system(A, DiagonalScaling::none);
    const Field x = system.make_vector();
    const Field f = system.make_vector();
    A.assign(x, [](std::int64_t row) { return entry_of_x(row, 0); });
    system.apply(f, x);
    Found found;
    comm.barrier();
    const double setup_start = now();
    MatrixSolver solver(A.first_row(), rows, A.read(f), *named<BoomerMethod>(run.method),
                        run.deck.parameters.amg);
    found.setup_seconds = comm.max(now() - setup_start);
    for (int n = -run.resolved.warmup; n < run.resolved.repeats; ++n) {
        comm.barrier();
        const double start = now();
        found.iterations = solver.solve(options.tolerance, options.max_iterations);
        const double seconds = comm.max(now() - start);
        if (n >= 0) found.seconds.push_back(seconds);
    }
    found.levels = solver.levels();
    found.operator_complexity = solver.operator_complexity();
    const Field u = x;
    const std::vector<double> solution = solver.solution();
    A.assign(u, [&](std::int64_t row) { return solution[static_cast<std::size_t>(row - A.first_row())]; });
    const Field r = system.make_vector();
    system.residual(r, f, u);
    found.u_l2 = system.norm(u);
    found.residual = system.norm(r) / system.norm(f);
    // Its own r is a recurrence.
    found.valid = found.residual <= 1.01 * options.tolerance;
    return found;
}

Json record_of(const Found& found, const PeerRun& run, std::int64_t rows) {
    return {{"record", "peer"},
            {"peer", MatrixSolver::version()},
            {"method", run.method},
            {"ranks", run.resolved.ranks},
            {"cells", Json()},
            {"unknowns", rows},
            {"tolerance", run.deck.parameters.bottom.tolerance},
            {"iterations", found.iterations},
            {"levels", found.levels},
            {"operator_complexity", found.operator_complexity},
            {"residual", found.residual},
            {"norm", "|r| / |f|"},
            {"u_l2", found.u_l2},
            {"setup_seconds", found.setup_seconds},
            {"seconds", found.seconds},
            {"valid", found.valid}};
}

std::string text_of(const Found& found, const PeerRun& run, std::int64_t rows) {
    const auto [least, most] = std::ranges::minmax(found.seconds);
    return fmt::format(
        "{}, {}\n{} rows on {}\n{}, operator complexity {:.3f}; {}, |r| / |f| = {:.2e} by Keel's product\n"
        "Solve: median {} of {} (min {}, max {}); set-up {}\nRESULT {}\n",
        MatrixSolver::version(), run.method, rows, counted(run.resolved.ranks, "rank"),
        counted(found.levels, "level"), found.operator_complexity, counted(found.iterations, "iteration"),
        found.residual, seconds_text(median(found.seconds)), found.seconds.size(), seconds_text(least),
        seconds_text(most), seconds_text(found.setup_seconds), found.valid ? "VALID" : "INVALID");
}

Status run(const PeerRun& run, const Communicator& comm) {
    const MatrixChoice choice = matrix_of(run.deck, run.resolved.ranks);
    const RowPartition partition{matrix_size(choice).rows, comm.size()};
    const GlobalRows rows = read_matrix(choice, partition, comm);
    const auto backend = make_backend(run.resolved, comm);
    Ledger ledger(1);
    SparseMatrix A(comm, run.resolved.topology, *backend, partition, rows,
                   {.scheme = run.resolved.comm.scheme}, ledger);
    const Found found = solve(run, comm, A, rows);
    if (comm.rank() == 0) run.file->append(line_of(record_of(found, run, partition.rows)));
    if (!run.file->finish()) return broken;
    if (comm.rank() == 0) fmt::print("{}", text_of(found, run, partition.rows));
    return found.valid ? valid : invalid;
}

}  // namespace

int main(int argc, char** argv) {
    keel::Session session(argc, argv);
    const keel::PeerProgram program{"keel_boomeramg", usage, about, keel::words_of<keel::BoomerMethod>(),
                                    not_for_peers};
    return keel::run_peer(program, std::span<char* const>(argv, static_cast<std::size_t>(argc)).subspan(1),
                          run);
}
