// run.mode = krylov: bottom.solver as solver of the whole problem, on the finest grid.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "miniapp/deck/section.hpp"
#include "miniapp/deck/text/text.hpp"
#include "miniapp/modes/grids/checks.hpp"
#include "miniapp/modes/grids/grid_modes.hpp"
#include "miniapp/modes/grids/prediction/solve_cost.hpp"
#include "miniapp/modes/repeat.hpp"
#include "miniapp/report/norms.hpp"
#include "miniapp/report/records/kernel_times.hpp"
#include "miniapp/report/records/krylov_record.hpp"
#include "solvers/krylov/methods.hpp"
#include "solvers/multigrid/bottom/level_krylov.hpp"
#include "solvers/multigrid/bottom/preconditioners.hpp"

namespace keel {
namespace {

bool wants_symmetry(const BottomOptions& options) {
    return method_named(options.solver).preconditioning == Preconditioning::symmetric;
}

// 8 MB a box, 16 MB in two dimensions.
constexpr int widest_exact_block(int dimensions) {
    return dimensions == 2 ? 128 : 16;
}

struct KrylovOptions {
    PreconditionerKind preconditioner = PreconditionerKind::none;
    BlockSolver block_solver = BlockSolver::ic0;
};

PreconditionerOptions preconditioner_of(const Deck& deck) {
    const auto options = deck.parameters.mode_options.of<KrylovOptions>();
    return {options.preconditioner, options.block_solver};
}

// One solve by a Krylov method on the finest grid.
struct KrylovRecord {
    Report
        report;  // its norms are those of the system that the method sees (solvers/systems/preconditioners/scaled_system.hpp)
    SolveCost cost;
    long preconditionings = 0;  // applications of the preconditioner
    double u_l2 = 0;
};

std::string convergence_text(const NamedSolver& solver, PreconditionerKind kind, const KrylovRecord& solve) {
    const Report& report = solve.report;
    std::string text = history_text(
        fmt::format("Convergence of the last solve: {}'s own {}{}", solver.name,
                    norm_quotient(solver.options), solver.options.norm == Norm::natural ? "" : ", 2-norms"),
        report.residuals);
    text += outcome_text(report, solver.options) + "\n" +
            restarts_text(report.restarts, solver.options, kind != PreconditionerKind::none);
    if (report.columns_dropped > 0) text += fmt::format("{} columns dropped\n", report.columns_dropped);
    if (report.spectrum && method_named(solver.options.solver).reads("spectrum"))
        text += fmt::format("interval of eigenvalues: {:.6g} to {:.6g} ({})\n", report.spectrum->lowest,
                            report.spectrum->highest, name(solver.options.spectrum));
    text += fmt::format(
        "{} applications of the operator, {} {}, {} all-reduces of {} words together, {} exchanges\n",
        report.counts.applications, solve.preconditionings,
        kind == PreconditionerKind::block_jacobi ? "of the preconditioner" : "V-cycles",
        solve.cost.reductions, solve.cost.reduction_words, solve.cost.exchanges);
    return text;
}

class PreparedKrylov : public PreparedGrids {
  public:
    using PreparedGrids::PreparedGrids;

