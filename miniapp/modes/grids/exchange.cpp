// run.mode = exchange: the exchanges of every level, timed under all communication schemes in turns; nothing
// is solved.

#include "miniapp/modes/grids/grid_mode.hpp"
#include "miniapp/modes/repeat.hpp"

namespace keel {
namespace {

class ExchangeMode : public GridMode {
  public:
    std::string name() const override { return "exchange"; }
    std::string meaning() const override { return "exchanges by all schemes, no solve"; }

    KeyUses keys() const override {
        const std::string tries_all = "run.mode = exchange tries all schemes under all rules; leave it out";
        const std::string solves_nothing = "run.mode = exchange solves nothing; leave it out";
        std::vector<KeyUse> uses{{"comm.scheme", {}, tries_all},
                                 {"comm.allreduce", {}, solves_nothing},
                                 {"comm.all_reduce_us", {}, solves_nothing},
                                 {"comm.overlap", {}, solves_nothing},
                                 {"comm.ranks_per_device", {}, why_no_helpers},
                                 {"comm."},
                                 {"run.deterministic", {}, solves_nothing},
                                 {"run."},
                                 {"output.json"}};
        for (const char* key :
             {"problem.box", "problem.boxes_per_rank", "problem.boxes", "problem.ranks", "problem.columns",
              "problem.placement", "problem.boundary", "problem.shape", "problem.fill", "problem.outside",
              "multigrid.bottom_box", "multigrid.bottom_grid", "multigrid.cycle", "multigrid.interpolation"})
            uses.push_back({key});
        uses.push_back({"problem.seed", {{"problem.shape", {"scattered", "tags"}}}});
        return {uses, solves_nothing};
    }
    std::vector<NamedSolver> solvers(const Deck&) const override { return {}; }

    // Trying the schemes, which other modes may do before they measure, is all there is to measure: no
    // hierarchy is built.
    void run(const PreparedGrids& prepared, const RunContext& context, Findings& findings) const override {
        const Resolved& resolved = prepared.resolved();
        const Communicator& comm = context.comm;
        RunFacts& facts = findings.facts;
        const Layout finest = prepared.describe(context, facts);
        facts.array_bytes = comm.max(prepared.memory({}).arrays);
        context.report.begin(facts);
        context.progress.say("comparing communication schemes");
        std::vector<SchemeTable> schemes = compare_schemes(prepared.grids(), finest, resolved, comm);
        try_transports(resolved.comm, schemes);
        const Tried tried = time_schemes(
            comm, {resolved.warmup, resolved.repeats},
            [&](const SchemeTable& table) {
                return make_grid_trial(prepared.grids(), resolved.topology, comm, context.backend, table);
            },
            schemes, [&] { return context.ending.asked(comm); });
        findings.interruption = tried.interruption;
        findings.checks.push_back(tried.check);
        findings.tallies.push_back(tried.rounds);
        facts.tuning_seconds = tried.seconds;
        context.report.tell(schemes_text(resolved.comm.chooser, schemes, tried.seconds));
        context.report.record(scheme_records(resolved.comm.chooser, schemes));
    }

  protected:
    GridUse use(const Deck& deck) const override {
        return {
            .krylov = KrylovLevel::none, .solvers = {}, .exchanged_fields = deck.parameters.problem.columns};
    }
    void decide(Resolved& resolved, GridSetup&) const override {
        resolved.comm.chooser = SchemeChooser::nobody;
    }
};

}  // namespace

std::unique_ptr<Mode> make_exchange_mode() {
    return std::make_unique<ExchangeMode>();
}

}  // namespace keel
