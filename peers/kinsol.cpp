// keel_kinsol: the fixed point of a deck, accelerated by KINSOL. The map is Keel's own, so that evaluations
// can be compared.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "comm/ranks/communicator.hpp"
#include "kernels/timing/clock.hpp"
#include "miniapp/deck/rules.hpp"
#include "miniapp/deck/text/text.hpp"
#include "miniapp/modes/grids/checks.hpp"
#include "miniapp/modes/grids/fixed_point/fixed_point.hpp"
#include "miniapp/report/norms.hpp"
#include "miniapp/report/records/records.hpp"
#include "miniapp/report/tables/level_tables.hpp"
#include "miniapp/report/timers.hpp"
#include "peers/cells.hpp"
#include "peers/kinsol_solver.hpp"
#include "peers/program.hpp"

namespace {

using namespace keel;

constexpr const char* usage = "usage: keel_kinsol [DECK.toml] [section.key=value ...]";
constexpr const char* about =
    "Finds the fixed point of a deck of keel with run.mode = \"fixed_point\" by KINSOL's Anderson "
    "acceleration "
    "(SUNDIALS), as often as run.warmup and run.repeats say. The map is Keel's own; depth, "
    "orthogonalisation, "
    "damping and tolerance are the deck's. With output.json it appends a record \"peer\".";

std::vector<std::string> not_for_peers(const Deck& deck, int) {
    if (deck.parameters.run.mode != "fixed_point")
        return {fmt::format("run.mode = \"{}\": KINSOL finds fixed points; choose fixed_point",
                            deck.parameters.run.mode)};
    const auto& acceleration = deck.parameters.mode_options.of<AndersonOptions>();
    const auto& equation = deck.parameters.mode_options.of<FixedPointOptions>();
    Rules rules(deck);
    rules.require(deck.parameters.problem.ranks == 0, {"problem.ranks"},
                  "problem.ranks: is for virtual ranks, and a peer runs; leave it out");
    rules.require(named<KinsolMethod>(acceleration.orthogonalisation).has_value(),
                  {"anderson.orthogonalisation"},
                  fmt::format("anderson.orthogonalisation = \"{}\": KINSOL does not know it; choose {}",
                              acceleration.orthogonalisation, fmt::join(words_of<KinsolMethod>(), " or ")));
    rules.require(acceleration.depth > 0, {"anderson.depth"},
                  "anderson.depth = 0: there is nothing to accelerate with; choose 1 or more");
    rules.require(acceleration.max_condition == 0, {"anderson.max_condition"},
                  fmt::format("anderson.max_condition = {:g}: KINSOL does not look at it; give 0",
                              acceleration.max_condition));
    rules.require(acceleration.inner == 0, {"anderson.inner"},
                  "anderson.inner: KINSOL accelerates every iteration, and has none between; leave it out");
    rules.require(equation.is_mixture() || equation.map == MapKind::solve, {"run.map"},
                  "run.map = \"cycle\": is tested by the equation's residual, and KINSOL tests steps; choose "
                  "solve");
    rules.require(acceleration.test == AndersonTest::step, {"anderson.test"},
                  fmt::format("anderson.test = \"{}\": KINSOL tests max|u_{{i+1}} - u_i|; give \"step\"",
                              name(acceleration.test)));
    return std::move(rules).errors();
}

struct Found {
    KinsolSolver::Report report;
    std::vector<double> history;  // max|u_{i+1} - u_i|
    std::vector<double> seconds;  // of the measured solves, the slowest rank
    double setup_seconds = 0;
    double residual = 0;  // max|G(u) - u| of its solution, formed anew
    double u_l2 = 0;
    bool valid = false;
};

Found find(const PeerRun& run, Level& level, PosedFixedPoint& posed, const Communicator& comm) {
    const auto& acceleration = run.deck.parameters.mode_options.of<AndersonOptions>();
    Found found;
    const Field g_field = posed.vectors().make_vector();
    const Field u_field = posed.u();
    std::vector<double> last;  // the u of the last evaluation
    bool notes = true;
    const auto note_step = [&](std::span<const double> u) {
        double norm = 0;
        for (std::size_t n = 0; n < last.size(); ++n) {
            const double difference = std::abs(u[n] - last[n]);
            norm = std::isfinite(difference) ? std::max(norm, difference) : HUGE_VAL;
        }
        if (const double step = comm.max(norm); !last.empty()) found.history.push_back(step);
        last.assign(u.begin(), u.end());
    };
    const auto map = [&](double* g, const double* u, std::size_t values) {
        if (notes) note_step({u, values});
        set_cells(level, u_field, {u, u + values});
        posed.map().evaluate(g_field, u_field);
        std::ranges::copy(cells_of(level, g_field), g);
    };

    posed.begin();
    const std::vector<double> start = cells_of(level, u_field);
    comm.barrier();
    const double setup_start = now();
    KinsolSolver solver(start.size(), level.layout.cell_count(),
                        {.depth = acceleration.depth,
                         .method = *named<KinsolMethod>(acceleration.orthogonalisation),
                         .damping = acceleration.damping,
                         .tolerance = acceleration.tolerance,
                         .max_iterations = acceleration.max_iterations},
                        map);
    found.setup_seconds = comm.max(now() - setup_start);
    std::vector<double> u = start;
    found.report = solver.solve(u);
    note_step(u);
    notes = false;
    for (int n = -run.resolved.warmup; n < run.resolved.repeats; ++n) {
        u = start;
        comm.barrier();
        const double begun = now();
        solver.solve(u);
        const double seconds = comm.max(now() - begun);
        if (n >= 0) found.seconds.push_back(seconds);
    }

    set_cells(level, u_field, u);
    found.u_l2 = l2_norm(level, u_field);
    posed.map().evaluate(g_field, u_field);
    posed.vectors().axpby(g_field, 1, g_field, -1, u_field);
    found.residual = posed.vectors().max_norm(g_field);
    // KINSOL takes a residual that is no number for one that is small enough.
    found.valid = found.report.converged && found.residual <= Anderson::slack * acceleration.tolerance;
    return found;
}

Json record_of(const Found& found, const PeerRun& run, const Layout& layout) {
    const auto& acceleration = run.deck.parameters.mode_options.of<AndersonOptions>();
    return {{"record", "peer"},
            {"peer", KinsolSolver::version()},
            {"method", acceleration.orthogonalisation},
            {"ranks", run.resolved.ranks},
            {"cells", layout.cells()},
            {"unknowns", layout.cell_count()},
            {"tolerance", acceleration.tolerance},
            {"iterations", found.report.iterations},
            {"evaluations", found.report.evaluations},
            {"outcome", found.report.outcome},
            {"residuals", found.history},
            {"residual", found.residual},
            {"norm", "max|G(u) - u|"},
            {"u_l2", found.u_l2},
            {"setup_seconds", found.setup_seconds},
            {"seconds", found.seconds},
            {"valid", found.valid}};
}

std::string text_of(const Found& found, const PeerRun& run, const Layout& layout) {
    const auto& acceleration = run.deck.parameters.mode_options.of<AndersonOptions>();
    const auto [least, most] = std::ranges::minmax(found.seconds);
    return fmt::format(
        "{}, Anderson acceleration of depth {} by {}\n{} cells in {} boxes on {}\n{}, {}; {} of G; "
        "max|G(u) - u| = {:.2e}, formed anew\nSolve: median {} of {} (min {}, max {}); set-up {}\nRESULT "
        "{}\n",
        KinsolSolver::version(), acceleration.depth, acceleration.orthogonalisation,
        cells_text(layout.cells(), layout.dimensions()), layout.box_count(),
        counted(run.resolved.ranks, "rank"), counted(static_cast<int>(found.report.iterations), "iteration"),
        found.report.outcome, counted(static_cast<int>(found.report.evaluations), "evaluation"),
        found.residual, seconds_text(median(found.seconds)), found.seconds.size(), seconds_text(least),
        seconds_text(most), seconds_text(found.setup_seconds), found.valid ? "VALID" : "INVALID");
}

Status run(const PeerRun& run, const Communicator& comm) {
    const auto& equation = run.deck.parameters.mode_options.of<FixedPointOptions>();
    const GridSetup grids = resolve_grids(run.deck, run.resolved, use_of_fixed_point(run.deck));
    const Layout layout = grids.finest();
    const auto backend = make_backend(run.resolved, comm);
    Problem problem(grids.problem, layout);
    Ledger ledger(grids.levels());
    Hierarchy hierarchy(comm, run.resolved.topology, *backend, layout, problem.operator_formulas(),
                        grids.hierarchy, ledger);
    Level& level = hierarchy.level(0);
    set_right_side(level, problem);
    PosedFixedPoint posed(hierarchy, grids, equation);
    const Found found = find(run, level, posed, comm);
    if (comm.rank() == 0) run.file->append(line_of(record_of(found, run, layout)));
    if (!run.file->finish()) return broken;
    if (comm.rank() == 0) fmt::print("{}", text_of(found, run, layout));
    return found.valid ? valid : invalid;
}

}  // namespace

int main(int argc, char** argv) {
    keel::Session session(argc, argv);
    const keel::PeerProgram program{"keel_kinsol", usage, about, {}, not_for_peers};
    return keel::run_peer(program, std::span<char* const>(argv, static_cast<std::size_t>(argc)).subspan(1),
                          run);
}