  protected:
    void measure(const Setting& setting, Findings& findings) const override {
        const std::string& solver = grids_.use.solvers.front().name;
        const BottomOptions& options = grids_.use.solvers.front().options;
        const Communicator& comm = setting.site.comm;
        Level& top = setting.hierarchy.level(0);
        const bool singular = setting.hierarchy.singular();
        const PreconditionerKind kind = grids_.use.preconditioner.kind;
        const auto M = make_preconditioner(setting.hierarchy, grids_.use.preconditioner, grids_.multigrid,
                                           options.sweeps);
        const auto krylov = make_krylov(top, singular, options, M.get());
        findings.facts.setup_seconds = setting.setup_seconds();

        std::vector<KrylovRecord> solves;
        double my_seconds = 0;
        std::vector<std::optional<double>> digits;
        std::vector<double> seconds;
        double iterations = 0;
        const auto one = [&](int n) {
            if (n == 0) setting.ledger.clear();
            const long before = M ? M->applications() : 0;
            KrylovRecord solve;
            solve.cost = measured(comm, setting.site.backend, setting.hierarchy, [&] {
                solve.report = krylov->solve(top.u, top.f);
                if (singular) remove_mean(top.bottom_operations, *top.reduction, top.u);
            });
            solve.preconditionings = (M ? M->applications() : 0) - before;
            setting.site.progress.say(fmt::format("{}: {} iterations, {}", numbered(n),
                                                  solve.report.iterations, seconds_text(solve.cost.seconds)),
                                      resolved_.warmup + n + 1, resolved_.warmup + resolved_.repeats);
            if (n < 0) return;
            my_seconds += solve.cost.my_seconds;
            iterations += solve.report.iterations;
            digits.push_back(digits_of(solve.report.residuals));
            findings.facts.graph_replays += static_cast<double>(solve.cost.graph_replays);
            seconds.push_back(solve.cost.seconds);
            const Ledger solves_only = setting.ledger;
            solve.u_l2 = l2_norm(top, top.u);
            setting.ledger = solves_only;  // the norm's reduction is no part of the solve
            Json record = krylov_record(solves.size(), solver, solve.cost.seconds, solve.report, options);
            record["v_cycles"] = kind == PreconditionerKind::v_cycle ? solve.preconditionings : 0;
            if (kind == PreconditionerKind::block_jacobi)
                record["preconditioner_applications"] = solve.preconditionings;
            add_cost(record, solve.cost, solve.u_l2);
            setting.site.report.record(line_of(record));
            solves.push_back(solve);
        };
        const int done =
            repeat(setting.site, {"solves", resolved_.warmup, resolved_.repeats, resolved_.min_seconds},
                   findings, one);
        if (done == 0) return;
        const std::vector<TimerRow> timers =
            gather_timers(comm, setting.ledger, my_seconds, done, resolved_.details.ranks);
        findings.seconds = median(seconds);
        findings.parts = parts_of(timers, 0);
        findings.moved =
            movement_of(timers, static_cast<double>(findings.facts.domain->cells), mean_of(digits));
        findings.merit =
            cells_per_second(findings.facts, findings.seconds, {options.tolerance, mean_of(digits)});
        const auto kernels = kernel_times(
            timers, 0,
            kind == PreconditionerKind::v_cycle ? PreconditionedBy::cycle : PreconditionedBy::blocks);
        setting.site.report.tell(convergence_text(grids_.use.solvers.front(), kind, solves.back()) + "\n" +
                                 kernels_text(kernels, iterations / done) + "\n" +
                                 level_report(setting, findings, timers, seconds));
        setting.site.report.record(timer_records(timers) +
                                   kernel_records(kernels, solver, iterations / done) +
                                   scheme_records(resolved_.comm.chooser, setting.schemes));

        setting.site.progress.say("checking");
        findings.checks.push_back(residual_recomputed(top, setting.problem, options, M.get()));
        findings.checks.push_back(problem_unchanged(setting.hierarchy, setting.problem));
        findings.checks.push_back(operator_symmetry(setting.hierarchy));
        if (M && M->vanished().empty() && wants_symmetry(options))
            findings.checks.push_back(preconditioner_symmetry(setting.hierarchy, *M));
        findings.checks.push_back(all_converged(
            std::ranges::count_if(solves, [](const auto& solve) { return solve.report.succeeded(); }), done));
        if (resolved_.deterministic) findings.checks.push_back(repeats_equal(norms_of(solves)));
    }
};

class KrylovMode : public GridMode {
  public:
    std::string name() const override { return "krylov"; }
    std::string meaning() const override { return "bottom.solver on the finest grid itself"; }

    void add_keys(Table& table) const override {
        Section<KrylovOptions> s(table, "run", name());
        s.choice(
            "preconditioner", &KrylovOptions::preconditioner,
            "preconditioner: none; one V-cycle, its bottom relaxed in bottom.sweeps sweeps; or the blocks "
            "of the operator that the boxes are");
        s.choice(
             "block_solver", &KrylovOptions::block_solver,
             "solver of a block: incomplete or complete Cholesky, the latter for boxes up to 16^3, or 128^2")
            .expert()
            .needs("run.preconditioner", {keel::name(PreconditionerKind::block_jacobi)});
    }

    std::vector<NamedSolver> solvers(const Deck& deck) const override {
        std::vector<NamedSolver> solvers = solver_of_deck(deck);
        solvers.front().options.preconditioner = BottomPreconditioner::none;  // of a coarsest level
        return solvers;
    }

    KeyUses keys() const override {
        const Condition v_cycle{"run.preconditioner", {"v_cycle"}};
        std::vector<KeyUse> uses = keys_of_grids();
        uses.insert(
            uses.begin(),
            {{"multigrid.tolerance", {}, "run.mode = krylov stops at bottom.tolerance; give that"},
             {"multigrid.max_cycles", {}, "run.mode = krylov stops after bottom.max_iterations; give that"},
             {"multigrid.cycle", {}, "a preconditioner is one V-cycle; leave it out"},
             {"multigrid.accelerator", {}, "the Krylov method is bottom.solver; leave it out"},
             {"multigrid.reference_path"},
             {"multigrid.", {v_cycle}},
             {"bottom.given_iterations", {}, "run.mode = krylov finds out by solving; leave it out"},
             {"bottom.preconditioner", {}, "needs a coarsest level; give run.preconditioner"},
             {"bottom.sweeps", {v_cycle}},
             {"bottom.norm", {{"run.preconditioner", {"v_cycle", "block_jacobi"}}}}});
        return {uses, "plays no part in run.mode = krylov; leave it out"};
    }

    void check(Rules& rules, int ranks) const override {
        GridMode::check(rules, ranks);
        check_solver(rules);
        if (preconditioner_of(rules.deck()).any()) check_preconditioned(rules);
    }

