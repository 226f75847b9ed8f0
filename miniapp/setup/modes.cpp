#include "miniapp/setup/modes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "solvers/krylov/methods.hpp"
#include "solvers/multigrid/bottom.hpp"
#include "solvers/multigrid/level_krylov.hpp"

namespace keel {
namespace {

bool preconditioned(const Parameters& p) {
    return p.run.mode == Mode::krylov && p.run.preconditioner == MainPreconditioner::v_cycle;
}

// "NAME KEY=VALUE ..." as words for read_deck(), and with single blanks.
std::vector<std::string> overrides_of(const std::string& entry, std::string& name) {
    std::istringstream stream(entry);
    std::vector<std::string> overrides;
    for (std::string word; stream >> word;) {
        name += (name.empty() ? "" : " ") + word;
        overrides.push_back((overrides.empty() ? "bottom.solver=" : "bottom.") + word);
    }
    return overrides;
}

std::string why_idle_in_spmv(const std::string& key, const Parameters& p) {
    const std::string& matrix = p.problem.matrix;
    const auto is_one_of = [](const std::string& word, std::initializer_list<const char*> words) {
        return std::ranges::find(words, word) != words.end();
    };
    if (is_one_of(key, {"problem.box", "problem.boxes", "problem.boxes_per_rank"}))
        return matrix.starts_with("stencil") ? ""
                                             : "only problem.matrix = stencil7 and stencil27 have a grid";
    if (key == "problem.rows")
        return is_one_of(matrix, {"banded", "random", "arrow"})
                   ? ""
                   : "the matrix has rows of its own; leave it out";
    if (key == "problem.row_entries")
        return is_one_of(matrix, {"banded", "random"}) ? "" : "needs problem.matrix = banded or random";
    if (key == "problem.seed")
        return matrix == "random" || p.problem.ordering == Ordering::random
                   ? ""
                   : "needs problem.matrix = random or problem.ordering = random";
    if (key.starts_with("bottom.")) return p.run.solve ? "" : "needs run.solve = true in run.mode = spmv";
    if (is_one_of(key, {"comm.allreduce", "comm.progress"}))
        return p.run.solve ? "" : "a product has no all-reduce; it needs run.solve = true";
    if (is_one_of(key, {"problem.matrix",
                        "problem.ordering",
                        "problem.columns",
                        "problem.ranks",
                        "run.mode",
                        "run.solve",
                        "run.backend",
                        "run.launches",
                        "run.warmup",
                        "run.repeats",
                        "run.verbose",
                        "output.json",
                        "comm.scheme",
                        "comm.partner_rule",
                        "comm.message_cap",
                        "comm.cap_rule",
                        "comm.ranks_per_node",
                        "comm.node_map",
                        "comm.machine",
                        "comm.persistent",
                        "comm.device"}))
        return "";
    return "plays no part in run.mode = spmv; leave it out";
}

}  // namespace

std::string why_idle(const std::string& key, const Parameters& p) {
    const bool krylov = p.run.mode == Mode::krylov;
    if (p.run.mode == Mode::network) {
        constexpr const char* used[] = {"run.mode",      "run.verbose",         "run.backend",
                                        "output.json",   "comm.ranks_per_node", "comm.node_map",
                                        "comm.allreduce"};
        return key.starts_with("network.") || std::ranges::find(used, key) != std::end(used)
                   ? ""
                   : "run.mode = network sends messages only; leave it out";
    }
    if (key.starts_with("network.")) return "needs run.mode = network";
    if (p.run.mode == Mode::spmv) return why_idle_in_spmv(key, p);
    constexpr const char* of_spmv[] = {"problem.matrix", "problem.rows", "problem.row_entries",
                                       "problem.ordering", "run.solve"};
    if (std::ranges::find(of_spmv, key) != std::end(of_spmv)) return "needs run.mode = spmv";
    if (key == "multigrid.bottom_ranks" && p.multigrid.bottom_grid != BottomPlace::agglomerate)
        return "needs multigrid.bottom_grid = agglomerate";
    if (p.run.mode == Mode::exchange) {
        constexpr const char* used[] = {"problem.box",
                                        "problem.boxes_per_rank",
                                        "problem.boxes",
                                        "problem.ranks",
                                        "problem.columns",
                                        "problem.placement",
                                        "problem.boundary",
                                        "multigrid.bottom_box",
                                        "multigrid.bottom_grid",
                                        "multigrid.bottom_ranks",
                                        "multigrid.cycle",
                                        "multigrid.interpolation",
                                        "run.mode",
                                        "run.backend",
                                        "run.launches",
                                        "run.warmup",
                                        "run.repeats",
                                        "run.verbose",
                                        "output.json"};
        if (key == "comm.scheme" || key == "comm.partner_rule" || key == "comm.cap_rule")
            return "run.mode = exchange tries all schemes under all rules; leave it out";
        const bool of_solve = key == "comm.allreduce" || key == "comm.progress" || key == "comm.overlap";
        return (key.starts_with("comm.") && !of_solve) || std::ranges::find(used, key) != std::end(used)
                   ? ""
                   : "run.mode = exchange solves nothing; leave it out";
    }
    if (key == "problem.columns") return "needs run.mode = spmv or exchange";
    if (key == "run.preconditioner" && !krylov) return "only run.mode = krylov has one; leave it out";
    if (key == "run.survey" && p.run.mode != Mode::survey) return "needs run.mode = survey";
    if (key == "bottom.solver" && p.run.mode == Mode::survey)
        return "run.mode = survey takes its solvers from run.survey; leave it out";
    if (!krylov) return "";
    if (key == "multigrid.tolerance") return "run.mode = krylov stops at bottom.tolerance; give that";
    if (key == "multigrid.max_cycles")
        return "run.mode = krylov stops after bottom.max_iterations; give that";
    if (key == "multigrid.cycle") return "a preconditioner is one V-cycle; leave it out";
    if (key.starts_with("multigrid.") && !preconditioned(p))
        return "run.mode = krylov has a multigrid cycle with run.preconditioner = v_cycle only; leave it out";
    return "";
}

int coarsest_box(const Parameters& p) {
    return p.run.mode == Mode::krylov && !preconditioned(p) ? p.problem.box : p.multigrid.bottom_box;
}

BottomPlace bottom_place(const Parameters& p) {
    return p.run.mode == Mode::krylov && !preconditioned(p) ? BottomPlace::distributed
                                                            : p.multigrid.bottom_grid;
}

int fields_of_level(const Parameters& p) {
    return p.run.mode == Mode::exchange ? p.problem.columns : Level::fields;
}

int fields_on_finest(const Parameters& p) {
    return p.run.mode == Mode::krylov ? krylov_fields(p.bottom, preconditioned(p)) : 0;
}

std::vector<BottomOptions> bottom_solvers(const Parameters& p) {
    if (p.run.mode != Mode::survey) return {p.bottom};
    std::vector<BottomOptions> all;
    for (const auto& contestant : p.contestants) all.push_back(contestant.bottom);
    return all;
}

PowersNeed powers_need(const Parameters& p) {
    PowersNeed most;
    for (const BottomOptions& bottom : bottom_solvers(p)) {
        const PowersNeed need = powers_need(bottom, coarsest_box(p));
        most = {std::max(most.layers, need.layers), std::max(most.at_once, need.at_once)};
    }
    return most;
}

int fields_on_coarsest(const Parameters& p) {
    if (p.run.mode == Mode::krylov) return 0;
    if (p.run.mode == Mode::solve) return bottom_fields(p.bottom);
    int fields = 0;
    for (const auto& contestant : p.contestants) fields += bottom_fields(contestant.bottom);
    return fields;
}

void name_contestants(const Table& table, Deck& deck) {
    if (deck.parameters.run.mode != Mode::survey || deck.refused.contains("run.survey")) return;
    std::vector<std::string> entries = deck.parameters.run.survey;
    if (entries.empty()) entries = method_names();
    auto& contestants = deck.parameters.contestants;
    const std::string where = deck.origin.at("run.survey");
    const auto complain = [&](const std::string& entry, const std::string& what) {
        deck.errors.push_back(
            fmt::format("{}: run.survey: {}: {}", where, nlohmann::json(entry).dump(), what));
        deck.refused.insert("run.survey");
    };
    for (const std::string& entry : entries) {
        std::string name;
        const std::vector<std::string> overrides = overrides_of(entry, name);
        if (overrides.empty()) {
            complain(entry, "names no solver; choose " + fmt::format("{}", fmt::join(method_names(), ", ")));
            continue;
        }
        const Deck own = read_deck(table, {}, overrides);
        for (const std::string& error : own.errors) complain(entry, error.substr(error.find(": ") + 2));
        if (std::ranges::any_of(contestants, [&](const auto& other) { return other.name == name; }))
            complain(entry, "given twice; give it once");
        Parameters merged = deck.parameters;
        for (const Key& key : table.keys())
            if (own.origin.at(key.full_name()) != "default")
                std::visit([&](const auto& kind) { kind.value.set(merged, kind.value.get(own.parameters)); },
                           key.kind);
        contestants.push_back({name, merged.bottom});
    }
    const std::string baseline = default_method();
    const auto first = std::ranges::find_if(contestants, [&](const auto& c) { return c.name == baseline; });
    if (first != contestants.end()) {
        std::rotate(contestants.begin(), first, first + 1);
    } else {
        Parameters::Contestant added{baseline, deck.parameters.bottom};
        added.bottom.solver = baseline;
        contestants.insert(contestants.begin(), added);
    }
}

}  // namespace keel
