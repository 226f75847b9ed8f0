// run.mode = exchange: the exchanges of every level, timed under all communication schemes in turns; nothing
// is solved.

#include "miniapp/modes/grids/grid_mode.hpp"

namespace keel {
namespace {

// Trying the schemes, which other modes may do before they measure, is all there is to measure: no
// hierarchy is built.
class PreparedExchange : public PreparedGrids {
  public:
    using PreparedGrids::PreparedGrids;

    void run(const RunContext& context, Findings& findings) const override {
        const RunFacts& facts = findings.facts;
        const Layout finest = describe(context, findings.facts);
        context.report.begin(facts);
        std::vector<SchemeTable> schemes = compare(finest, context);
        const Tried tried = try_schemes(
            context, schemes, {resolved_.warmup, resolved_.repeats},
            [&] { return context.ending.asked(context.comm); }, findings);
        findings.tallies.push_back(tried.rounds);
        context.report.tell(schemes_text(resolved_.comm.chooser, schemes, {}, facts.tuning_seconds));
        context.report.record(scheme_records(resolved_.comm.chooser, schemes));
    }

  protected:
    void measure(const Setting&, Findings&) const override {}  // is not called
};

class ExchangeMode : public GridMode {
  public:
    std::string name() const override { return "exchange"; }
    std::string meaning() const override { return "exchanges by all schemes, no solve"; }

    KeyUses keys() const override {
        const std::string tries_all = "run.mode = exchange tries all schemes under all rules; leave it out";
        const std::string solves_nothing = "run.mode = exchange solves nothing; leave it out";
        std::vector<KeyUse> uses{{"comm.scheme", {}, tries_all},
                                 {"comm.allreduce", {}, solves_nothing},
                                 {"comm.allreduce_model", {}, solves_nothing},
                                 {"comm.overlap", {}, solves_nothing},
                                 {"comm."},
                                 {"output.json"}};
        for (const char* key : {"problem.box",
                                "problem.boxes_per_rank",
                                "problem.boxes",
                                "problem.ranks",
                                "problem.columns",
                                "problem.placement",
                                "problem.boundary",
                                "problem.shape",
                                "problem.fill",
                                "problem.outside",
                                "multigrid.bottom_box",
                                "multigrid.bottom_grid",
                                "multigrid.cycle",
                                "multigrid.interpolation",
                                "run.mode",
                                "run.backend",
                                "run.gpu_sync",
                                "run.warmup",
                                "run.repeats",
                                "run.time_limit",
                                "run.dry_run_limit",
                                "run.label",
                                "run.triad_mb"})
            uses.push_back({key});
        uses.push_back({"problem.seed", {{"problem.shape", {"scattered", "tags"}}}});
        return {uses, solves_nothing};
    }
    std::vector<NamedSolver> solvers(const Deck&) const override { return {}; }

  protected:
    GridUse use(const Deck& deck) const override {
        return {
            .krylov = KrylovLevel::none, .solvers = {}, .exchanged_fields = deck.parameters.problem.columns};
    }
    std::unique_ptr<PreparedMode> prepare(const Resolved& resolved, const GridSetup& grids) const override {
        Resolved all = resolved;
        all.comm.chooser = SchemeChooser::nobody;
        return std::make_unique<PreparedExchange>(all, grids);
    }
};

}  // namespace

std::unique_ptr<Mode> make_exchange_mode() {
    return std::make_unique<ExchangeMode>();
}

}  // namespace keel