  protected:
    GridUse use(const Deck& deck) const override {
        const PreconditionerOptions preconditioner = preconditioner_of(deck);
        return {.coarsens = preconditioner.kind == PreconditionerKind::v_cycle,
                .krylov = KrylovLevel::finest,
                .preconditioner = preconditioner,
                .solvers = solvers(deck),
                .more_fields = preconditioner.any() && wants_symmetry(solver_of_deck(deck).front().options)
                                   ? 1  // of preconditioner_symmetry
                                   : 0};
    }
    std::unique_ptr<PreparedMode> prepare(const Resolved& resolved, const GridSetup& grids) const override {
        return std::make_unique<PreparedKrylov>(resolved, grids);
    }

  private:
    static void check_solver(Rules& rules) {
        const Method& solver = method_named(rules.parameters().bottom.solver);
        rules.require(
            solver.is_krylov(), {"bottom.solver", "run.mode"},
            solver.repeats_cycles()
                ? fmt::format("bottom.solver = \"{}\": works on the coarsest level; choose another, "
                              "run.mode = solve, or of a whole problem run.mode = spmv with "
                              "problem.matrix = grid",
                              solver.name)
                : fmt::format("bottom.solver = \"{}\": relaxation alone is no solver of a whole "
                              "problem; choose another, or run.mode = solve",
                              solver.name));
    }

    static void check_preconditioned(Rules& rules) {
        const Parameters& p = rules.parameters();
        const Method& solver = method_named(p.bottom.solver);
        const PreconditionerOptions chosen = preconditioner_of(rules.deck());
        const auto require = [&](bool holds, std::initializer_list<std::string> keys,
                                 const std::string& what) {
            rules.require(holds, keys,
                          fmt::format("run.preconditioner = \"{}\": {}", keel::name(chosen.kind), what));
        };
        const bool v_cycle = chosen.kind == PreconditionerKind::v_cycle;
        require(!v_cycle || p.multigrid.bottom_box < p.problem.box,
                {"multigrid.bottom_box", "problem.box", "run.preconditioner"},
                fmt::format("a V-cycle needs two levels; choose multigrid.bottom_box below problem.box = {}",
                            p.problem.box));
        require(chosen.kind != PreconditionerKind::block_jacobi ||
                    chosen.block_solver != BlockSolver::exact ||
                    p.problem.box <= widest_exact_block(p.problem.dimensions),
                {"run.block_solver", "problem.box"},
                fmt::format("exact blocks are kept as width^{} values a box; choose problem.box up to {}, or "
                            "run.block_solver = \"ic0\"",
                            2 * p.problem.dimensions - 1, widest_exact_block(p.problem.dimensions)));
        require(p.bottom.scaling == Scaling::none, {"bottom.scaling", "run.preconditioner"},
                "already scales the system; give bottom.scaling = \"none\"");
        require(solver.accepts_preconditioner(), {"bottom.solver", "run.preconditioner"},
                fmt::format(
                    "bottom.solver = \"{}\" is not one of {}; choose one of these, or preconditioner = none",
                    solver.name, fmt::join(preconditionable(), ", ")));
        const bool bases = solver.reads("basis");  // of Krylov spaces of the preconditioned system
        require(!bases || p.bottom.basis == Basis::monomial,
                {"bottom.basis", "bottom.solver", "run.preconditioner"},
                "no bounds of the preconditioned spectrum are known; give bottom.basis = \"monomial\"");
        require(!bases || p.bottom.powers != Powers::matrix_powers,
                {"bottom.powers", "bottom.solver", "run.preconditioner"},
                "a preconditioner takes part in every power; give bottom.powers = \"paired\"");
        if (solver.preconditioning != Preconditioning::symmetric) return;
        require(solver.tests(p.bottom.norm), {"bottom.norm", "bottom.solver"},
                fmt::format("{} knows sqrt(r . M r) alone; give bottom.norm = \"natural\"", solver.name));
        require(!solver.reads("variant") || p.bottom.variant == Enlarged::orthodir, {"bottom.variant"},
                "only orthodir has a preconditioned form here; give bottom.variant = \"orthodir\"");
        if (!v_cycle) return;
        require(
            p.multigrid.pre == p.multigrid.post, {"multigrid.pre", "multigrid.post"},
            fmt::format("{} needs a symmetric one: multigrid.pre = {} must equal multigrid.post = {}; make "
                        "them equal, or choose bicgstab",
                        solver.name, p.multigrid.pre, p.multigrid.post));
        require(
            p.multigrid.interpolation == Interpolation::constant, {"multigrid.interpolation"},
            solver.name +
                " needs a symmetric one; give multigrid.interpolation = \"constant\", or choose bicgstab");
    }
};

}  // namespace

std::unique_ptr<Mode> make_krylov_mode() {
    return std::make_unique<KrylovMode>();
}

}  // namespace keel
