// run.mode = benchmark and quick_benchmark: the Keel benchmark, whose rules are in docs/benchmark.md. The
// solve mode solves each problem; this one chooses sizes, fixes what the rules fix, and adds up the records.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "build_info.hpp"
#include "miniapp/deck/text/key_text.hpp"
#include "miniapp/deck/text/text.hpp"
#include "miniapp/files/output_files.hpp"
#include "miniapp/modes/grids/benchmark/rules.hpp"
#include "miniapp/modes/grids/benchmark/sums.hpp"
#include "miniapp/modes/mode.hpp"
#include "miniapp/report/benchmark.hpp"
#include "miniapp/report/records/records.hpp"
#include "miniapp/report/tables/table.hpp"

namespace keel {

std::unique_ptr<Mode> make_solve_mode();  // at the end of its file

namespace {

using namespace benchmark;

class PreparedBenchmark : public PreparedMode {
  public:
    // The mode must outlive this object.
    PreparedBenchmark(const Mode& solve, const Deck& deck, const Resolved& resolved, bool quick)
        : solve_(solve), deck_(deck), resolved_(resolved), quick_(quick) {
        resolved_.repeats = solves_of_problem;
        resolved_.remarks = prepared(deck_of({}))->resolved().remarks;
    }

    const Resolved& resolved() const override { return resolved_; }
    std::string result_file() const override { return deck_.parameters.output.result; }
    // Also the rules of each grid: the deck has passed them with another size.
    std::string exceeds(const SharedMemory& found) const override {
        const SharedMemory memory = found.enforced();
        const Size size = size_for(memory);
        for (const Grid& grid : grids_of(size)) {
            const Deck deck = deck_of(grid.size, grid.spacing.ratio);
            Rules rules(deck);
            solve_.check(rules, resolved_.ranks);
            if (const auto errors = std::move(rules).errors(); !errors.empty()) return errors.front();
        }
        const std::string complaint = prepared(deck_of(size))->exceeds(memory);
        if (complaint.empty()) return "";
        return complaint.substr(0, complaint.find(';')) + "; the rules have no smaller problem";
    }
    DryRun dry_run(const Communicator& comm, const SharedMemory& memory, Progress& progress) const override {
        return prepared(deck_of(size_for(memory.enforced())))->dry_run(comm, memory, progress);
    }
    void run(const RunContext& context, Findings& findings) const override {
        const SharedMemory memory = memory_of(context.backend, resolved_.detected, context.comm).enforced();
        const Size size = size_for(memory);
        const RunFacts machine = findings.facts;
        ReportTable grids("");
        ReportTable problems("");
        GridSums at_h;
        std::string fixed_text;  // at a box of 64^3 a rank
        findings.tallies = {Tally{"solves"}};
        long converged = 0;
        for (const Grid& one_grid : grids_of(size)) {
            const Spacing& spacing = one_grid.spacing;
            GridSums grid;
            for (const Case& problem : family) {
                const bool first = problems.empty();
                KeptRecords kept(first ? &context.report : nullptr);
                const Findings one = solved(context, machine, one_grid, problem, kept);
                if (first) findings.facts = one.facts;
                add_findings(one, findings);
                if (findings.interrupted()) return;
                add_problem(spacing.name, problem, one, kept, grid, problems);
            }
            if (grids.empty()) at_h = grid;
            add_grid(spacing.name, grid, grids);
            converged += grid.converged;
            if (one_grid.width() == fixed_width)
                fixed_text = fmt::format("fixed     {:.4e} dof/s with a box of {}^3 a rank (grid {})\n",
                                         dof_per_second(grid), fixed_width, spacing.name);
        }
        findings.checks.push_back(all_converged(converged, findings.tallies.front().done));
        BenchmarkFindings& found = findings.benchmark.emplace(classified());
        found.marks = reasons_not_to_submit(findings.facts);
        if (memory.is_limited_by_process())
            found.marks.push_back(memory.process.name + " limits the memory of a rank");
        const double grids_bytes = memory.sharing * findings.facts.array_bytes;
        const double share = grids_bytes / memory.bytes;
        const bool on_node = memory.where == "node";
        const std::string part =
            fmt::format("{:.2f}% of the machine", 100 * grids_bytes / memory.machine_bytes);
        if (on_node && grids_bytes < share_of_memory * memory.machine_bytes)
            found.marks.push_back("grids of " + part);
        findings.seconds = at_h.seconds / problem_count;
        findings.merit = {found.marks.empty() ? fmt::format("benchmark.{}.dof_per_second", found.category)
                                              : "non_benchmark.dof_per_second",
                          dof_per_second(at_h), "dof/s", SolveWork{at_h.tolerance, mean_of(at_h.digits)}};
        found.json = Json{{"memory",
                           {{"where", memory.where},
                            {"ranks", memory.sharing},
                            {"bytes", memory.bytes},
                            {"machine_bytes", memory.machine_bytes},
                            {"grids_bytes", grids_bytes},
                            {"share", share}}},
                          {"grids", grids.rows()},
                          {"problems", problems.rows()}}
                         .dump();
        found.text =
            grids.print() + fixed_text +
            (resolved_.gpu_sync == GpuSync::per_operation ? smoother_text(at_h) : "") +
            fmt::format("memory    grids of {} in {} of a {}: {:.0f}%, {}{}\n", bytes_text(grids_bytes),
                        bytes_text(memory.bytes), memory.where, 100 * share, counted(memory.sharing, "rank"),
                        on_node ? fmt::format("; {}'s {}", part, bytes_text(memory.machine_bytes)) : "");
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
    // The smallest that takes a quarter of the memory; under a limit of the process none that exceeds it.
    Size size_for(const SharedMemory& memory) const {
        const SharedMemory part{share_of_memory * memory.bytes, memory.sharing, memory.where};
        const auto fits = [&](const Size& size, const SharedMemory& in) {
            return prepared(deck_of(size))->exceeds(in).empty();
        };
        Size size;
        while (!quick_ && fits(size, part) && (!memory.process.given() || fits(size.next(), memory)))
            size = size.next();
        return size;
    }

    Findings solved(const RunContext& context, const RunFacts& machine, const Grid& grid, const Case& problem,
                    KeptRecords& kept) const {
        const auto& [size, spacing] = grid;
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
        found.rules = rules_number;
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
        add(std::string_view(build_info::version).find('+') != std::string_view::npos,
            fmt::format("Keel {} is no release", build_info::version));
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
        for (const auto& [key, what] : freedoms())
            if (what == fixed_by_rules)
                uses.uses.push_back({std::string(key), {}, uses.otherwise});
            else if (key.starts_with("problem.") || key.starts_with("run."))
                uses.uses.push_back({std::string(key)});
        return uses;
    }
    std::vector<NamedSolver> solvers(const Deck& deck) const override { return solve_->solvers(deck); }
    void check(Rules& rules, int ranks) const override {
        solve_->check(rules, ranks);
        const OutputOptions& output = rules.parameters().output;
        rules.allow(output.json.empty() || !is_same_file(output.result, output.json),
                    {"output.result", "output.json"}, "is output.json, too; choose another");
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
