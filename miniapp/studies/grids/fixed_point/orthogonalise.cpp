// run.mode = orthogonalise: the kernels of Anderson acceleration alone, by every method: filling a window of columns, and
// replacing its oldest ones.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "kernels/hash.hpp"
#include "kernels/vector.hpp"
#include "miniapp/deck/text.hpp"
#include "miniapp/prediction/costs.hpp"
#include "miniapp/report/records.hpp"
#include "miniapp/studies/grids/grid_studies.hpp"
#include "miniapp/studies/grids/grid_study.hpp"
#include "miniapp/studies/grids/solve_cost.hpp"
#include "miniapp/studies/repeat.hpp"
#include "solvers/anderson/anderson.hpp"
#include "solvers/systems/grid_system.hpp"

namespace keel {
namespace {

// What is timed: all columns of an empty window; one that takes the place of the oldest; and that with the least-squares problem,
// all that an iteration of Anderson acceleration asks for.
enum class Phase { start_up, recycled, iteration };
constexpr auto names_of(Phase) {
    using Name = Named<Phase>;
    return std::array{Name{Phase::start_up, "start_up"}, Name{Phase::recycled, "recycled"},
                      Name{Phase::iteration, "iteration"}};
}
constexpr std::array phases{Phase::start_up, Phase::recycled, Phase::iteration};

QRCost cost_of(const Orthogonaliser& row, Phase phase, long depth) {
    if (phase == Phase::recycled) return row.append(depth, depth);
    if (phase == Phase::iteration) return row.iteration(depth, depth);
    QRCost sum;
    for (long k = 0; k < depth; ++k) sum += row.append(k, depth);
    return sum;
}

struct PhaseResult {
    QRCost cost;          // by the row
    long reductions = 0;  // counted, of one
    long words = 0;
    std::vector<double> seconds;  // of one, each the slowest rank's
};
using MethodResult = std::array<PhaseResult, phases.size()>;

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

// Vectors that are not there: notes what a method does with them, for a prediction. Every inner product is 1, which no method
// breaks down of.
class Rehearsed : public LinearSystem {
  public:
    using LinearSystem::apply;
    using LinearSystem::combine;
    using LinearSystem::dots;
    Vector make_vector() override { return {}; }
    void combine(Vector, std::span<const double>, std::span<const Vector> x) override { note(x.size() + 1); }
    void fill(Vector, double) override { note(1); }
    void dots(std::span<const Product> products, std::span<double> results) override {
        sums_.push_back(products.size());
        for (std::size_t n = 0; n < products.size(); n += max_terms)  // one vector is in all of them
            note(1 + std::min(max_terms, products.size() - n));
        std::ranges::fill(results, 1.0);
    }
    double max_norm(Vector) override { return 1.0; }
    Counts counts() const override { return {}; }
    void apply(std::span<const Vector>, std::span<const Vector>) override { not_rehearsed(); }
    void split(std::span<const Vector>, Vector, Splitting) override { not_rehearsed(); }
    void gram(std::span<const Vector>, std::span<const Vector>, std::span<double>) override {
        not_rehearsed();
    }
    PendingSum begin_dots(std::span<const Product>) override { throw std::logic_error("is not rehearsed"); }

    // Seconds of what was noted since the last call, on a rank with so many rows.
    double take(Costs& costs, double rows) {
        double seconds = costs.work(calls_, {0.0, 8 * doubles_ * rows});
        for (const std::size_t words : sums_) seconds += costs.all_reduce(words);
        sums_.clear();
        calls_ = doubles_ = 0;
        return seconds;
    }

  private:
    void note(std::size_t vectors) {
        calls_ += 1;
        doubles_ += static_cast<double>(vectors);
    }
    static void not_rehearsed() { throw std::logic_error("is not rehearsed"); }

