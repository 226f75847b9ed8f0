#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "kernels/bodies/vector.hpp"
#include "kernels/hash.hpp"
#include "miniapp/deck/text/text.hpp"
#include "miniapp/modes/grids/orthogonalise/orthogonalise.hpp"
#include "miniapp/modes/grids/prediction/solve_cost.hpp"
#include "miniapp/modes/repeat.hpp"
#include "solvers/systems/grid_system.hpp"

namespace keel {
namespace {

// Vectors that were handed out once are handed out again: the methods take turns.
class SharedVectors : public GridSystem {
  public:
    using GridSystem::GridSystem;
    Vector make_vector() override {
        if (next_ == made_.size()) made_.push_back(GridSystem::make_vector());
        return made_[next_++];
    }
    void take_back() { next_ = 0; }

  private:
    std::vector<Vector> made_;
    std::size_t next_ = 0;
};

double noise(std::uint64_t column, const Index& cell) {
    const auto at = [&](std::size_t d) { return static_cast<std::uint64_t>(cell[d]); };
    const std::uint64_t bits = scramble(scramble(scramble(scramble(column + 1) + at(0)) + at(1)) + at(2));
    return static_cast<double>(bits >> 11) * 0x1.0p-52 - 1.0;
}

// |x - Q R e_j| / |x| of the worst column. x[oldest] is the first that is kept. r is overwritten.
double misfit_of(GridSystem& system, const QR& qr, const std::vector<Field>& x, std::size_t oldest, Field r) {
    double worst = 0;
    const std::size_t kept = qr.columns();
    if (kept < x.size()) return HUGE_VAL;
    for (std::size_t j = 0; j < kept; ++j) {
        const Field column = x[(oldest + j) % x.size()];
        std::vector<double> c{1.0};
        std::vector<Field> terms{column};
        for (std::size_t i = 0; i <= j; ++i) {
            c.push_back(-qr.r(i, j));
            terms.push_back(qr.basis()[i]);
        }
        system.combine(r, c, terms);
        worst = std::max(worst, system.norm(r) / system.norm(column));
    }
    return worst;
}

}  // namespace

void measure_orthogonalisers(const Setting& setting, const Resolved& resolved, int window,
                             Findings& findings) {
    Level& top = setting.hierarchy.level(0);
    GridSystem own(top.operations, *top.ghosts, *top.reduction, top.L, DiagonalScaling::none);
    SharedVectors shared(top.operations, *top.ghosts, *top.reduction, top.L, DiagonalScaling::none);
    const auto depth = static_cast<std::size_t>(window);
    const auto filled = [&](std::uint64_t column) {
        const Field x = own.make_vector();
        top.plain->assign(x, top.layout.box_cells(), [=](const Index& cell) { return noise(column, cell); });
        return x;
    };
    std::vector<Field> x;
    for (std::size_t n = 0; n < depth; ++n) x.push_back(filled(n));
    const Field f = filled(depth);
    findings.facts.setup_seconds = setting.setup_seconds();

    std::vector<MethodResult> results(orthogonalisers().size());
    double my_seconds = 0;
    double misfit = 0;
    long miscounted = 0;
    std::vector<double> rounds;
    const auto one = [&](int n) {
        if (n == 0) setting.ledger.clear();
        double seconds = 0;
        for (std::size_t method = 0; method < results.size(); ++method) {
            const Orthogonaliser& row = orthogonalisers()[method];
            shared.take_back();
            const auto qr = row.make(shared, depth);
            const auto run = [&](WindowPhase phase, const std::function<void()>& action, long times) {
                const SolveCost cost =
                    measured(setting.site.comm, setting.site.backend, setting.hierarchy, [&] {
                        for (long t = 0; t < times; ++t) action();
                        top.operations.wait();
                    });
                WindowResult& result = results[method][static_cast<std::size_t>(phase)];
                result.cost = window_cost(row, phase, window);
                result.reductions = cost.reductions / times;
                result.words = cost.reduction_words / times;
                const bool as_predicted =
                    cost.reductions == times * result.cost.reductions &&
                    (resolved.deterministic || cost.reduction_words == times * result.cost.words);
                miscounted += as_predicted ? 0 : 1;
                seconds += cost.seconds;
                if (n < 0) return;
                my_seconds += cost.my_seconds;
                result.seconds.push_back(cost.seconds / static_cast<double>(times));
            };
            std::size_t next = 0;
            const auto append = [&] {
                qr->append(x[next], f);
                next = (next + 1) % depth;
            };
            run(
                WindowPhase::start_up,
                [&] {
                    for (std::size_t c = 0; c < depth; ++c) append();
                },
                1);
            run(WindowPhase::recycled, append, window);
            run(
                WindowPhase::iteration,
                [&] {
                    append();
                    qr->least_squares(f);
                },
                window);
            const Ledger timed_only = setting.ledger;
            misfit = std::max(misfit, misfit_of(own, *qr, x, next, top.r));
            setting.ledger = timed_only;
        }
        setting.site.progress.say(fmt::format("round {}: {}", n, seconds_text(seconds)),
                                  resolved.warmup + n + 1, resolved.warmup + resolved.repeats);
        if (n >= 0) rounds.push_back(seconds);
    };
    const int done = repeat(setting.site, {"rounds", resolved.warmup, resolved.repeats, resolved.min_seconds},
                            findings, one);
    if (done == 0) return;
    const std::vector<TimerRow> timers =
        gather_timers(setting.site.comm, setting.ledger, my_seconds, done, resolved.details.ranks);
    double fastest = HUGE_VAL;
    for (const MethodResult& result : results)
        fastest = std::min(fastest, median(result[static_cast<std::size_t>(WindowPhase::iteration)].seconds));
    findings.seconds = fastest;
    findings.merit = {"orthogonalise.iterations_per_second", fastest > 0 ? 1 / fastest : 0.0, "iterations/s"};
    const ReportTable table = orthogonalise_table(
        results, window, static_cast<double>(product(findings.facts.cells)), Kind::measured);
    setting.site.report.tell(table.print() + "\n" + level_report(setting, findings, timers, rounds));
    setting.site.report.record(table.to_json() + timer_records(timers) +
                               scheme_records(resolved.comm.chooser, setting.schemes));
    findings.checks.push_back({"factorisations_hold", misfit < 1e-12, misfit, "< 1e-12, of |X - Q R| / |X|"});
    findings.checks.push_back({"reductions_as_predicted", miscounted == 0, static_cast<double>(miscounted),
                               "0 phases with other all-reduces or words than their row says"});
}

}  // namespace keel
