#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <utility>

#include "miniapp/modes/mode.hpp"
#include "miniapp/setup/rules/run_rules.hpp"

namespace keel {

// Each at the end of its file.
std::unique_ptr<Mode> make_benchmark_mode(), make_quick_benchmark_mode(), make_solve_mode(),
    make_krylov_mode(), make_survey_mode(), make_network_mode(), make_exchange_mode(), make_spmv_mode(),
    make_fixed_point_mode();

namespace {

std::vector<std::unique_ptr<Mode>> make_modes() {
    std::vector<std::unique_ptr<Mode>> all;
    for (const auto make :
         {make_solve_mode, make_krylov_mode, make_survey_mode, make_network_mode, make_exchange_mode,
          make_spmv_mode, make_fixed_point_mode, make_benchmark_mode, make_quick_benchmark_mode})
        all.push_back(make());
    return all;
}

}  // namespace

const std::vector<std::unique_ptr<Mode>>& modes() {
    static const std::vector<std::unique_ptr<Mode>> all = make_modes();
    return all;
}

const Mode& mode_of(const Deck& deck) {
    for (const auto& mode : modes())
        if (mode->name() == deck.parameters.run.mode) return *mode;
    return *modes().front();
}

Table make_table() {
    Table table;
    std::vector<Word> words;
    for (const auto& mode : modes()) words.push_back({mode->name(), mode->meaning()});
    add_common_keys(table, words);
    for (const auto& mode : modes()) mode->add_keys(table);
    return table;
}

namespace {

// The parameters as each of the solvers has them.
std::vector<Parameters> by_solver(const Deck& deck, const Mode& mode) {
    std::vector<Parameters> all;
    for (const NamedSolver& solver : mode.solvers(deck)) {
        all.push_back(deck.parameters);
        all.back().bottom = solver.options;
    }
    if (all.empty()) all.push_back(deck.parameters);
    return all;
}

// Why each key that was given plays no part; nothing of those that do.
std::map<std::string, std::string> idle_keys(const Deck& deck) {
    const Mode& mode = mode_of(deck);
    const KeyUses uses = mode.keys();
    const std::vector<Parameters> solvers = by_solver(deck, mode);
    std::map<std::string, std::string> idle;
    for (const Key& key : deck.table->keys())
        if (deck.is_set(key.full_name()))
            if (const std::string reason = why_idle(*deck.table, key, uses, solvers); !reason.empty())
                idle[key.full_name()] = reason;
    return idle;
}

// Keys of the command line were meant for this run.
void check_idle(Rules& rules) {
    for (const auto& [key, reason] : idle_keys(rules.deck())) {
        if (rules.deck().origin.at(key) != "command line") continue;
        std::vector<std::string> judged{key, "run.mode", "bottom.preconditioner", "run.survey"};
        for (const Condition& condition : rules.deck().table->find(key)->needs)
            judged.push_back(condition.key);
        rules.require(false, judged, fmt::format("{}: {}", key, reason));
    }
}

}  // namespace

std::vector<std::string> validate(const Deck& deck, const NamedFiles& files, int started, bool of_dry_run) {
    const int virtual_ranks = deck.parameters.problem.ranks;
    Rules rules(deck, of_dry_run);
    check_common(rules, files, started);
    mode_of(deck).check(rules, virtual_ranks > 0 ? virtual_ranks : started);
    check_idle(rules);
    return std::move(rules).errors();
}

std::vector<std::string> validate_run(const Deck& deck, int ranks) {
    Rules rules(deck);
    check_run(rules, ranks);
    mode_of(deck).check_run(rules, ranks);
    return std::move(rules).errors();
}

std::vector<std::string> validate_on(const Deck& deck, const Communicator& comm, bool of_dry_run) {
    Rules rules(deck, of_dry_run);
    mode_of(deck).check_on(rules, comm);
    return std::move(rules).errors();
}

bool is_idle(const Deck& deck, const Key& key) {
    // Written down, its default would be held against the number of boxes.
    if (key.full_name() == "problem.boxes_per_rank" && !deck.is_set(key.full_name()) &&
        (deck.parameters.problem.boxes != Index{} || deck.parameters.problem.shape == DomainShape::list))
        return true;
    const Mode& mode = mode_of(deck);
    return !why_idle(*deck.table, key, mode.keys(), by_solver(deck, mode)).empty();
}

std::vector<std::string> drop_idle_keys(Deck& deck) {
    std::map<std::string, std::vector<std::string>> by_reason;
    for (const auto& [name, reason] : idle_keys(deck)) {
        if (deck.origin.at(name) == "command line") continue;  // refused
        by_reason[reason].push_back(fmt::format("{} ({})", name, deck.origin.at(name)));
        deck.take_back(*deck.table->find(name));
        if (name == "multigrid.reference_path")  // the values that it had set go with it
            for (const char* other : {"problem.storage", "multigrid.ghost_colours"})
                if (!deck.is_set(other)) deck.take_back(*deck.table->find(other));
    }
    std::vector<std::string> remarks;
    for (const auto& [reason, keys] : by_reason)
        remarks.push_back(fmt::format("without effect: {}: {}", fmt::join(keys, ", "), reason));
    return remarks;
}

}  // namespace keel
