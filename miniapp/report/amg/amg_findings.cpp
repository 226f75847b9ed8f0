#include "miniapp/report/amg/amg_findings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "miniapp/deck/text/text.hpp"
#include "miniapp/report/records/records.hpp"
#include "miniapp/report/tables/table.hpp"
#include "solvers/amg/coarsest/krylov.hpp"
#include "solvers/krylov/methods.hpp"

namespace keel {
namespace {

std::string level_name(std::size_t level) {
    return fmt::format("level {}", level);
}

// All ranks' messages by operation and level, those between nodes in brackets, and below them the bytes.
std::string level_traffic(const AmgFindings& amg) {
    ReportTable table("");
    const char* const key = "messages (off node), bytes";
    for (std::size_t n = 0; n < amg.levels.front().operations.size(); ++n) {
        Row messages{{"", amg.levels.front().operations[n].meaning, key}};
        Row bytes{{"", "", key}};
        for (std::size_t l = 0; l < amg.levels.size(); ++l) {
            const Volume& all = amg.levels[l].operations[n].traffic.all;
            const auto both = [&](double every, double off_node) {
                return all.messages > 0 ? fmt::format("{:.0f} ({:.0f})", every, off_node) : "";
            };
            messages.emplace_back("", Json(), level_name(l), both(all.messages, all.off_node_messages));
            bytes.emplace_back("", Json(), level_name(l), both(all.bytes, all.off_node_bytes));
        }
        table.add(messages);
        table.add(bytes);
    }
    return table.print();
}

// Messages of a level that have a scheme of their own.
struct MessagesOfLevel {
    const char* field;    // in records
    const char* meaning;  // in tables
    SchemeOptions AmgLevelFacts::*by;
    bool on_coarsest = false;
    bool in_cycles = true;  // false: in set-up alone, by isend

