// run.mode = benchmark and quick_benchmark: the Keel benchmark, whose rules are in docs/benchmark.md. The
// solve mode solves each problem; this one chooses sizes, fixes what the rules fix, and adds up the records.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>

#include "build_info.hpp"
#include "miniapp/deck/text/key_text.hpp"
#include "miniapp/deck/text/text.hpp"
#include "miniapp/files/record_name.hpp"
#include "miniapp/modes/mode.hpp"
#include "miniapp/report/benchmark.hpp"
#include "miniapp/report/level_tables.hpp"
#include "miniapp/report/records/records.hpp"
#include "miniapp/report/table.hpp"

namespace keel {

std::unique_ptr<Mode> make_solve_mode();  // at the end of its file

namespace {

constexpr double benchmark_tolerance = 1e-10;
// Rounding ends solves of the manufactured u at 2.9e-17 n^2 max|f| with n cells along a side (Dirichlet,
// measured to n = 128). With more cells than these the tolerance grows by n^2, too.
constexpr double widest_side = 1024;
constexpr double share_of_memory = 0.25;
constexpr int solves_of_problem = 3;  // the least number of measured ones on each grid

// The problems are solved at the spacing of the full size, and on boxes a half and a quarter as wide.
struct Spacing {
    const char* name;
    int ratio;
    double least_seconds;  // all measured solves together
};
constexpr std::array benchmark_grids{Spacing{"h", 1, 60}, Spacing{"2h", 2, 10}, Spacing{"4h", 4, 10}};

struct Case {
    Boundary boundary = Boundary::periodic;
    Rhs rhs = Rhs::manufactured;
};
constexpr std::array family{
    Case{Boundary::periodic, Rhs::manufactured}, Case{Boundary::periodic, Rhs::random},
    Case{Boundary::dirichlet, Rhs::manufactured}, Case{Boundary::dirichlet, Rhs::random}};
constexpr double problem_count = family.size();

// The keys, or sections, that a run may change, and the name of the change; an empty one counts for no class.
// All other keys are fixed.
struct Freedom {
    std::string_view keys;
    std::string_view what;
};
constexpr std::string_view fixed_by_rules = "fixed";
constexpr std::array freedoms{Freedom{"bottom.", "solver"},
                              Freedom{"amg.", "solver"},
                              Freedom{"multigrid.", "solver"},
                              Freedom{"multigrid.tolerance", fixed_by_rules},
                              Freedom{"multigrid.bottom_box", fixed_by_rules},
                              Freedom{"multigrid.precision", "precision"},
                              Freedom{"multigrid.fused_box", "passes"},
                              Freedom{"multigrid.fused_half_sweeps", "passes"},
                              Freedom{"multigrid.reference_path", "passes"},
                              Freedom{"multigrid.ghost_colours", "passes"},
                              Freedom{"problem.storage", "passes"},
                              Freedom{"problem.placement", "scheme"},
                              Freedom{"comm.", "scheme"},
                              Freedom{"comm.ranks_per_node", fixed_by_rules},
                              Freedom{"comm.ranks_per_socket", fixed_by_rules},
                              Freedom{"comm.node_map", fixed_by_rules},
                              Freedom{"run.gpu_sync", "passes"},
                              Freedom{"run.mode", ""},
                              Freedom{"run.backend", ""},
                              Freedom{"run.label", ""},
                              Freedom{"run.time_limit", ""},
                              Freedom{"run.triad_mb", ""},
                              Freedom{"output.", ""}};

std::string_view freedom_of(std::string_view key) {
    const std::string_view section = key.substr(0, key.find('.') + 1);
    for (const std::string_view name : {key, section})
        if (const auto found = std::ranges::find(freedoms, name, &Freedom::keys); found != freedoms.end())
            return found->what;
    return fixed_by_rules;
}

// The boxes of a rank.
struct Size {
    int width = 64;
    int boxes = 1;

    // 64, 80, 96, 112, 128, 160, ... cells; beyond the widest box twice as many.
    Size next() const {
        const int step = static_cast<int>(std::bit_floor(static_cast<unsigned>(width))) / 4;
        return width < 1024 ? Size{width + step, boxes} : Size{width, 2 * boxes};
    }
    // From 4 to 7 cells, reached by halving.
    int coarsest() const {
        int box = width;
        while (box > 7) box /= 2;
        return box;
    }
};

// Keeps the records of a solve; the report of the first problem is the run's as well.
class KeptRecords : public Reporter {
  public:
    explicit KeptRecords(Reporter* shown) : shown_(shown) {}
    void begin(const RunFacts& facts) override {
        if (shown_) shown_->begin(facts);
    }
    void tell(const std::string& text) override {
        if (shown_) shown_->tell(text);
    }
    void record(const std::string& lines) override {
        if (shown_) shown_->record(lines);
        std::istringstream all(lines);
        for (std::string line; std::getline(all, line);) {
            Json one = Json::parse(line);
            if (one.at("record") == "solve")
                solves.push_back(std::move(one));
            else if (one.at("record") == "timer")
                timers.push_back(std::move(one));
        }
    }

