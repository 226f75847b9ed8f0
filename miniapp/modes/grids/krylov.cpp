// run.mode = krylov: bottom.solver as solver of the whole problem, on the finest grid.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "miniapp/modes/grids/checks.hpp"
#include "miniapp/modes/grids/measured_solves.hpp"
#include "miniapp/report/norms.hpp"
#include "miniapp/report/records/kernel_times.hpp"
#include "miniapp/report/records/krylov_record.hpp"
#include "miniapp/setup/rules/solver_rules.hpp"
#include "solvers/krylov/methods.hpp"
#include "solvers/multigrid/bottom/level_krylov.hpp"
#include "solvers/multigrid/bottom/preconditioners.hpp"

namespace keel {
namespace {

// One solve by a Krylov method on the finest grid.
struct KrylovRecord {
    // Its norms are those of the system that the method sees (linear_system.hpp).
    Report report;
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
        kind == PreconditionerKind::block_ic0 ? "of the preconditioner" : "V-cycles", solve.cost.reductions,
        solve.cost.reduction_words, solve.cost.exchanges);
    return text;
}

std::string record_of(const KrylovRecord& solve, const NamedSolver& solver, PreconditionerKind kind,
                      std::size_t repeat) {
    Json record = krylov_record(repeat, solver.name, solve.cost.seconds, solve.report, solver.options);
    record["v_cycles"] = kind == PreconditionerKind::v_cycle ? solve.preconditionings : 0;
    if (kind == PreconditionerKind::block_ic0) record["preconditioner_applications"] = solve.preconditionings;
    add_cost(record, solve.cost, solve.u_l2);
    return line_of(record);
}

class KrylovMode : public HierarchyMode {
  public:
    std::string name() const override { return "krylov"; }
    std::string meaning() const override { return "bottom.solver on the finest grid itself"; }

    KeyUses keys() const override {
        const Condition v_cycle{"bottom.preconditioner", {"v_cycle"}};
        std::vector<KeyUse> uses = keys_of_grids();
        uses.insert(
            uses.begin(),
            {{"multigrid.tolerance", {}, "run.mode = krylov stops at bottom.tolerance; give that"},
             {"multigrid.max_cycles", {}, "run.mode = krylov stops after bottom.max_iterations; give that"},
             {"multigrid.cycle", {}, "a preconditioner is one V-cycle; leave it out"},
             {"multigrid.accelerator", {}, "the Krylov method is bottom.solver; leave it out"},
             {"multigrid.reference_path"},
             {"multigrid.", {v_cycle}},
             {"bottom.assumed_iterations", {}, "run.mode = krylov finds out by solving; leave it out"},
             {"bottom.preconditioner",
              {{"bottom.preconditioner", {}, {keel::name(PreconditionerKind::amg)}}},
              "",
              true},
             {"bottom.sweeps", {v_cycle}}});
        return {uses, "plays no part in run.mode = krylov; leave it out"};
    }

    void check(Rules& rules, int ranks) const override {
        GridMode::check(rules, ranks);
        check_solver(rules);
        if (rules.parameters().bottom.preconditioner != PreconditionerKind::none) check_preconditioned(rules);
    }

