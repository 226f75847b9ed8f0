// keel_hypre: the problem of a deck, solved by hypre to the residual that Keel is asked for.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "comm/ranks/communicator.hpp"
#include "kernels/timing/clock.hpp"
#include "miniapp/deck/text/text.hpp"
#include "miniapp/modes/grids/checks.hpp"
#include "miniapp/report/norms.hpp"
#include "miniapp/report/records/records.hpp"
#include "miniapp/report/tables/level_tables.hpp"
#include "miniapp/report/timers.hpp"
#include "miniapp/setup/problem/problem.hpp"
#include "miniapp/setup/problem/shape.hpp"
#include "peers/cells.hpp"
#include "peers/program.hpp"
#include "peers/structured_solver.hpp"

namespace {

using namespace keel;

constexpr int most_iterations = StructuredSolver::most_iterations;

constexpr const char* usage =
    "usage: keel_hypre [--method=pcg_pfmg | --method=pfmg] [DECK.toml] [section.key=value ...]";
constexpr const char* about =
    "Solves the problem of a deck of keel (problem.*) by hypre, as often as run.warmup and run.repeats say, "
    "in "
    "the fewest iterations that reach multigrid.tolerance on max|r| / max|f|. Keel's own operator tells the "
    "residual. With output.json it appends a record \"peer\".";

// Settings of a valid deck that have no meaning here.
std::vector<std::string> not_for_peers(const Deck& deck, int ranks) {
    const ProblemOptions& problem = deck.parameters.problem;
    std::vector<std::string> errors;
    if (deck.parameters.run.mode != "solve")
        errors.push_back(fmt::format("run.mode = \"{}\": only a solve has a peer; choose solve",
                                     deck.parameters.run.mode));
    if (deck.is_set("run.steps"))
        errors.emplace_back("run.steps: a peer solves one problem again and again; leave it out");
    if (problem.ranks > 0)
        errors.emplace_back("problem.ranks: is for virtual ranks, and a peer runs; leave it out");
    else if (problem.dimensions == 2)
        errors.emplace_back(
            "problem.dimensions = 2: only matrices in three are handed to hypre; leave it out");
    else if (problem.a == 0 && !domain_of(problem, ranks).has_dirichlet())
        errors.emplace_back(
            "problem.a = 0: without a Dirichlet face the matrix is singular, which hypre does not look for; "
            "give a larger a, "
            "or a side of problem.boundary as \"dirichlet\"");
    return errors;
}

// The matrix that Keel's fields hold, so that it is the same to the last bit.
SevenPoints matrix_of(const Level& level) {
    const Layout& layout = level.layout;
    SevenPoints matrix{cells_of(level, level.L.inverse_diagonal),
                       {cells_of(level, level.L.x), cells_of(level, level.L.y), cells_of(level, level.L.z)}};
    for (double& value : matrix.diagonal) value = 1 / value;
    const int n = layout.width();
    for (std::size_t d = 0; d < 3; ++d) {
        auto value = matrix.lower[d].begin();
        for (const int box : layout.local())
            for (int k = 0; k < n; ++k)
                for (int j = 0; j < n; ++j)
                    for (int i = 0; i < n; ++i, ++value) {
                        const Index face = layout.first_cell(box) + Index{i, j, k};
                        // The part of a boundary is in the diagonal already.
                        *value = layout.boundary_at(d, face) ? 0.0 : -*value;
                    }
    }
    return matrix;
}

struct Found {
    std::vector<double> seconds;  // the slowest rank's, by measured solve
    double setup_seconds = 0;
    int iterations = 0;
    Check residual;
    double u_l2 = 0;
};

class Peer {
  public:
    Peer(const Communicator& comm, Level& level, const Problem& problem, PeerMethod method, double tolerance)
        : comm_(comm), level_(level), problem_(problem), tolerance_(tolerance) {
        const SevenPoints matrix = matrix_of(level);
        const std::vector<double> f = cells_of(level, level.f);
        comm.barrier();
        const double start = now();
        solver_ = std::make_unique<StructuredSolver>(level.layout, matrix, f, method);
        found_.setup_seconds = comm.max(now() - start);
    }

    Found run(int warmup, int repeats) {
        found_.iterations = fewest_iterations();
        for (int n = -warmup; n < repeats; ++n) {
            comm_.barrier();
            const double start = now();
            solver_->solve(found_.iterations);
            const double seconds = comm_.max(now() - start);
            if (n >= 0) found_.seconds.push_back(seconds);
        }
        found_.residual = judge();
        return found_;
    }

