#pragma once

// How a rank's boxes lie in memory: each alone with ghosts of its own, or side by side in blocks. In a block
// the ghosts of a box towards another box are cells of that box: no value is copied or computed twice, and
// rows are longer.

#include <vector>

#include "kernels/layout/box.hpp"
#include "kernels/layout/layout.hpp"
#include "kernels/names.hpp"

namespace keel {

enum class Storage { boxes, blocks };
constexpr auto names_of(Storage) {
    return std::array{"boxes", "blocks"};
}

// The place of a box: a block, and the cell of it where the box begins.
struct Window {
    int block = 0;
    Index at{};
};

struct Arrangement {
    Index extent{};                  // cells of every block
    std::vector<Window> windows;     // one for each local box
    std::vector<Index> first_cells;  // one for each block, by its global index

    int blocks() const { return static_cast<int>(first_cells.size()); }
};

// With Storage::blocks the boxes of a rank become blocks if they fill a cuboid, in a number that suits its
// threads; else they stay alone.
Arrangement arrange(const Layout& layout, Storage storage, int threads);

}  // namespace keel