  protected:
    GridUse use(const Deck& deck) const override {
        std::vector<NamedSolver> alone = solvers(deck);
        const PreconditionerKind kind = alone.front().options.preconditioner;
        alone.front().options.preconditioner = PreconditionerKind::none;  // made apart from the method
        return {.coarsens = kind == PreconditionerKind::v_cycle,
                .krylov = KrylovLevel::finest,
                .preconditioner = kind,
                .solvers = alone,
                .mixes = kind == PreconditionerKind::v_cycle};
    }
    void make_solvers(const PreparedGrids&, Hierarchy& hierarchy, const GridSetup& grids) const override {
        make_all_solvers(hierarchy, grids);
        const BottomOptions& options = grids.use.solvers.front().options;
        const auto M =
            make_preconditioner(hierarchy, grids.use.preconditioner, grids.multigrid, options.sweeps);
        if (M && wants_symmetric_preconditioner(options)) preconditioner_symmetry(hierarchy, *M);
    }
    void measure(const Setting& setting, Findings& findings) const override {
        const std::string& solver = setting.grids.use.solvers.front().name;
        const BottomOptions& options = setting.grids.use.solvers.front().options;
        const Communicator& comm = setting.context.comm;
        Level& top = setting.hierarchy.level(0);
        const bool singular = setting.hierarchy.singular();
        const PreconditionerKind kind = setting.grids.use.preconditioner;
        const auto M = make_preconditioner(setting.hierarchy, kind, setting.grids.multigrid, options.sweeps);
        const auto krylov = make_krylov(top, singular, options, M.get());
        findings.facts.setup_seconds = setting.setup_seconds();

        std::vector<KrylovRecord> solves;
        KrylovRecord last;
        double iterations = 0;
        const auto one = [&](int) {
            const long before = M ? M->applications() : 0;
            last = {};
            last.cost = measured(comm, setting.context.backend, setting.hierarchy, [&] {
                last.report = krylov->solve(top.u, top.f);
                if (singular) remove_mean(top.bottom_operations, *top.reduction, top.u);
            });
            last.preconditionings = (M ? M->applications() : 0) - before;
            return timed(last.cost, fmt::format("{} iterations", last.report.iterations),
                         digits_of(last.report.residuals));
        };
        const auto keep = [&] {
            iterations += last.report.iterations;
            last.u_l2 = l2_norm(top, top.u);
            setting.context.report.record(
                record_of(last, setting.grids.use.solvers.front(), kind, solves.size()));
            solves.push_back(last);
        };
        const auto repeated = repeat_solves(setting, findings, {.solve = one, .keep = keep});
        if (!repeated) return;
        const int done = repeated->done;
        findings.parts = parts_of(repeated->timers, 0);
        findings.moved = movement_of(repeated->timers, static_cast<double>(findings.facts.domain->cells),
                                     repeated->digits);
        findings.merit =
            cells_per_second(findings.facts, findings.seconds, {options.tolerance, repeated->digits},
                             setting.grids.hierarchy.mixed);
        const auto kernels = kernel_times(
            repeated->timers, 0,
            kind == PreconditionerKind::v_cycle ? PreconditionedBy::cycle : PreconditionedBy::blocks);
        report_solves(setting, findings, *repeated,
                      {.before = convergence_text(setting.grids.use.solvers.front(), kind, solves.back()) +
                                 "\n" + kernels_text(kernels, iterations / done),
                       .records = kernel_records(kernels, solver, iterations / done)});
        if (const auto lost = krylov->orthogonality()) findings.checks.push_back(basis_orthogonality(*lost));
        findings.checks.push_back(residual_recomputed(top, setting.problem, options, M.get()));
        findings.checks.push_back(problem_unchanged(setting.hierarchy, setting.problem));
        findings.checks.push_back(operator_symmetry(setting.hierarchy));
        if (M && M->vanished().empty() && wants_symmetric_preconditioner(options))
            findings.checks.push_back(preconditioner_symmetry(setting.hierarchy, *M));
        findings.checks.push_back(all_converged(
            std::ranges::count_if(solves, [](const auto& solve) { return solve.report.succeeded(); }), done));
        if (setting.resolved.deterministic) findings.checks.push_back(repeats_equal(norms_of(solves)));
    }

  private:
    static void check_solver(Rules& rules) {
        const Method& solver = method_named(rules.parameters().bottom.solver);
        rules.allow(solver.is_krylov(), {"bottom.solver", "run.mode"},
                    solver.repeats_cycles()
                        ? "works on the coarsest level; choose another, run.mode = solve, or of a whole "
                          "problem run.mode = spmv with problem.matrix = grid"
                        : "relaxation alone is no solver of a whole problem; choose another, or run.mode = "
                          "solve");
    }

    static void check_preconditioned(Rules& rules) {
        const Parameters& p = rules.parameters();
        const Method& solver = method_named(p.bottom.solver);
        const PreconditionerKind kind = p.bottom.preconditioner;
        const auto require = [&](bool holds, std::initializer_list<std::string> keys,
                                 const std::string& what) {
            rules.require(holds, keys,
                          fmt::format("bottom.preconditioner = \"{}\": {}", keel::name(kind), what));
        };
        const bool v_cycle = kind == PreconditionerKind::v_cycle;
        require(kind != PreconditionerKind::amg, {"bottom.preconditioner", "run.mode"},
                "needs a matrix; choose v_cycle or block_ic0, or run.mode = spmv with problem.matrix = grid");
        require(!v_cycle || p.multigrid.bottom_box < p.problem.box,
                {"multigrid.bottom_box", "problem.box", "bottom.preconditioner"},
                fmt::format("a V-cycle needs two levels; choose multigrid.bottom_box below problem.box = {}",
                            p.problem.box));
        require(p.bottom.scaling == Scaling::none, {"bottom.scaling", "bottom.preconditioner"},
                "already scales the system; give bottom.scaling = \"none\"");
        require(!solver.reads("basis") || !exchanges_for_several(p.bottom.powers),
                {"bottom.powers", "bottom.solver", "bottom.preconditioner"},
                "a preconditioner takes part in every power; give bottom.powers = \"paired\"");
        require(p.multigrid.precision == CyclePrecision::doubled || !solver.accepts_preconditioner() ||
                    solver.accepts_single_precision(),
                {"multigrid.precision", "bottom.solver", "bottom.preconditioner"},
                fmt::format("{} takes u = M y from it in the end, which would have the digits of single "
                            "precision; choose gmres or cg, or multigrid.precision = \"double\"",
                            solver.name));
        if (solver.preconditioning != Preconditioning::symmetric) return;
        require(p.bottom.gram_precision == GramPrecision::simple,
                {"bottom.gram_precision", "bottom.solver", "bottom.preconditioner"},
                "Gram matrices of vectors and their partners are formed in double; give "
                "bottom.gram_precision = \"double\"");
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
