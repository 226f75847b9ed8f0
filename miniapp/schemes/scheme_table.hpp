#pragma once

// What all communication schemes make of a deck's ghost cells, level by level, or of a matrix' ghost entries: predicted, and
// measured if they were.

#include <optional>
#include <string>
#include <vector>

#include "comm/carry/redistribution.hpp"
#include "comm/costs/comparison.hpp"
#include "miniapp/deck/parameters.hpp"
#include "solvers/multigrid/hierarchy.hpp"

namespace keel {

// What needs the ghosts: the operator, linear interpolation, or several powers of the operator at once; products with a
// sparse matrix, or solves with it where these exchange another number of vectors at a time. Or not ghosts but all cells go
// elsewhere: those of the coarsest level to where it is solved on, and back.
enum class Purpose { stencil, interpolation, powers, product, solve, to_bottom, from_bottom };
const char* name(Purpose purpose);
constexpr bool moves_boxes(Purpose purpose) {
    return purpose == Purpose::to_bottom || purpose == Purpose::from_bottom;
}
constexpr bool of_matrix(Purpose purpose) {
    return purpose == Purpose::product || purpose == Purpose::solve;
}

// A set of ghost cells that a level exchanges as one. A matrix has one level and no depth; its layout is that of the
// calling rank's vectors.
struct GhostUse {
    int level = 0;
    Purpose purpose = Purpose::stencil;
    Layout layout;
    int depth = 1;  // cells
    Neighbours neighbours = Neighbours::faces;
};
// In the order of levels.
std::vector<GhostUse> ghost_uses(const Parameters& parameters, const Layout& finest);
// Fields that travel together at the most, in solves; problem.columns in run.mode = exchange.
std::size_t columns_of(const Parameters& parameters, const GhostUse& use);
// The pattern of a use that moves boxes.
BoxPattern boxes_moved(const Parameters& parameters, const GhostUse& use);
// A rank's part of a grid's plan, or the plan of all ranks.
Plan plan_of(const Parameters& parameters, const GhostUse& use, const Topology& topology,
             const SchemeOptions& scheme, OneRank rank);

// The schemes side by side for one of them.
struct SchemeTable {
    GhostUse use;
    std::size_t columns = 1;  // fields that travel together
    std::vector<SchemeRow> rows;
    // By row the seconds of an exchange in each round, of the slowest rank; empty if none was tried.
    std::vector<std::vector<double>> rounds;
    std::optional<std::size_t> chosen;  // number of a row

    std::optional<double> least(std::size_t row) const;  // of its rounds
};

// comm.machine, if there is one; its file has passed validate().
std::optional<Model> model_of(const Parameters& parameters);

// From plans for all ranks of the topology, made by the calling rank alone: pure.
std::vector<SchemeTable> plan_all_schemes(const Parameters& parameters, const Layout& finest,
                                          const Setup& setup);

// What is known before a run of who will carry the ghosts: the deck's scheme, or the model's; those of comm.scheme = tuned
// and run.mode = exchange are not known. With a model the rows need times.
std::optional<std::size_t> chosen_before_run(const Parameters& parameters, std::span<const SchemeRow> rows);

// What was chosen, as a hierarchy wants it; nothing where nothing was chosen.
std::vector<LevelSchemes> schemes_by_level(const std::vector<SchemeTable>& tables);

// Whether schemes differ or are to be told apart: several nodes, comm.machine, or somebody but the deck who chooses.
bool schemes_matter(const Parameters& parameters, const Topology& topology);

// "deck", "model" or "tuned".
const char* chooser(const Parameters& parameters);

// Who carries the ghosts of each level, who chose that, and the times; `in_run` by level, if exchanges were timed there.
std::string choices_text(const Parameters& parameters, const std::vector<SchemeTable>& tables,
                         const std::vector<std::optional<double>>& in_run);
// Lines of columns.
std::string scheme_tables_text(const std::vector<SchemeTable>& tables);
// One JSON record a row, "record": "scheme".
std::string scheme_json_lines(const Parameters& parameters, const std::vector<SchemeTable>& tables);

}  // namespace keel