    std::vector<Json> solves, timers;

  private:
    Reporter* shown_;
};

// Sums over the problems on the grids of one spacing: of a solve each, whose seconds are medians, unless said
// otherwise.
struct GridSums {
    RunFacts facts;
    double seconds = 0;
    double cycles = 0;
    double moved = 0, sent = 0;           // bytes
    double busy = 0, busy_at_bottom = 0;  // seconds by operation
    double measured_seconds = 0;          // of all measured solves
    long solves = 0;                      // all measured ones
    long converged = 0;                   // of these
    double tolerance = 0;
    std::vector<std::optional<double>> digits = {};  // by problem
};

// Keeps the worse of two checks of one name.
void add_check(std::vector<Check>& checks, const Check& check) {
    const auto kept = std::ranges::find(checks, check.name, &Check::name);
    if (kept == checks.end())
        checks.push_back(check);
    else if (kept->passed && (!check.passed || (check.want == kept->want && check.value > kept->value)))
        *kept = check;
}

// Adds the checks and the solves of a problem.
void add_findings(const Findings& one, Findings& all) {
    all.interruption = one.interruption;
    for (const Tally& tally : one.tallies) {
        all.tallies.front().done += tally.done;
        all.tallies.front().all += tally.all;
    }
    for (const Check& check : one.checks)
        if (check.name != "solves_converged") add_check(all.checks, check);
}

// Adds a problem. Its solves are alike: the first has the counts of all.
void add_problem(const char* spacing, const Case& problem, const Findings& one, const KeptRecords& kept,
                 GridSums& grid, ReportTable& problems) {
    const Json& first = kept.solves.front();
    const std::optional<double> digits = one.merit->work->digits;
    grid.facts = one.facts;
    grid.tolerance = *one.merit->work->tolerance;
    grid.seconds += one.seconds;
    grid.digits.push_back(digits);
    grid.cycles += first.at("cycles").get<double>();
    for (const Json& timer : kept.timers) {
        const auto mean = timer.at("t_mean").get<double>();
        grid.busy += mean;
        if (timer.at("level").get<std::size_t>() + 1 == one.facts.levels.size()) grid.busy_at_bottom += mean;
        grid.moved += timer.at("bytes_moved").get<double>();
        grid.sent += timer.at("all_bytes").get<double>();
    }
    Json seconds = Json::array();
    Json residuals = Json::array();  // the last of each solve
    for (const Json& solve : kept.solves) {
        grid.measured_seconds += solve.at("seconds").get<double>();
        grid.converged += solve.at("converged").get<bool>() ? 1 : 0;
        seconds.push_back(solve.at("seconds"));
        residuals.push_back(solve.at("residuals").back());
    }
    grid.solves += static_cast<long>(kept.solves.size());
    problems.add({{"grid", spacing},
                  {"boundary", name(problem.boundary)},
                  {"rhs", name(problem.rhs)},
                  {"seconds", seconds},
                  {"residuals", residuals},
                  {"cycles", first.at("cycles")},
                  {"bottom_iterations", first.at("bottom_iterations")},
                  {"digits", number_or_null(digits)},
                  {"u_l2", first.at("u_l2")},
                  {"setup_seconds", one.facts.setup_seconds}});
}

double dof_per_second(const GridSums& grid) {
    return problem_count * static_cast<double>(grid.facts.domain->cells) / grid.seconds;
}

void add_grid(const char* spacing, const GridSums& grid, ReportTable& grids) {
    const RunFacts& facts = grid.facts;
    const auto each = [](double sum) { return sum / problem_count; };
    const double digits = mean_of(grid.digits).value_or(0) * problem_count;
    const double per_unknown = each(grid.moved) / static_cast<double>(facts.domain->cells);
    grids.add({{"grid", spacing, "grid"},
               {"box", facts.levels.front().width},
               {"cells", facts.cells(0), "cells", cells_text(facts.cells(0), facts.dimensions)},
               {"unknowns", facts.domain->cells},
               {"tolerance", grid.tolerance},
               {"solves", grid.solves, "solves"},
               {"measured_seconds", grid.measured_seconds},
               {"seconds", each(grid.seconds), "a solve", Unit::seconds},
               {"cycles", each(grid.cycles), "cycles", fmt::format("{:.1f}", each(grid.cycles))},
               {"dof_per_second", dof_per_second(grid), "dof/s", fmt::format("{:.4e}", dof_per_second(grid))},
               {"digits_per_second", digits / grid.seconds, "digits/s", Unit::ratio},
               {"bottom_share", grid.busy_at_bottom / grid.busy, "bottom", Unit::percent},
               {"bytes_per_unknown", per_unknown, "B/unknown", fmt::format("{:.0f}", per_unknown)},
               {"triad_share", grid.moved / grid.busy / facts.triad_bytes_per_second},
               {"sent_bytes", each(grid.sent), "sent", Unit::bytes}});
}

class PreparedBenchmark : public PreparedMode {
  public:
    // The mode must outlive this object.
    PreparedBenchmark(const Mode& solve, const Deck& deck, const Resolved& resolved, bool quick)
        : solve_(solve), deck_(deck), resolved_(resolved), quick_(quick) {
        resolved_.repeats = solves_of_problem;
        resolved_.remarks = prepared(deck_of({}))->resolved().remarks;
    }