    std::vector<std::size_t> sums_;  // words of each all-reduce
    double calls_ = 0;
    double doubles_ = 0;  // moved for a row
};

double noise(std::uint64_t column, const Index& cell) {
    const auto at = [&](std::size_t d) { return static_cast<std::uint64_t>(cell[d]); };
    const std::uint64_t bits = scramble(scramble(scramble(scramble(column + 1) + at(0)) + at(1)) + at(2));
    return static_cast<double>(bits >> 11) * 0x1.0p-52 - 1.0;
}

std::string table_text(const std::vector<MethodResult>& results, int depth, const char* what) {
    constexpr const char* line =
        "{:<14} {:>11} {:>7} {:>10} {:>7} {:>12} {:>7} {:>10} {:>7} {:>12} {:>7} {:>10} {:>7}\n";
    std::string text = fmt::format(
        "Orthogonalisation of {} columns, {}: all of an empty window; one in the place of the oldest; and "
        "that with "
        "the least-squares problem\n",
        depth, what);
    text += fmt::format(line, "method", "all-reduces", "words", "start-up", "of mgs", "all-reduces", "words",
                        "recycled", "of mgs", "all-reduces", "words", "iteration", "of mgs");
    const auto& rows = orthogonalisers();
    const auto mgs =
        static_cast<std::size_t>(std::ranges::find(rows, "mgs", &Orthogonaliser::name) - rows.begin());
    for (std::size_t n = 0; n < rows.size(); ++n) {
        const auto cell = [&](std::size_t p) {
            const double seconds = median(results[n][p].seconds);
            const double of_mgs = seconds > 0 ? median(results[mgs][p].seconds) / seconds : 0;
            return std::pair(seconds_text(seconds), fmt::format("{:.2f}x", of_mgs));
        };
        const auto [a, fa] = cell(0);
        const auto [b, fb] = cell(1);
        const auto [c, fc] = cell(2);
        const MethodResult& r = results[n];
        text += fmt::format(line, rows[n].name, r[0].reductions, r[0].words, a, fa, r[1].reductions,
                            r[1].words, b, fb, r[2].reductions, r[2].words, c, fc);
    }
    return text + "\n";
}

std::string records_of(const std::vector<MethodResult>& results, int depth, double rows, bool predicted) {
    std::string lines;
    for (std::size_t n = 0; n < results.size(); ++n) {
        Json record{{"record", "orthogonalise"},
                    {"method", orthogonalisers()[n].name},
                    {"depth", depth},
                    {"rows", rows},
                    {"predicted", predicted}};
        for (const Phase phase : phases) {
            const PhaseResult& result = results[n][static_cast<std::size_t>(phase)];
            record[name(phase)] = {{"reductions", result.reductions},
                                   {"words", result.words},
                                   {"bytes_per_row", result.cost.bytes},
                                   {"seconds", result.seconds}};
        }
        lines += line_of(record);
    }
    return lines;
}

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

    DryRun dry_run(const Communicator& comm, const SharedMemory& memory) const override {
        DryRun dry = PreparedGrids::dry_run(comm, memory);
        if (comm.rank() > 0) return dry;
        const Model* const model = resolved_.model();
        if (model == nullptr || !model->machine.compute) {
            dry.text += "remark: seconds are predicted with a comm.machine that computes, such as hopper\n";
            return dry;
        }
        const std::vector<ExchangePlan> no_exchanges;
        Costs costs(no_exchanges, resolved_.topology, *model, resolved_.comm.all_reduce_model);
        const double rows = std::pow(grids_.problem.box, 3) * grids_.most_boxes_of_a_rank();
        std::vector<MethodResult> results;
        for (const Orthogonaliser& row : orthogonalisers()) {
            MethodResult& result = results.emplace_back();
            Rehearsed rehearsed;
            const auto qr = row.make(rehearsed, static_cast<std::size_t>(depth_));
            for (const Phase phase : phases) {
                PhaseResult& one = result[static_cast<std::size_t>(phase)];
                one.cost = cost_of(row, phase, depth_);
                one.reductions = one.cost.reductions;
                one.words = one.cost.words;
                const auto append = [&] { qr->append({}, {}); };
                if (phase == Phase::start_up)
                    for (int c = 0; c < depth_; ++c) append();
                else
                    append();
                if (phase == Phase::iteration) qr->least_squares({});
                one.seconds.push_back(rehearsed.take(costs, rows));
            }
        }
        const double all_rows = static_cast<double>(product(grids_.finest().cells()));
        dry.text += "\n" + table_text(results, depth_,
                                      fmt::format("predicted for {} on {}", counted(resolved_.ranks, "rank"),
                                                  model->machine.name)
                                          .c_str());
        dry.records += records_of(results, depth_, all_rows, true);
        return dry;
    }

