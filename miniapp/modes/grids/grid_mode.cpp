#include "miniapp/modes/grids/grid_mode.hpp"

#include <fmt/format.h>

#include "miniapp/modes/repeat.hpp"
#include "miniapp/report/facts.hpp"
#include "miniapp/report/header.hpp"
#include "miniapp/report/tables/level_tables.hpp"
#include "miniapp/schemes/amg_schemes.hpp"
#include "miniapp/schemes/scheme_choice.hpp"
#include "miniapp/setup/machine/machine_facts.hpp"
#include "miniapp/setup/problem/shape.hpp"
#include "miniapp/setup/rules/grid_rules.hpp"
#include "miniapp/setup/rules/run_rules.hpp"
#include "miniapp/setup/rules/solver_rules.hpp"
#include "solvers/krylov/methods.hpp"

namespace keel {
namespace {

// Merging is no default, since it takes away the bottom problem that is studied here. Below this number of
// unknowns it gains little.
std::string remark_on_agglomeration(const GridSetup& grids) {
    constexpr double large_bottom = 4096;
    const Domain& domain = grids.domain;
    LevelRule rule = grids.hierarchy.level_rule();
    if (rule.agglomerate > 0)
        return most_merged(domain.around(), domain.dimensions()) > 1 || domain.count() == 1
                   ? ""
                   : fmt::format(
                         "multigrid.agglomerate = {}: without effect: {} boxes tile no larger cubes; "
                         "multigrid.bottom_grid = consolidate moves them to fewer ranks",
                         rule.agglomerate, triple_text(domain.around()));
    const bool has_bottom = grids.use.coarsens && grids.use.krylov == KrylovLevel::coarsest;
    if (!has_bottom || grids.moves_bottom() || !domain.whole()) return "";
    rule.agglomerate = 512;
    const auto unknowns = [&](const LevelRule& of) {
        return level_shapes(domain.around(), domain.dimensions(), grids.problem.box, grids.ranks, of)
            .back()
            .cells(domain.dimensions());
    };
    const double now = unknowns(grids.hierarchy.level_rule());
    const double merged = unknowns(rule);
    if (now < large_bottom || merged == now) return "";
    return fmt::format(
        "{:.0f} unknowns at the bottom; with multigrid.agglomerate = 512 there would be {:.0f}", now, merged);
}

}  // namespace

std::vector<KeyUse> GridMode::keys_of_grids() {
    return {{"problem.columns", {}, "needs run.mode = spmv or exchange"},
            {"problem.drift", {{"run.steps", {}, {"1"}}}},
            {"problem.seed", {{"problem.rhs", {"random"}}}},
            {"problem.seed", {{"problem.shape", {"scattered", "tags"}}}},
            {"problem."},
            {"bottom.preconditioner",
             {{"bottom.preconditioner", {"none", keel::name(PreconditionerKind::amg)}}},
             "",
             true},
            {"bottom."},
            {"amg.", {{"bottom.solver", {algebraic_cycles().name}}}},
            {"amg.", {{"bottom.preconditioner", {keel::name(PreconditionerKind::amg)}}}},
            {"comm.ranks_per_device", {}, why_no_helpers},
            {"comm."},
            {"run."},
            {"output."}};
}

void GridMode::check(Rules& rules, int ranks) const {
    check_grids(rules, use(rules.deck()), ranks);
    check_sums(rules);
}

void GridMode::check_on(Rules& rules, const Communicator& comm) const {
    const ProblemOptions& problem = rules.parameters().problem;
    if (!reads_files(problem)) return;
    const int ranks = problem.ranks > 0 ? problem.ranks : comm.size();
    const Domain domain = domain_of(problem, ranks);
    for (const auto& [key, reason] : faults_of_files(problem, domain, comm.rank(), comm.size()))
        rules.allow(false, {key}, reason);
}

std::unique_ptr<PreparedMode> GridMode::prepare(const Deck& deck, const Resolved& resolved) const {
    GridUse fitted = use(deck);
    const Domain domain = domain_of(deck.parameters.problem, resolved.ranks);
    if (deck.parameters.problem.rhs == Rhs::file)
        fitted.more_bytes +=
            static_cast<double>(sizeof(double)) * domain.count() * deck.parameters.problem.box_cells();
    const Unknowns unknowns = unknowns_of(deck.parameters, fitted, resolved.ranks, domain.count());
    Resolved told = resolved;
    for (const std::string& remark : remarks_on_files(deck.parameters.problem, domain))
        told.remarks.push_back(remark);
    for (const std::string& line : fitted.left_out) told.remarks.push_back(line);
    for (const std::string& remark : fit_solvers(fitted.solvers, unknowns)) told.remarks.push_back(remark);
    GridSetup grids = resolve_grids(deck, resolved, fitted);
    if (grids.hierarchy.mixed)
        told.remarks.push_back(
            "multigrid.precision = mixed: cycles compute and send in single precision, but for the coarsest "
            "level; residuals, updates of u and what stops a solve are in double");
    if (const std::string remark = remark_on_agglomeration(grids); !remark.empty())
        told.remarks.push_back(remark);
    const bool shape_given = deck.is_set("problem.boxes");
    for (const std::string& warning : warnings_of_domain(grids, shape_given))
        told.warnings.push_back(warning);
    if (grids.use.krylov != KrylovLevel::none)
        if (const std::string warning = warning_of_lost_digits(grids.problem, grids.domain); !warning.empty())
            told.warnings.push_back(warning);
    decide(told, grids);
    return std::make_unique<PreparedGrids>(*this, told, grids, deck.parameters.mode_options);
}

std::string PreparedGrids::exceeds(const SharedMemory& memory) const {
    const std::string complaint = exceeds_memory(grids_, memory, make_solvers()).value_or("");
    if (!complaint.empty() || !memory.process.given()) return complaint;
    // A process at its limit ends. Predictions are right to a tenth, but for what MPI and libraries take.
    return exceeds_memory(grids_, memory, make_solvers(), 1.1 * this->memory({}, 1).bytes + 16e6)
        .value_or("");
}

MakeSolvers PreparedGrids::make_solvers() const {
    return
        [this](Hierarchy& hierarchy, const GridSetup& grids) { mode_.make_solvers(*this, hierarchy, grids); };
}

GridMemory PreparedGrids::memory(const std::vector<LevelSchemes>& schemes, int threads) const {
    return memory_of_grids(grids_, resolved_.topology, schemes, make_solvers(), threads);
}

Layout PreparedGrids::describe(const RunContext& context, RunFacts& facts) const {
    const Layout finest = grids_.finest();
    facts.dimensions = finest.dimensions();
    facts.levels = grids_.shapes();
    facts.domain = facts_of_domain(finest, name(grids_.problem.shape));
    facts.least_memory = "the grids' cells";
    context.progress.say("measuring the triad bandwidth");
    facts.triad_bytes_per_second = bandwidth(resolved_, context.comm, context.backend);
    return finest;
}

void PreparedGrids::run(const RunContext& context, Findings& findings) const {
    mode_.run(*this, context, findings);
}

void HierarchyMode::run(const PreparedGrids& prepared, const RunContext& context, Findings& findings) const {
    const Resolved& resolved = prepared.resolved();
    const GridSetup& grids = prepared.grids();
    RunFacts& facts = findings.facts;
    const Layout finest = prepared.describe(context, facts);
    const std::vector<SchemeTable> schemes = choose_schemes(
        resolved, context, [&] { return compare_schemes(grids, finest, resolved, context.comm); },
        [&](const SchemeTable& table) {
            return make_grid_trial(grids, resolved.topology, context.comm, context.backend, table);
        },
        findings);
    HierarchyOptions options = grids.hierarchy;
    options.schemes = schemes_by_level(schemes);
    AmgSchemeChoice algebraic(resolved, context.backend);
    options.algebraic_schemes = [&](const Communicator& comm, const Topology& topology,
                                    const SchemeOptions& finest_scheme) {
        return algebraic.scheme_for(comm, topology, finest_scheme);
    };
    const GridMemory memory = prepared.memory(options.schemes, context.backend.threads());
    facts.array_bytes = context.comm.max(memory.arrays);
    facts.predicted_bytes = context.comm.max(memory.bytes);
    context.report.begin(facts);

    context.progress.say("building the hierarchy");
    const MemoryGrowth growth(context.backend);
    const double setup_start = now();
    Problem problem(grids.problem, finest);
    Ledger ledger(grids.levels(), price_of(resolved.simulation));
    ledger.mark(context.regions);
    ledger.mark(context.backend.regions());
    ledger.watch(context.backend.device_log());
    Hierarchy hierarchy(context.comm, resolved.topology, context.backend, finest, problem.operator_formulas(),
                        options, ledger);
    Level& top = hierarchy.level(0);
    facts.removed_mean = set_right_side(top, problem);
    double norm_f = 0;
    top.plain->max_norm(top.f, norm_f);
    facts.norm_f = context.comm.max(norm_f);
    facts.zero_right_side = facts.norm_f == 0.0;
    context.report.tell(right_side_text(facts));
    measure({prepared, resolved, grids, context, problem, hierarchy, ledger, schemes, setup_start}, findings);
    for (const Check& check : algebraic.checks()) findings.checks.push_back(check);
    facts.measured_bytes = context.comm.max(
        context.backend.device().empty() ? growth.on_host() : growth.on_device() / facts.device_sharing);
}

FigureOfMerit cells_per_second(const RunFacts& facts, double seconds, const SolveWork& work, bool mixed) {
    const auto cells = static_cast<double>(facts.domain->cells);
    return {mixed ? "non_benchmark.mixed_dof_per_second" : "non_benchmark.dof_per_second",
            seconds > 0 ? cells / seconds : 0.0, "dof/s", work};
}

}  // namespace keel