    const Resolved& resolved() const override { return resolved_; }
    // Also the rules of each grid: the deck has passed them with another size.
    std::string exceeds(const SharedMemory& memory) const override {
        const Size size = size_for(memory);
        for (const Spacing& spacing : benchmark_grids) {
            const Deck deck = deck_of(size, spacing.ratio);
            Rules rules(deck);
            solve_.check(rules, resolved_.ranks);
            if (const auto errors = std::move(rules).errors(); !errors.empty()) return errors.front();
        }
        return prepared(deck_of(size))->exceeds(memory);
    }
    std::optional<std::string> plan_text(int rank, const SharedMemory& memory) const override {
        const SharedMemory of_run{memory.bytes, memory_of_nodes(resolved_.detected).sharing, memory.where};
        return prepared(deck_of(size_for(of_run)))->plan_text(rank, memory);
    }
    DryRun dry_run(const Communicator& comm, const SharedMemory& memory, Progress& progress) const override {
        return prepared(deck_of(size_for(memory)))->dry_run(comm, memory, progress);
    }
    void run(const RunContext& context, Findings& findings) const override {
        const SharedMemory memory = memory_of(context.backend, resolved_.detected, context.comm);
        const Size size = size_for(memory);
        const RunFacts machine = findings.facts;
        ReportTable grids("");
        ReportTable problems("");
        GridSums at_h;
        findings.tallies = {Tally{"solves"}};
        long converged = 0;
        for (const Spacing& spacing : benchmark_grids) {
            GridSums grid;
            for (const Case& problem : family) {
                const bool first = problems.empty();
                KeptRecords kept(first ? &context.report : nullptr);
                const Findings one = solved(context, machine, size, spacing, problem, kept);
                if (first) findings.facts = one.facts;
                add_findings(one, findings);
                if (findings.interrupted()) return;
                add_problem(spacing.name, problem, one, kept, grid, problems);
            }
            add_grid(spacing.name, grid, grids);
            converged += grid.converged;
            if (spacing.ratio == 1) at_h = grid;
        }
        findings.checks.push_back(all_converged(converged, findings.tallies.front().done));
        BenchmarkFindings& found = findings.benchmark.emplace(classified());
        found.marks = reasons_not_to_submit(findings.facts);
        findings.seconds = at_h.seconds / problem_count;
        findings.merit = {found.marks.empty() ? fmt::format("benchmark.{}.dof_per_second", found.category)
                                              : "non_benchmark.dof_per_second",
                          dof_per_second(at_h), "dof/s", SolveWork{at_h.tolerance, mean_of(at_h.digits)}};
        const double grids_bytes = memory.sharing * findings.facts.array_bytes;
        const double share = grids_bytes / memory.bytes;
        found.json = Json{{"memory",
                           {{"where", memory.where},
                            {"ranks", memory.sharing},
                            {"bytes", memory.bytes},
                            {"machine_bytes", memory_of_machine()},
                            {"grids_bytes", grids_bytes},
                            {"share", share}}},
                          {"grids", grids.rows()},
                          {"problems", problems.rows()}}
                         .dump();
        found.text = grids.print() + fmt::format("memory    grids of {} in {} of a {}: {:.0f}%, {}\n",
                                                 bytes_text(grids_bytes), bytes_text(memory.bytes),
                                                 memory.where, 100 * share, counted(memory.sharing, "rank"));
    }

