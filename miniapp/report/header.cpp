#include "miniapp/report/header.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "build_info.hpp"
#include "miniapp/deck/text/text.hpp"
#include "miniapp/report/facts.hpp"
#include "miniapp/report/tables/level_tables.hpp"

namespace keel {
namespace {

constexpr std::size_t label_width = 10;

std::string rate_text(double bytes_per_second) {
    return fmt::format("{:.1f} GB/s", bytes_per_second * 1e-9);
}

// "ranks     2, Open MPI v4.1.4", in as many lines as it needs.
std::string line(const char* label, const std::string& text) {
    return wrapped(fmt::format("{:<{}}{}", label, label_width, text), label_width) + "\n";
}

// The processors of each rank; ranks on the same are named together: "ranks 0-7 on cpus 0-1". Only the first
// places are printed; all are in the records.
std::string bindings_text(const RunFacts& facts) {
    constexpr int most_places = 8;
    std::string text;
    int places = 0;
    std::size_t first = 0;
    const auto place = [&](std::size_t rank) {
        const std::string& device = facts.devices[rank];
        return (device.empty() ? "" : "device " + device + ", ") + "cpus " + facts.bindings[rank];
    };
    while (first < facts.bindings.size() && places < most_places) {
        std::size_t last = first;
        while (last + 1 < facts.bindings.size() && place(last + 1) == place(first)) ++last;
        const std::string ranks =
            first == last ? fmt::format("rank {}", first) : fmt::format("ranks {}-{}", first, last);
        text += fmt::format("{}{} on {}", text.empty() ? "" : "; ", ranks, place(first));
        first = last + 1;
        ++places;
    }
    if (first < facts.bindings.size()) text += fmt::format("; {} more ranks", facts.bindings.size() - first);
    return text;
}

// The line that programs read (packaging/), or the reason why there is none.
std::string merit_text(const FigureOfMerit& merit) {
    if (!merit.earned())
        return "No figure of merit: a solve gained no digits (f = 0, or a first guess within the "
               "tolerance)\n";
    std::string text = fmt::format("FOM    {:<24} {:.6e}  {}", merit.name, merit.value, merit.unit);
    if (merit.work)
        text += fmt::format("  tolerance {}  digits {:.1f}",
                            merit.work->tolerance ? fmt::format("{:g}", *merit.work->tolerance) : "none",
                            *merit.work->digits);
    return text + "\n";
}

// The grids, if there are any.
std::string grids_text(const RunFacts& facts) {
    if (facts.levels.empty()) return "";
    const LevelShape& finest = facts.levels.front();
    const auto last = finest.boxes.begin() + static_cast<std::ptrdiff_t>(facts.dimensions);
    const std::string boxes =
        facts.domain->whole ? fmt::format("{} cells, {} boxes", cells_text(facts.cells(0), facts.dimensions),
                                          fmt::join(finest.boxes.begin(), last, "x"))
                            : domain_text(*facts.domain, finest.boxes) + "; boxes";
    return line("progress", fmt::format("asynchronous: {}; driven between operations of the bottom solver",
                                        facts.asynchronous_progress)) +
           line("domain", fmt::format("{} of {}^{}, {}", boxes, finest.width, facts.dimensions,
                                      counted(static_cast<long>(facts.levels.size()), "level"))) +
           agglomeration_text(facts.levels, facts.dimensions);
}

// The origin of simulated seconds.
std::string simulation_text(const Simulation& simulation) {
    const Compute& c = simulation.compute;
    std::string modelled = fmt::format("{} a rank", rate_text(c.rate));
    if (c.cache)
        modelled += fmt::format(" ({} up to {})", rate_text(c.cache->rate), bytes_text(c.cache->bytes));
    if (c.flop_rate) modelled += fmt::format(", {:.1f} GFlop/s", *c.flop_rate * 1e-9);
    return fmt::format(
        "simulated by SimGrid: messages on platform {}; operations by machine {}: {}, no less than {} each; "
        "not modelled: {}. Not measured, for they mean nothing here: triad, memory, bindings",
        simulation.platform, simulation.machine, modelled, seconds_text(c.launch), not_modelled);
}

std::string memory_text(const RunFacts& facts) {
    if (facts.predicted_bytes == 0) return "";
    return line("memory",
                fmt::format("{} a rank predicted; {} alone need {}", bytes_text(facts.predicted_bytes),
                            facts.least_memory, bytes_text(facts.array_bytes)));
}

}  // namespace

Check all_converged(long converged, long solves) {
    return {"solves_converged", converged == solves, static_cast<double>(converged),
            fmt::format("all of {}", solves)};
}

Check basis_orthogonality(double lost) {
    return {"basis_orthogonality", lost < 1, lost, "< 1, of |I - V^T V|"};
}

Index RunFacts::cells(std::size_t level) const {
    if (levels.empty()) return {};
    return in_each_direction(levels[level].width, dimensions, 1) * levels[level].boxes;
}

bool Findings::measured_any() const {
    return std::ranges::any_of(tallies, [](const Tally& tally) { return tally.done > 0; });
}

bool Findings::valid() const {
    return !interrupted() && trouble.empty() && measured_any() && !checks.empty() &&
           std::ranges::all_of(checks, &Check::passed);
}

std::string domain_text(const DomainFacts& domain, const Index& around) {
    const BoxFaces& faces = domain.faces;
    return fmt::format(
        "{}: {} cells in {} of {}x{}x{} boxes, {}; faces of cells: {} interior, {} outer, {} towards "
        "missing boxes; {} Dirichlet, {} Neumann",
        domain.shape, domain.cells, domain.boxes, around[0], around[1], around[2],
        counted(domain.components, "part"), faces.interior, faces.outer, faces.missing, faces.dirichlet,
        faces.neumann);
}

std::string machine_text(const RunFacts& facts) {
    return text_of(*facts.hardware) +
           (facts.other_nodes > 0
                ? fmt::format("; {} of {} differ", facts.other_nodes, counted(facts.topology.nodes(), "node"))
                : "");
}

std::string header_text(const DeckFacts& deck, const RunFacts& facts) {
    std::string text = fmt::format("Keel {} ({}), {} {} for {}, {}\n", build_info::version,
                                   build_info::revision, build_info::compiler, build_info::build_type,
                                   build_info::architecture, build_info::flags);
    if (facts.simulation) text += line("times", simulation_text(*facts.simulation));
    if (facts.hardware) text += line("machine", machine_text(facts));
    text += line("backend", facts.backend);
    text += line("ranks", fmt::format("{}, {}; {}", facts.ranks, facts.mpi, facts.topology.describe()));
    if (const std::string map = facts.topology.map(); !map.empty()) text += line("nodes", map);
    if (!facts.bindings.empty()) text += line("binding", bindings_text(facts));
    text += grids_text(facts) + memory_text(facts);
    if (!facts.device_messages.empty() && facts.triad_bytes_per_second > 0)
        text += line("messages", facts.device_messages);
    if (facts.triad_bytes_per_second > 0)
        text += line("triad", fmt::format("{}, all ranks together{}", rate_text(facts.triad_bytes_per_second),
                                          facts.simulation ? ", by the machine's file" : ""));
    text += line("deck", deck.non_default.empty() ? "all defaults"
                                                  : fmt::format("{}", fmt::join(deck.non_default, "; ")));
    for (const std::string& remark : deck.remarks) text += line("remark", remark);
    for (const std::string& warning : facts.warnings) text += line("warning", warning);
    return text;
}

std::string right_side_text(const RunFacts& facts) {
    std::string text;
    if (facts.removed_mean != 0)
        text += fmt::format(
            "Right-hand side: constants are in the null space, so f has lost its mean, {:.3e} of max|f|; "
            "u has mean 0\n",
            facts.removed_mean);
    if (facts.zero_right_side)
        text += "Right-hand side: f = 0, whose solution is u = 0; residuals are not divided by |f|\n";
    return text.empty() ? text : text + "\n";
}

std::string closing_text(const Findings& findings) {
    std::string text;
    if (findings.facts.measured_bytes > 0)
        text += fmt::format("Memory: {} a rank measured, {} predicted\n",
                            bytes_text(findings.facts.measured_bytes),
                            bytes_text(findings.facts.predicted_bytes));
    for (const Check& check : findings.checks) {
        const bool small = check.value != 0 && std::abs(check.value) < 1e-3;
        text += fmt::format("CHECK  {:<24} {}  {}  (want {})\n", check.name, check.passed ? "PASS" : "FAIL",
                            small ? fmt::format("{:.1e}", check.value) : fmt::format("{:.4g}", check.value),
                            check.want);
    }
    if (findings.merit && findings.valid()) text += merit_text(*findings.merit);
    text += findings.submission;
    if (!findings.interrupted()) {
        if (findings.valid()) return text + "RESULT VALID\n";
        return text + fmt::format("RESULT INVALID{}\n", !findings.trouble.empty()
                                                            ? "  not all could be written"
                                                        : !findings.measured_any() ? "  nothing was measured"
                                                        : findings.checks.empty()  ? "  nothing was checked"
                                                                                   : "");
    }
    std::vector<std::string> done;
    for (const Tally& tally : findings.tallies)
        done.push_back(fmt::format("{} of {}{} {}", tally.done, tally.all, tally.at_least ? " or more" : "",
                                   tally.what));
    const bool late = findings.interruption == Interruption::time_limit;
    return text +
           fmt::format("RESULT INTERRUPTED  {}{}\n", fmt::join(done, ", "), late ? " (run.time_limit)" : "");
}

}  // namespace keel
