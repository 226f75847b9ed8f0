#include "kernels/backends/placed.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>

#include "kernels/check.hpp"

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

// --- Regions of boxes that are written into. Boxes of a block have ghosts in common, so several of them may
// ask for one cell, and each would get the same value. Threads must not write it at once, so only the largest
// region that has it is written. As blocks are cuboids, and ghosts no more than a box is wide, two regions
// are one in the other or apart.

constexpr bool contains(const Region& whole, const Region& part) {
    for (std::size_t d = 0; d < 3; ++d)
        if (part.lo[d] < whole.lo[d] || part.lo[d] + part.size[d] > whole.lo[d] + whole.size[d]) return false;
    return true;
}
constexpr bool apart(const Region& a, const Region& b) {
    for (std::size_t d = 0; d < 3; ++d)
        if (a.lo[d] + a.size[d] <= b.lo[d] || b.lo[d] + b.size[d] <= a.lo[d]) return true;
    return false;
}

// `items` without those whose target lies in another's, of equal ones the first, in their order. block(item)
// and target(item) say where an item writes; below block 0 it is a buffer.
template <class T, class Block, class Target>
std::vector<T> without_covered(const std::vector<T>& items, const Block& block, const Target& target) {
    std::vector<std::size_t> by_size(items.size());
    for (std::size_t n = 0; n < items.size(); ++n) by_size[n] = n;
    std::ranges::stable_sort(by_size, std::ranges::greater{},
                             [&](std::size_t n) { return target(items[n]).cells(); });
    std::map<int, std::vector<Region>> written;  // by block
    std::vector<bool> kept(items.size());
    for (const std::size_t n : by_size) {
        kept[n] = block(items[n]) < 0;
        if (kept[n]) continue;
        std::vector<Region>& regions = written[block(items[n])];
        const Region region = target(items[n]);
        kept[n] = std::ranges::none_of(regions, [&](const Region& other) { return contains(other, region); });
        if (!kept[n]) continue;
        check(std::ranges::all_of(regions, [&](const Region& other) { return apart(other, region); }),
              "no two threads write one ghost cell");
        regions.push_back(region);
    }
    std::vector<T> left;
    for (std::size_t n = 0; n < items.size(); ++n)
        if (kept[n]) left.push_back(items[n]);
    return left;
}

}  // namespace

std::vector<BlockCopy> placed(std::span<const Window> windows, int blocks,
                              std::span<const BlockCopy> copies) {
    std::vector<BlockCopy> result(copies.begin(), copies.end());
    for (BlockCopy& copy : result)
        for (BlockEnd* const end : {&copy.from, &copy.to})
            if (end->in_box()) place(windows, end->box, end->at);
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

std::vector<BoundaryItem> placed(std::span<const Window> windows, int blocks,
                                 std::span<const BoundaryItem> items) {
    std::vector<BoundaryItem> result(items.begin(), items.end());
    for (BoundaryItem& item : result) place(windows, item.box, item.cells.lo);
    if (static_cast<std::size_t>(blocks) == windows.size()) return result;
    return without_covered(result, std::mem_fn(&BoundaryItem::box), std::mem_fn(&BoundaryItem::cells));
}

}  // namespace keel
