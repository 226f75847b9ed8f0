#include "kernels/layout/storage.hpp"

#include <algorithm>

namespace keel {
namespace {

// The number of blocks in each direction of a cuboid of boxes. The threads of a rank share a block by rows
// (Wavefront): there are as few blocks as leave each thread rows of whole boxes, or one if that cannot be. In
// two dimensions, where a pass goes along with the rows, each thread has a block of its own, if these can be
// dealt out evenly. Rows stay whole.
Index blocks_of_cuboid(const Index& boxes, std::size_t dimensions, int threads) {
    if (dimensions == 2) return {1, boxes[1] % threads == 0 ? threads : 1, 1};
    for (int n = 1; n <= boxes[2]; ++n)
        if (boxes[2] % n == 0 && n * boxes[1] >= threads) return {1, 1, n};
    return {1, 1, 1};
}

}  // namespace

Arrangement arrange(const Layout& layout, Storage storage, int threads) {
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
