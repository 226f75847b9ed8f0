#include "miniapp/modes/grids/grid_modes.hpp"
#include "miniapp/modes/mode.hpp"
#include "miniapp/modes/network/network.hpp"
#include "miniapp/modes/spmv/spmv.hpp"

namespace keel {
namespace {

std::vector<std::unique_ptr<Mode>> make_modes() {
    std::vector<std::unique_ptr<Mode>> all;
    all.push_back(make_solve_mode());
    all.push_back(make_krylov_mode());
    all.push_back(make_survey_mode());
    all.push_back(make_full_multigrid_mode());
    all.push_back(make_network_mode());
    all.push_back(make_exchange_mode());
    all.push_back(make_spmv_mode());
    all.push_back(make_fixed_point_mode());
    all.push_back(make_orthogonalise_mode());
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
    std::vector<ModeWord> words;
    for (const auto& mode : modes()) words.push_back({mode->name(), mode->meaning()});
    add_common_keys(table, words);
    for (const auto& mode : modes()) mode->add_keys(table);
    return table;
}

}  // namespace keel
