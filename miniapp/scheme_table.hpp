#pragma once

// What all communication schemes make of a deck's ghost cells, level by level: predicted, and measured if they were.

#include <optional>
#include <string>
#include <vector>

#include "comm/comparison.hpp"
#include "miniapp/parameters.hpp"

namespace keel {

// What needs the ghosts: the operator, linear interpolation, or several powers of the operator at once.
enum class Purpose { stencil, interpolation, powers };
const char* name(Purpose purpose);

// A set of ghost cells that a level exchanges as one.
struct GhostUse {
    int level = 0;
    Purpose purpose = Purpose::stencil;
    Layout layout;
    int depth = 1;  // cells
    Neighbours neighbours = Neighbours::faces;
};
// In the order of levels.
std::vector<GhostUse> ghost_uses(const Parameters& parameters, const Layout& finest);

// The schemes side by side for one of them.
struct SchemeTable {
    GhostUse use;
    std::size_t columns = 1;  // fields that travel together
    std::vector<SchemeRow> rows;
};

// comm.machine, if there is one; its file has passed validate().
std::optional<Model> model_of(const Parameters& parameters);

// From plans for all ranks of the topology, made by the calling rank alone: pure.
std::vector<SchemeTable> plan_all_schemes(const Parameters& parameters, const Layout& finest,
                                          const Setup& setup);

// Lines of columns.
std::string scheme_tables_text(const std::vector<SchemeTable>& tables);
// One JSON record a row, "record": "scheme".
std::string scheme_json_lines(const std::vector<SchemeTable>& tables);

}  // namespace keel
