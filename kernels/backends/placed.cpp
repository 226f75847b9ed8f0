#include "kernels/backends/placed.hpp"

#include <cstddef>
#include <functional>

#include "kernels/backends/targets.hpp"

namespace keel {
namespace {

// From a cell of a box to a cell of its block. Boxes behind those of the layout lie alone: they hold the
// values of a matrix's ghost columns (sparse.hpp).
void place(std::span<const Window> windows, int& box, Index& cell) {
    if (static_cast<std::size_t>(box) >= windows.size()) return;
    const Window& window = windows[static_cast<std::size_t>(box)];
    box = window.block;
    cell = cell + window.at;
}

}  // namespace

std::vector<BlockCopy> placed(std::span<const Window> windows, std::span<const BlockCopy> copies) {
    std::vector<BlockCopy> result(copies.begin(), copies.end());
    for (BlockCopy& copy : result)
        for (BlockEnd* const end : {&copy.from, &copy.to})
            if (end->in_box()) place(windows, end->box, end->at);
    return result;
}

std::vector<BlockCopy> placed_targets(std::span<const Window> windows, int blocks,
                                      std::span<const BlockCopy> copies) {
    std::vector<BlockCopy> result = placed(windows, copies);
    std::erase_if(result, [](const BlockCopy& c) {
        return c.from.in_box() && c.from.box == c.to.box && c.from.at == c.to.at;
    });
    if (static_cast<std::size_t>(blocks) == windows.size()) return result;  // no two boxes share ghosts
    return without_covered(
        result, [](const BlockCopy& c) { return c.to.box; },
        [](const BlockCopy& c) {
            return Region{c.to.at, c.extent};
        });
}

std::vector<BoundaryItem> placed_targets(std::span<const Window> windows, int blocks,
                                         std::span<const BoundaryItem> items) {
    std::vector<BoundaryItem> result(items.begin(), items.end());
    for (BoundaryItem& item : result) place(windows, item.box, item.cells.lo);
    if (static_cast<std::size_t>(blocks) == windows.size()) return result;
    return without_covered(result, std::mem_fn(&BoundaryItem::box), std::mem_fn(&BoundaryItem::cells));
}

}  // namespace keel
