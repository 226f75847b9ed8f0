#pragma once

// Regions that are written into. Boxes of a block have ghosts in common, so several of them may ask for one
// cell, and each would get the same value. Threads must not write it at once, so only the largest region that
// has it is written. As blocks are cuboids, and ghosts no more than a box is wide, two regions are one in the
// other or apart.

#include <algorithm>
#include <cstddef>
#include <map>
#include <vector>

#include "kernels/check.hpp"
#include "kernels/layout/box.hpp"

namespace keel {

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
// and target(item) say where an item writes.
template <class T, class Block, class Target>
std::vector<T> without_covered(const std::vector<T>& items, const Block& block, const Target& target) {
    std::vector<std::size_t> by_size(items.size());
    for (std::size_t n = 0; n < items.size(); ++n) by_size[n] = n;
    std::ranges::stable_sort(by_size, std::ranges::greater{},
                             [&](std::size_t n) { return target(items[n]).cells(); });
    std::map<int, std::vector<Region>> written;  // by block
    std::vector<bool> kept(items.size());
    for (const std::size_t n : by_size) {
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

}  // namespace keel
