#include "miniapp/studies/grids/grid_studies.hpp"
#include "miniapp/studies/network/network.hpp"
#include "miniapp/studies/spmv/spmv.hpp"
#include "miniapp/studies/study.hpp"

namespace keel {
namespace {

std::vector<std::unique_ptr<Study>> make_studies() {
    std::vector<std::unique_ptr<Study>> all;
    all.push_back(make_solve_study());
    all.push_back(make_krylov_study());
    all.push_back(make_survey_study());
    all.push_back(make_full_multigrid_study());
    all.push_back(make_network_study());
    all.push_back(make_exchange_study());
    all.push_back(make_spmv_study());
    all.push_back(make_fixed_point_study());
    all.push_back(make_orthogonalise_study());
    return all;
}

}  // namespace

const std::vector<std::unique_ptr<Study>>& studies() {
    static const std::vector<std::unique_ptr<Study>> all = make_studies();
    return all;
}

const Study& study_of(const Deck& deck) {
    for (const auto& study : studies())
        if (study->name() == deck.parameters.run.mode) return *study;
    return *studies().front();
}

Table make_table() {
    Table table;
    std::vector<ModeWord> modes;
    for (const auto& study : studies()) modes.push_back({study->name(), study->meaning()});
    add_common_keys(table, modes);
    for (const auto& study : studies()) study->add_keys(table);
    return table;
}

}  // namespace keel