  private:
    // max|f - L u| / max|f| of hypre's solution, by Keel's plain kernels.
    Check judge() {
        set_cells(level_, level_.u, solver_->solution());
        found_.u_l2 = l2_norm(level_, level_.u);
        return residual_recomputed(level_, problem_, tolerance_);
    }
    bool suffices(int iterations) {
        solver_->solve(iterations);
        return judge().passed;
    }
    // hypre tests two-norms, which are met some iterations before or after the norm of both.
    int fewest_iterations() {
        int n = std::max(1, solver_->solve(most_iterations, tolerance_));
        if (suffices(n)) {
            while (n > 1 && suffices(n - 1)) --n;
            return n;
        }
        while (n < most_iterations && !suffices(n + 1)) ++n;
        return std::min(n + 1, most_iterations);
    }

    const Communicator& comm_;
    Level& level_;
    const Problem& problem_;
    double tolerance_;
    std::unique_ptr<StructuredSolver> solver_;
    Found found_;
};

Json record_of(const Found& found, PeerMethod method, const Resolved& resolved, const Layout& layout,
               double tolerance) {
    return {{"record", "peer"},
            {"peer", StructuredSolver::version()},
            {"method", name(method)},
            {"ranks", resolved.ranks},
            {"cells", layout.cells()},
            {"unknowns", layout.cell_count()},
            {"tolerance", tolerance},
            {"iterations", found.iterations},
            {"residual", found.residual.value},
            {"norm", max_norm_quotient},
            {"u_l2", found.u_l2},
            {"setup_seconds", found.setup_seconds},
            {"seconds", found.seconds},
            {"valid", found.residual.passed}};
}

std::string text_of(const Found& found, PeerMethod method, const Resolved& resolved, const Layout& layout) {
    const auto [least, most] = std::ranges::minmax(found.seconds);
    const double middle = median(found.seconds);
    return fmt::format(
        "{}, {}\n{} cells in {} boxes on {}\n{} iterations, {} = {:.2e} by Keel's operator\n"
        "Solve: median {} of {} (min {}, max {}); set-up {}; {:.6e} dof/s\nRESULT {}\n",
        StructuredSolver::version(), StructuredSolver::describe(method),
        cells_text(layout.cells(), layout.dimensions()), layout.box_count(), counted(resolved.ranks, "rank"),
        found.iterations, max_norm_quotient, found.residual.value, seconds_text(middle), found.seconds.size(),
        seconds_text(least), seconds_text(most), seconds_text(found.setup_seconds),
        static_cast<double>(layout.cell_count()) / middle, found.residual.passed ? "VALID" : "INVALID");
}

Status run(const PeerRun& peer_run, const Communicator& comm) {
    const Deck& deck = peer_run.deck;
    const Resolved& resolved = peer_run.resolved;
    const auto method = *named<PeerMethod>(peer_run.method);
    const ProblemOptions& options = deck.parameters.problem;
    const double tolerance = deck.parameters.multigrid.tolerance;
    const Domain domain = domain_of(options, resolved.ranks);
    const Layout layout(domain, options.box, place(domain, resolved.ranks, options.placement), resolved.rank);
    const auto backend = make_backend(resolved, comm);
    Problem problem(options, layout);
    Ledger ledger(1);
    Hierarchy hierarchy(
        comm, resolved.topology, *backend, layout, problem.operator_formulas(),
        {.bottom_box = options.box, .scheme = resolved.comm.scheme, .exchange = resolved.comm.exchange},
        ledger);
    Level& level = hierarchy.level(0);
    set_right_side(level, problem);
    Peer peer(comm, level, problem, method, tolerance);
    const Found found = peer.run(resolved.warmup, resolved.repeats);
    if (comm.rank() == 0)
        peer_run.file->append(line_of(record_of(found, method, resolved, layout, tolerance)));
    if (!peer_run.file->finish()) return broken;
    if (comm.rank() == 0) fmt::print("{}", text_of(found, method, resolved, layout));
    return found.residual.passed ? valid : invalid;
}

}  // namespace

int main(int argc, char** argv) {
    keel::Session session(argc, argv);
    const keel::PeerProgram program{"keel_hypre", usage, about, keel::words_of<keel::PeerMethod>(),
                                    not_for_peers};
    return keel::run_peer(program, std::span<char* const>(argv, static_cast<std::size_t>(argc)).subspan(1),
                          run);
}
