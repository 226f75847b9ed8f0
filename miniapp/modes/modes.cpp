#include "miniapp/modes/mode.hpp"

namespace keel {

// Each at the end of its file.
std::unique_ptr<Mode> make_solve_mode(), make_krylov_mode(), make_survey_mode(), make_full_multigrid_mode(),
    make_network_mode(), make_exchange_mode(), make_spmv_mode(), make_fixed_point_mode(),
    make_orthogonalise_mode();

namespace {

std::vector<std::unique_ptr<Mode>> make_modes() {
    std::vector<std::unique_ptr<Mode>> all;
    for (const auto make :
         {make_solve_mode, make_krylov_mode, make_survey_mode, make_full_multigrid_mode, make_network_mode,
          make_exchange_mode, make_spmv_mode, make_fixed_point_mode, make_orthogonalise_mode})
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

}  // namespace keel