    // "three_step by shared"
    std::string scheme(const AmgLevelFacts& facts) const {
        const SchemeOptions& scheme = facts.*by;
        const bool anew = !in_cycles || scheme.carrier == Carrier::isend;
        return name(scheme) + (anew ? std::string() : std::string(" by ") + name(scheme.carrier));
    }
};
constexpr std::array all_messages{
    MessagesOfLevel{"values_by", "A x, values of ghosts", &AmgLevelFacts::values_by, true},
    MessagesOfLevel{"rows_by", "rows of P for A P", &AmgLevelFacts::rows_by, false, false},
    MessagesOfLevel{"partial_rows_by", "rows of P^T (A P)", &AmgLevelFacts::partial_rows_by, false, false},
    MessagesOfLevel{"transfers_by", "P e, P^T r", &AmgLevelFacts::transfers_by}};

// The schemes by level, unless one scheme carries all.
std::string level_schemes(const AmgFindings& amg) {
    ReportTable table("");
    bool several = false;
    const SchemeOptions& one = amg.levels.front().facts.values_by;
    for (const MessagesOfLevel& messages : all_messages) {
        Row row{{"", messages.meaning, "scheme"}};
        for (std::size_t l = 0; l + (messages.on_coarsest ? 0 : 1) < amg.levels.size(); ++l) {
            const AmgLevelFacts& facts = amg.levels[l].facts;
            const SchemeOptions& scheme = facts.*messages.by;
            several = several || name(scheme) != name(one) || scheme.carrier != one.carrier;
            row.emplace_back("", messages.scheme(facts), level_name(l));
        }
        table.add(row);
    }
    return several ? table.print() : "";
}

// A level as a row of the report and among the "levels" of the record.
Row level_row(std::size_t level, const AmgLevelFacts& facts) {
    const bool coarsens = facts.entries_of_P > 0;
    const auto if_coarsens = [&](const std::string& text) { return coarsens ? text : "-"; };
    return {{"", level, "level"},
            {"rows", facts.rows, "rows"},
            {"nonzeros", facts.entries, "entries", Unit::count},
            {"", Json(), "entries\na row",
             fmt::format("{:.1f}", facts.entries / static_cast<double>(facts.rows))},
            {"most_nonzeros", facts.most_entries, "most\nof a rank", Unit::count},
            {"ranks_with_rows", facts.ranks_with_rows, "ranks"},
            {"nonzeros_of_p", facts.entries_of_P, "entries\nof P",
             if_coarsens(fmt::format("{:.0f}", facts.entries_of_P))},
            {"bound", facts.bound, "bound", facts.bound > 0 ? fmt::format("{:.3f}", facts.bound) : "-"},
            {"rounds", facts.rounds, "rounds", if_coarsens(fmt::format("{}", facts.rounds))}};
}

// By CoarseningRule.
constexpr std::array method_texts{"smoothed aggregation (MIS-2)",
                                  "smoothed aggregation (MIS-2) by strength of rows",
                                  "smoothed aggregation (MIS-2), by two sweeps",
                                  "smoothed aggregation (MIS-2) of constants",
                                  "classical, PMIS (extended+i)",
                                  "classical, HMIS (extended+i)"};
static_assert(method_texts.size() == names_of(CoarseningRule()).size());

}  // namespace

std::string remedy(AmgOutcome outcome) {
    switch (outcome) {
        case AmgOutcome::too_large:
            return "; give amg.coarsest = \"krylov\", a larger amg.max_dense or another amg.theta";
        case AmgOutcome::singular:
            return "; give amg.coarsest = \"krylov\"";
        default:
            return outcome == AmgOutcome::ready ? "" : "; solve without algebraic multigrid";
    }
}

std::string cures_of_cycles(const AmgOptions& options, const BottomOptions& solver) {
    std::vector<std::string> cures;
    if (options.smoother == AmgSmoother::jacobi) cures.emplace_back("amg.smoothing = \"gauss_seidel\"");
    if (method_named(solver.solver).repeats_cycles())
        cures.emplace_back("bottom.preconditioner = \"amg\" of bottom.solver = \"cg\"");
    if (options.aggregates()) cures.emplace_back("amg.coarsening = \"pmis\"");
    if (cures.empty()) return "";
    return fmt::format("not converged with algebraic multigrid: try {}\n", fmt::join(cures, ", or "));
}

std::string level_times(const std::string& title, const std::vector<TimerRow>& rows) {
    ReportTable table(title);
    for (const TimerRow& row : rows)
        table.add({{"op", row.op, "operation"},
                   {"level", level_name(static_cast<std::size_t>(row.level))},
                   {"t_max", row.t_max, "time", Unit::seconds}});
    return table.pivot("op", "level", "t_max").print();
}

std::string level_sizes(const std::vector<AmgLevelFacts>& levels) {
    ReportTable table("");
    for (std::size_t l = 0; l < levels.size(); ++l) table.add(level_row(l, levels[l]));
    return table.print();
}

void count_visits(AmgFindings& amg, const Communicator& comm, const CoarsestVisits& visits, int solves) {
    const auto a_solve = [&](long number) { return comm.max(static_cast<double>(number)) / solves; };
    amg.coarsest.visits = a_solve(visits.visits);
    amg.coarsest.iterations = a_solve(visits.iterations);
    amg.coarsest.missed = a_solve(visits.missed);
}

TrafficOverRanks over_ranks(const Communicator& comm, const Traffic& mine) {
    const Volume sent = volume_of(mine);
    TrafficOverRanks both;
    for (double Volume::*const number : volume_members) {
        both.busiest.*number = comm.max(sent.*number);
        both.all.*number = comm.sum(sent.*number);
    }
    return both;
}

AmgFindings findings_of(const Communicator& comm, const AmgHierarchy& hierarchy) {
    AmgFindings amg{.options = hierarchy.options(),
                    .outcome = hierarchy.outcome(),
                    .missing = hierarchy.missing(),
                    .stalled = hierarchy.stalled(),
                    .operator_complexity = hierarchy.operator_complexity(),
                    .grid_complexity = hierarchy.grid_complexity(),
                    .near_null_vectors = hierarchy.near_null_vectors()};
    amg.coarsest = coarsest_of(amg.options, hierarchy.level_at(hierarchy.levels() - 1).A->partition());
    for (const AmgLevelFacts& facts : hierarchy.facts()) {
        const CoarseningTraffic& setup = facts.setup;
        amg.levels.push_back(
            {facts,
             {{"product", "A x", over_ranks(comm, facts.product)},
              {"interpolate", "P e", over_ranks(comm, facts.interpolate)},
              {"restrict", "P^T r", over_ranks(comm, facts.restrict_)},
              {"setup_values", "set-up: values of ghosts", over_ranks(comm, setup.values)},
              {"setup_smoothing", "set-up: rows to make P", over_ranks(comm, setup.smoothing)},
              {"setup_rows", "set-up: rows of P for A P", over_ranks(comm, setup.rows)},
              {"setup_partial_rows", "set-up: rows of P^T (A P)", over_ranks(comm, setup.partial_rows)},
              {"setup_moved", "set-up: rows moved", over_ranks(comm, setup.moved)}}});
    }
    return amg;
}

CoarsestFindings coarsest_of(const AmgOptions& options, const RowPartition& partition) {
    CoarsestFindings found{.by = coarsest_rule(options, partition.rows), .rows = partition.rows};
    double of_first = 0;  // rows of the first rank that has some
    for (int rank = partition.ranks - 1; rank >= 0; --rank) {
        if (partition.size(rank) == 0) continue;
        ++found.ranks;
        of_first = static_cast<double>(partition.size(rank));
    }
    if (found.by == CoarsestRule::krylov) return found;
    const auto rows = static_cast<double>(partition.rows);
    found.most_bytes = rows * rows * sizeof(double);
    if (found.ranks < 2) return found;
    const bool on_one = found.by == CoarsestRule::gathered;
    found.calls = on_one ? 2 : 1;
    found.most_words = on_one ? rows + of_first : rows;
    found.all_words = on_one ? 2 * rows : rows * found.ranks;
    return found;
}

std::string coarsest_text(const CoarsestFindings& coarsest) {
    std::string text =
        fmt::format("coarsest level, {} rows on {}: ", coarsest.rows, counted(coarsest.ranks, "rank"));
    if (coarsest.by == CoarsestRule::krylov) {
        text += fmt::format("by cg to {:g} in at most {}", coarsest_tolerance,
                            counted(coarsest_iterations, "iteration"));
        if (coarsest.visits > 0)
            text += fmt::format("; a solve: {:.6g} visits, {:.6g} iterations, {:.6g} visits above it",
                                coarsest.visits, coarsest.iterations, coarsest.missed);
        return text + "\n";
    }
    text += coarsest.by == CoarsestRule::gathered ? "factorised on the first" : "factorised on each";
    text += fmt::format(", {} of factors", bytes_text(coarsest.most_bytes));
    if (coarsest.calls > 0)
        text += fmt::format("; a visit: {}, {:.0f} values received by the rank with most, {:.0f} by all",
                            coarsest.calls == 1 ? "an all-gather" : "a gather and a scatter",
                            coarsest.most_words, coarsest.all_words);
    return text + "\n";
}

Json coarsest_json(const CoarsestFindings& coarsest) {
    return {{"by", name(coarsest.by)},
            {"solver", coarsest.by == CoarsestRule::krylov ? Json("cg") : Json()},
            {"collectives", coarsest.calls},
            {"words", {{"most", coarsest.most_words}, {"all", coarsest.all_words}}},
            {"bytes", coarsest.most_bytes},
            {"visits", coarsest.visits},
            {"iterations", coarsest.iterations},
            {"missed", coarsest.missed}};
}

std::string amg_text(const AmgFindings& amg) {
    const std::string vectors =
        amg.near_null_vectors > 1 ? fmt::format(", {} near-null vectors", amg.near_null_vectors) : "";
    std::string text = fmt::format(
        "Algebraic multigrid: {}, {}, operator complexity {:.3f}, grid complexity {:.3f}, set up in {}{}\n",
        method_texts[static_cast<std::size_t>(amg.options.coarsening)] + vectors,
        counted(static_cast<long>(amg.levels.size()), "level"), amg.operator_complexity, amg.grid_complexity,
        seconds_text(amg.setup_seconds), amg.stalled ? "; coarsening stalled" : "");
    if (!amg.missing.empty())
        text += fmt::format("no cycle ({}): for want of {}{}\n", name(amg.outcome), amg.missing,
                            remedy(amg.outcome));
    std::vector<AmgLevelFacts> facts;
    for (const AmgLevelFindings& level : amg.levels) facts.push_back(level.facts);
    text += level_sizes(facts);
    if (amg.missing.empty()) text += coarsest_text(amg.coarsest);
    text += level_traffic(amg) + level_schemes(amg);
    text += level_times("Time of set-up, the slowest rank", amg.setup);
    if (!amg.solves.empty()) text += level_times("Time of a solve, the slowest rank", amg.solves);
    return text;
}

std::string amg_records(const AmgFindings& amg, const std::string& solver, const std::string& of_setup,
                        const std::string& of_solves) {
    ReportTable levels("");
    for (std::size_t l = 0; l < amg.levels.size(); ++l) {
        const AmgLevelFindings& level = amg.levels[l];
        const bool last = l + 1 == amg.levels.size();
        Row row = level_row(l, level.facts);
        for (const MessagesOfLevel& messages : all_messages)
            row.emplace_back(messages.field,
                             last && !messages.on_coarsest ? Json() : Json(messages.scheme(level.facts)));
        for (const AmgOperation& operation : level.operations)
            row.emplace_back(operation.word, Json{{"busiest", volume_json(operation.traffic.busiest)},
                                                  {"all", volume_json(operation.traffic.all)}});
        levels.add(row);
    }
    return line_of({{"record", "amg"},
                    {"solver", solver},
                    {"outcome", name(amg.outcome)},
                    {"missing", amg.missing},
                    {"stalled", amg.stalled},
                    {"operator_complexity", amg.operator_complexity},
                    {"grid_complexity", amg.grid_complexity},
                    {"setup_seconds", amg.setup_seconds},
                    {"coarsest", coarsest_json(amg.coarsest)},
                    {"levels", levels.rows()}}) +
           timer_records(amg.setup, of_setup) + timer_records(amg.solves, of_solves);
}

}  // namespace keel