  protected:
    void measure(const Setting& setting, Findings& findings) const override {
        Level& top = setting.hierarchy.level(0);
        GridSystem own(top.operations, *top.ghosts, *top.reduction, top.L, DiagonalScaling::none);
        SharedVectors shared(top.operations, *top.ghosts, *top.reduction, top.L, DiagonalScaling::none);
        const auto depth = static_cast<std::size_t>(depth_);
        const auto filled = [&](std::uint64_t column) {
            const Field x = own.make_vector();
            top.plain->assign(x, cube(top.layout.width()),
                              [=](const Index& cell) { return noise(column, cell); });
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
                const auto run = [&](Phase phase, const std::function<void()>& action, long times) {
                    const SolveCost cost =
                        measured(setting.site.comm, setting.site.backend, setting.hierarchy, [&] {
                            for (long t = 0; t < times; ++t) action();
                            top.operations.wait();
                        });
                    PhaseResult& result = results[method][static_cast<std::size_t>(phase)];
                    result.cost = cost_of(row, phase, depth_);
                    result.reductions = cost.reductions / times;
                    result.words = cost.reduction_words / times;
                    const bool as_predicted =
                        cost.reductions == times * result.cost.reductions &&
                        (resolved_.deterministic || cost.reduction_words == times * result.cost.words);
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
                    Phase::start_up,
                    [&] {
                        for (std::size_t c = 0; c < depth; ++c) append();
                    },
                    1);
                run(Phase::recycled, append, depth_);
                run(
                    Phase::iteration,
                    [&] {
                        append();
                        qr->least_squares(f);
                    },
                    depth_);
                const Ledger timed_only = setting.ledger;
                misfit = std::max(misfit, misfit_of(own, *qr, x, next, top.r));
                setting.ledger = timed_only;
            }
            setting.site.progress.say(fmt::format("round {}: {}", n, seconds_text(seconds)),
                                      resolved_.warmup + n + 1, resolved_.warmup + resolved_.repeats);
            if (n >= 0) rounds.push_back(seconds);
        };
        const int done =
            repeat(setting.site, {"rounds", resolved_.warmup, resolved_.repeats, resolved_.min_seconds},
                   findings, one);
        if (done == 0) return;
        const std::vector<TimerRow> timers =
            gather_timers(setting.site.comm, setting.ledger, my_seconds, done, resolved_.details.ranks);
        double fastest = HUGE_VAL;
        for (const MethodResult& result : results)
            fastest = std::min(fastest, median(result[static_cast<std::size_t>(Phase::iteration)].seconds));
        findings.seconds = fastest;
        findings.merit = {"orthogonalise.iterations_per_second", fastest > 0 ? 1 / fastest : 0.0,
                          "iterations/s"};
        setting.site.report.tell(
            table_text(results, depth_, "measured, medians; the columns are vectors of the cells") +
            level_report(setting, findings.facts, timers, rounds));
        setting.site.report.record(
            records_of(results, depth_, static_cast<double>(product(findings.facts.cells)), false) +
            timer_records(timers) + scheme_records(resolved_.comm.chooser, setting.schemes));
        findings.checks.push_back(
            {"factorisations_hold", misfit < 1e-12, misfit, "< 1e-12, of |X - Q R| / |X|"});
        findings.checks.push_back({"reductions_as_predicted", miscounted == 0,
                                   static_cast<double>(miscounted),
                                   "0 phases with other all-reduces or words than their row says"});
    }

  private:
    // |x - Q R e_j| / |x| of the worst column. x[oldest] is the first that is kept. r is overwritten.
    static double misfit_of(GridSystem& system, const QR& qr, const std::vector<Field>& x, std::size_t oldest,
                            Field r) {
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

    int depth_;
};

class OrthogonaliseStudy : public GridStudy {
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
            {"output."}};
        for (const char* key :
             {"anderson.depth", "problem.box", "problem.boxes_per_rank", "problem.boxes", "problem.ranks",
              "problem.placement", "problem.storage", "run.mode", "run.backend", "run.launches",
              "run.deterministic", "run.warmup", "run.repeats", "run.min_seconds", "run.time_limit",
              "run.label", "run.triad_mb", "run.verbose"})
            uses.push_back({key});
        return {uses, solves_nothing};
    }
    std::vector<NamedSolver> solvers(const Deck&) const override { return {}; }

    void check(Rules& rules, int ranks) const override {
        GridStudy::check(rules, ranks);
        const Parameters& p = rules.parameters();
        const Index boxes = resolved_boxes(p.problem, ranks);
        const double rows = std::pow(p.problem.box, 3) * boxes[0] * boxes[1] * boxes[2];
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
                .foretold = false};
    }
    std::unique_ptr<PreparedStudy> prepare(const Deck& deck, const Resolved& resolved,
                                           const GridSetup& grids) const override {
        return std::make_unique<PreparedOrthogonalise>(resolved, grids, depth_of(deck));
    }

  private:
    static int depth_of(const Deck& deck) { return deck.parameters.study.of<AndersonOptions>().depth; }
};

}  // namespace

std::unique_ptr<Study> make_orthogonalise_study() {
    return std::make_unique<OrthogonaliseStudy>();
}

}  // namespace keel
