#include "solvers/systems/splitting.hpp"

#include <algorithm>

namespace keel {
namespace {

// The boxes, halved until there are enough bricks.
Index halved(Index bricks, const Index& cells, int enough) {
    while (product(bricks) < std::min(static_cast<std::size_t>(enough), product(cells))) {
        std::size_t longest = 0;
        for (const std::size_t d : {std::size_t{1}, std::size_t{2}})
            if (std::int64_t{cells[d]} * bricks[longest] > std::int64_t{cells[longest]} * bricks[d])
                longest = d;
        bricks[longest] = std::min(2 * bricks[longest], cells[longest]);
    }
    return bricks;
}

constexpr int divided_up(int n, int by) {
    return (n + by - 1) / by;
}

Index slabs(const Index& cells, int enough) {
    const int x = std::min(enough, cells[0]);
    const int y = std::min(divided_up(enough, x), cells[1]);
    return {x, y, std::min(divided_up(enough, x * y), cells[2])};
}

}  // namespace

Bricks bricks_of(Splitting splitting, const Layout& layout, int columns) {
    const Index cells = layout.cells();
    switch (splitting) {
        case Splitting::boxes:
            return {cells, halved(layout.boxes(), cells, columns), columns};
        case Splitting::interleaved:
            return {cells, cells, columns};
        case Splitting::slabs:
            return {cells, slabs(cells, columns), columns};
    }
    return {};
}

}  // namespace keel