  private:
    // The deck of a problem on boxes so much narrower than the full size.
    Deck deck_of(const Size& size, int ratio = 1, const Case& problem = family.front()) const {
        Deck deck = deck_;
        ProblemOptions& p = deck.parameters.problem;
        p.box = size.width / ratio;
        p.boxes_per_rank = size.boxes;
        p.coefficients = Coefficients::smooth;
        p.boundary = {problem.boundary, problem.boundary, problem.boundary};
        p.rhs = problem.rhs;
        const double side = p.box * std::ranges::max(resolved_boxes(p, resolved_.ranks));
        deck.parameters.multigrid.tolerance =
            benchmark_tolerance * std::max(1.0, std::pow(side / widest_side, 2));
        deck.parameters.multigrid.bottom_box = size.coarsest();
        return deck;
    }
    std::unique_ptr<PreparedMode> prepared(const Deck& deck, double least_seconds = 0) const {
        Resolved resolved = resolved_;
        resolved.least_seconds = least_seconds;
        return solve_.prepare(deck, resolved);
    }
    // The smallest that takes a quarter of the memory.
    Size size_for(const SharedMemory& memory) const {
        const SharedMemory part{share_of_memory * memory.bytes, memory.sharing, memory.where};
        Size size;
        while (!quick_ && prepared(deck_of(size))->exceeds(part).empty()) size = size.next();
        return size;
    }

    Findings solved(const RunContext& context, const RunFacts& machine, const Size& size,
                    const Spacing& spacing, const Case& problem, KeptRecords& kept) const {
        context.progress.say(
            fmt::format("{}: {}, {}", spacing.name, name(problem.boundary), name(problem.rhs)));
        Findings one;
        one.facts = machine;
        const double least_seconds = quick_ ? 0.0 : spacing.least_seconds / problem_count;
        prepared(deck_of(size, spacing.ratio, problem), least_seconds)
            ->run({context.comm, context.backend, context.progress, kept, context.ending, context.regions},
                  one);
        return one;
    }

    // The class, and the keys behind it.
    BenchmarkFindings classified() const {
        BenchmarkFindings found;
        found.category = "base";
        for (const std::string& key : non_default_keys(*deck_.table, deck_.parameters)) {
            const std::string_view what = freedom_of(key.substr(0, key.find(' ')));
            if (what.empty()) continue;
            found.changed.push_back(fmt::format("{}: {}", what, key));
            if (found.category != "mixed") found.category = what == "precision" ? "mixed" : "tuned";
        }
        return found;
    }

    std::vector<std::string> reasons_not_to_submit(const RunFacts& facts) const {
        std::vector<std::string> reasons;
        const auto add = [&](bool holds, const std::string& reason) {
            if (holds) reasons.push_back(reason);
        };
        add(quick_, "--quick");
        add(facts.simulation.has_value(), "times are simulated");
        add(facts.shared_cores, "more threads than processors (see the warning)");
        add(facts.device_sharing > 1, "ranks share a device");
        add(std::string_view(build_info::revision).ends_with("-dirty"), "sources differ from their revision");
        return reasons;
    }

    const Mode& solve_;
    Deck deck_;
    Resolved resolved_;
    bool quick_;
};

class BenchmarkMode : public Mode {
  public:
    explicit BenchmarkMode(bool quick) : quick_(quick) {}
    std::string name() const override { return quick_ ? "quick_benchmark" : "benchmark"; }
    std::string meaning() const override {
        return quick_ ? "the same on small boxes, not to be submitted" : "the Keel benchmark, by its rules";
    }
    KeyUses keys() const override {
        KeyUses uses = solve_->keys();
        uses.otherwise = "the rules of the benchmark fix it (docs/benchmark.md); leave it out";
        std::erase_if(uses.uses,
                      [](const KeyUse& use) { return use.key.starts_with("problem.") || use.key == "run."; });
        for (const auto& [key, what] : freedoms)
            if (what == fixed_by_rules)
                uses.uses.push_back({std::string(key), {}, uses.otherwise});
            else if (key.starts_with("problem.") || key.starts_with("run."))
                uses.uses.push_back({std::string(key)});
        return uses;
    }
    std::vector<NamedSolver> solvers(const Deck& deck) const override { return solve_->solvers(deck); }
    void check(Rules& rules, int ranks) const override {
        solve_->check(rules, ranks);
        const std::string reason = reason_not_writable(result_file);
        rules.require(reason.empty() || rules.of_dry_run(), {"run.mode"},
                      fmt::format("{}: {}; start it in another folder", result_file, reason));
    }
    std::unique_ptr<PreparedMode> prepare(const Deck& deck, const Resolved& resolved) const override {
        return std::make_unique<PreparedBenchmark>(*solve_, deck, resolved, quick_);
    }

  private:
    std::unique_ptr<Mode> solve_ = make_solve_mode();
    bool quick_;
};

}  // namespace

std::unique_ptr<Mode> make_benchmark_mode() {
    return std::make_unique<BenchmarkMode>(false);
}

std::unique_ptr<Mode> make_quick_benchmark_mode() {
    return std::make_unique<BenchmarkMode>(true);
}

}  // namespace keel
