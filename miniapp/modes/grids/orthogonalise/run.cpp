#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "kernels/bodies/vector.hpp"
#include "kernels/hash.hpp"
#include "miniapp/modes/grids/orthogonalise/orthogonalise.hpp"
#include "miniapp/modes/grids/repeated_solves.hpp"
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

// Times windows of all methods, which take turns, on the cells of the finest level.
class WindowTimes {
  public:
    WindowTimes(const Setting& setting, int window)
        : setting_(setting),
          window_(window),
          depth_(static_cast<std::size_t>(window)),
          own_(system_of<GridSystem>(top())),
          shared_(system_of<SharedVectors>(top())),
          results_(orthogonalisers().size()) {
        for (std::size_t n = 0; n < depth_; ++n) x_.push_back(filled(n));
        f_ = filled(depth_);
    }

    // The n-th round, which counts from 0 on. Collective.
    TimedSolve round(int n) {
        TimedSolve all;
        for (std::size_t method = 0; method < results_.size(); ++method) {
            shared_.take_back();
            const auto qr = orthogonalisers()[method].make(shared_, depth_);
            std::size_t next = 0;
            const auto append = [&] {
                qr->append(x_[next], f_);
                next = (next + 1) % depth_;
            };
            const auto fill = [&] {
                for (std::size_t c = 0; c < depth_; ++c) append();
            };
            const auto iterate = [&] {
                append();
                qr->least_squares(f_);
            };
            run(method, WindowPhase::start_up, fill, 1, n, all);
            run(method, WindowPhase::recycled, append, window_, n, all);
            run(method, WindowPhase::iteration, iterate, window_, n, all);
            const Ledger timed_only = setting_.ledger;
            misfit_ = std::max(misfit_, misfit_of(own_, *qr, x_, next, top().r));
            setting_.ledger = timed_only;
        }
        all.progress = "all methods";
        return all;
    }

    const std::vector<MethodResult>& results() const { return results_; }
    // Seconds of an iteration by the fastest method, of its median.
    double fastest() const {
        double least = HUGE_VAL;
        for (const MethodResult& result : results_)
            least = std::min(least, median(result[static_cast<std::size_t>(WindowPhase::iteration)].seconds));
        return least;
    }
    std::vector<Check> checks() const {
        return {{"factorisations_hold", misfit_ < 1e-12, misfit_, "< 1e-12, of |X - Q R| / |X|"},
                {"reductions_as_predicted", miscounted_ == 0, static_cast<double>(miscounted_),
                 "0 phases with other all-reduces or words than their row says"}};
    }

  private:
    template <class System>
    static System system_of(Level& level) {
        return System(level.operations, *level.ghosts, *level.reduction, level.L, DiagonalScaling::none);
    }
    Level& top() const { return setting_.hierarchy.level(0); }
    Field filled(std::uint64_t column) {
        const Field x = own_.make_vector();
        top().plain->assign(x, top().layout.box_cells(),
                            [=](const Index& cell) { return noise(column, cell); });
        return x;
    }

    // Times `action`, so many times.
    void run(std::size_t method, WindowPhase phase, const std::function<void()>& action, long times, int n,
             TimedSolve& all) {
        const SolveCost cost =
            measured(setting_.context.comm, setting_.context.backend, setting_.hierarchy, [&] {
                for (long t = 0; t < times; ++t) action();
                top().operations.wait();
            });
        WindowResult& result = results_[method][static_cast<std::size_t>(phase)];
        result.cost = window_cost(orthogonalisers()[method], phase, window_);
        result.reductions = cost.reductions / times;
        result.words = cost.reduction_words / times;
        const bool as_predicted =
            cost.reductions == times * result.cost.reductions &&
            (setting_.resolved.deterministic || cost.reduction_words == times * result.cost.words);
        miscounted_ += as_predicted ? 0 : 1;
        all.seconds += cost.seconds;
        all.my_seconds += cost.my_seconds;
        if (n >= 0) result.seconds.push_back(cost.seconds / static_cast<double>(times));
    }

    const Setting& setting_;
    int window_;
    std::size_t depth_;
    GridSystem own_;
    SharedVectors shared_;
    std::vector<MethodResult> results_;
    std::vector<Field> x_;
    Field f_ = {};
    double misfit_ = 0;
    long miscounted_ = 0;
};

}  // namespace

void measure_orthogonalisers(const Setting& setting, int window, Findings& findings) {
    WindowTimes windows(setting, window);
    findings.facts.setup_seconds = setting.setup_seconds();
    const auto repeated = repeat_solves(setting, findings,
                                        {.solve = [&](int n) { return windows.round(n); }, .what = "rounds"});
    if (!repeated) return;
    findings.seconds = windows.fastest();
    findings.merit = {"orthogonalise.iterations_per_second",
                      findings.seconds > 0 ? 1 / findings.seconds : 0.0, "iterations/s"};
    const ReportTable table = orthogonalise_table(
        windows.results(), window, static_cast<double>(product(findings.facts.cells)), Kind::measured);
    setting.context.report.record(table.to_json());
    report_solves(setting, findings, *repeated, {.before = table.print()});
    for (const Check& check : windows.checks()) findings.checks.push_back(check);
}

}  // namespace keel
