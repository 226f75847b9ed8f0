#pragma once

// How a rank's boxes lie in memory: each alone with ghosts of its own, or side by side in blocks. In a block the ghosts that
// a box has towards another one are that one's cells: nothing is copied between them, nothing done twice, rows are longer.

#include <algorithm>
#include <vector>

#include "kernels/layout/box.hpp"
#include "kernels/layout/layout.hpp"
#include "kernels/names.hpp"

namespace keel {

enum class Storage { boxes, blocks };
constexpr auto names_of(Storage) {
    return std::array{Named<Storage>{Storage::boxes, "boxes"}, Named<Storage>{Storage::blocks, "blocks"}};
}

// Where a box begins: in which block, at which of its cells.
struct Window {
    int block = 0;
    Index at{};
};

struct Arrangement {
    Index extent{};                  // cells of every block
    std::vector<Window> windows;     // of the local boxes
    std::vector<Index> first_cells;  // of the blocks, by their global index

    int blocks() const { return static_cast<int>(first_cells.size()); }
};

// How many blocks a cuboid of so many boxes is in each direction. The threads of a rank share a block by rows (Wavefront), so
// that there are as few blocks as leave each thread rows of whole boxes, one if that cannot be. In two dimensions, where a pass goes
// along with the rows, each thread has a block of its own, if these can be dealt out evenly. Rows stay whole.
inline Index blocks_of_cuboid(const Index& boxes, std::size_t dimensions, int threads) {
    if (dimensions == 2) return {1, boxes[1] % threads == 0 ? threads : 1, 1};
    for (int n = 1; n <= boxes[2]; ++n)
        if (boxes[2] % n == 0 && n * boxes[1] >= threads) return {1, 1, n};
    return {1, 1, 1};
}

// With Storage::blocks the boxes of a rank that fill a cuboid are blocks, as many as its threads want. Boxes that fill none stay
// alone.
inline Arrangement arrange(const Layout& layout, Storage storage, int threads) {
    Arrangement alone{layout.extent(), {}, {}};
    Index low = layout.boxes();
    Index high{};
    for (const int box : layout.local()) {
        alone.windows.push_back({alone.blocks(), {}});
        alone.first_cells.push_back(layout.first_cell(box));
        const Index at = layout.position(box);
        for (std::size_t d = 0; d < 3; ++d) {
            low[d] = std::min(low[d], at[d]);
            high[d] = std::max(high[d], at[d] + 1);
        }
    }
    if (storage == Storage::boxes || layout.local().empty()) return alone;
    const Index boxes = high + -low;
    if (product(boxes) != layout.local().size()) return alone;

    const Index parts = blocks_of_cuboid(boxes, layout.dimensions(), threads);
    const Index in_block{boxes[0], boxes[1] / parts[1], boxes[2] / parts[2]};
    Arrangement together{layout.extent() * in_block, {}, {}};
    for (const int box : layout.local()) {
        const Index from_low = layout.position(box) + -low;
        Index within{};
        int block = 0;
        for (std::size_t d = 3; d-- > 0;) {
            block = block * parts[d] + from_low[d] / in_block[d];
            within[d] = from_low[d] % in_block[d];
        }
        together.windows.push_back({block, layout.width() * within});
        if (within == Index{}) together.first_cells.push_back(layout.first_cell(box));
    }
    return together;
}

}  // namespace keel
