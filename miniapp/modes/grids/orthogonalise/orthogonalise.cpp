// run.mode = orthogonalise: the kernels of Anderson acceleration alone, by every method: filling a window of columns, and
// replacing its oldest ones.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "miniapp/deck/text/text.hpp"
#include "miniapp/modes/grids/grid_mode.hpp"
#include "miniapp/modes/grids/orthogonalise/orthogonalise.hpp"
#include "miniapp/modes/grids/orthogonalise/proxy_vectors.hpp"
#include "miniapp/prediction/costs.hpp"
#include "solvers/anderson/anderson.hpp"

namespace keel {
namespace {

class PreparedOrthogonalise : public PreparedGrids {
  public:
    PreparedOrthogonalise(const Resolved& resolved, const GridSetup& grids, int depth)
        : PreparedGrids(resolved, grids), depth_(depth) {}

    // The columns, f, and what the method with most keeps.
    static int fields(int depth) {
        int more = 0;
        for (const Orthogonaliser& row : orthogonalisers()) more = std::max(more, row.more_vectors);
        return depth + 1 + static_cast<int>(QR::vectors(static_cast<std::size_t>(depth))) + more;
    }

    DryRun dry_run(const Communicator& comm, const SharedMemory& memory, Progress& progress) const override {
        DryRun dry = PreparedGrids::dry_run(comm, memory, progress);
        if (comm.rank() > 0) return dry;
        const Model* const model = resolved_.model();
        if (model == nullptr || !model->machine.compute) {
            dry.text += "remark: seconds are predicted with a comm.machine that computes, such as hopper\n";
            return dry;
        }
        const std::vector<ExchangePlan> no_exchanges;
        Costs costs(no_exchanges, {resolved_.topology, *model, resolved_.comm.all_reduce_model});
        const double rows = grids_.problem.box_cells() * grids_.most_boxes_of_a_rank();
        std::vector<MethodResult> results;
        for (const Orthogonaliser& row : orthogonalisers()) {
            MethodResult& result = results.emplace_back();
            ProxyVectors vectors;
            const auto qr = row.make(vectors, static_cast<std::size_t>(depth_));
            for (const WindowPhase phase : window_phases) {
                WindowResult& one = result[static_cast<std::size_t>(phase)];
                one.cost = window_cost(row, phase, depth_);
                one.reductions = one.cost.reductions;
                one.words = one.cost.words;
                const auto append = [&] { qr->append({}, {}); };
                if (phase == WindowPhase::start_up)
                    for (int c = 0; c < depth_; ++c) append();
                else
                    append();
                if (phase == WindowPhase::iteration) qr->least_squares({});
                one.seconds.push_back(vectors.take(costs, rows));
            }
        }
        const double all_rows = static_cast<double>(product(grids_.finest().cells()));
        const ReportTable table = orthogonalise_table(
            results, depth_, all_rows, Kind::predicted,
            fmt::format(" for {} on {}", counted(resolved_.ranks, "rank"), model->machine.name));
        dry.text += "\n" + table.print() + "\n";
        dry.records += table.to_json();
        return dry;
    }

  protected:
    void measure(const Setting& setting, Findings& findings) const override {
        measure_orthogonalisers(setting, depth_, findings);
    }

  private:
    int depth_;
};

class OrthogonaliseMode : public GridMode {
  public:
    std::string name() const override { return "orthogonalise"; }
    std::string meaning() const override {
        return "QR factorisations of a window of vectors, by all methods";
    }

    KeyUses keys() const override {
        const std::string solves_nothing = "run.mode = orthogonalise solves nothing; leave it out";
        std::vector<KeyUse> uses{
            {"comm.scheme", {}, "run.mode = orthogonalise exchanges nothing; leave it out"},
            {"comm."},
            {"output."},
            {"multigrid.reference_path"}};
        for (const char* key :
             {"anderson.depth", "problem.dimensions", "problem.box", "problem.boxes_per_rank",
              "problem.boxes", "problem.ranks", "problem.placement", "problem.storage", "run.mode",
              "run.backend", "run.gpu_sync", "run.deterministic", "run.warmup", "run.repeats",
              "run.time_limit", "run.label", "run.triad_mb", "run.dry_run_limit"})
            uses.push_back({key});
        return {uses, solves_nothing};
    }
    std::vector<NamedSolver> solvers(const Deck&) const override { return {}; }

    void check(Rules& rules, int ranks) const override {
        GridMode::check(rules, ranks);
        const Parameters& p = rules.parameters();
        const Index boxes = resolved_boxes(p.problem, ranks);
        const double rows = p.problem.box_cells() * boxes[0] * boxes[1] * boxes[2];
        const int depth = depth_of(rules.deck());
        rules.require(depth >= 1, {"anderson.depth", "run.mode"},
                      "anderson.depth = 0: there is no column to make orthogonal; choose 1 or more");
        rules.require(
            depth <= rows, {"anderson.depth", "problem.box"},
            fmt::format("anderson.depth = {}: more columns than the {:.0f} rows depend on each other; choose "
                        "at most {:.0f}",
                        depth, rows, rows));
    }

  protected:
    GridUse use(const Deck& deck) const override {
        return {.coarsens = false,
                .solvers = {},
                .more_fields = PreparedOrthogonalise::fields(std::max(1, depth_of(deck))),
                .predicted = false};
    }
    std::unique_ptr<PreparedMode> prepare(const Deck& deck, const Resolved& resolved,
                                          const GridSetup& grids) const override {
        return std::make_unique<PreparedOrthogonalise>(resolved, grids, depth_of(deck));
    }

  private:
    static int depth_of(const Deck& deck) { return deck.parameters.mode_options.of<AndersonOptions>().depth; }
};

}  // namespace

std::unique_ptr<Mode> make_orthogonalise_mode() {
    return std::make_unique<OrthogonaliseMode>();
}

}  // namespace keel
