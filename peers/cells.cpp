#include "peers/cells.hpp"

namespace keel {

std::vector<double> cells_of(const Level& level, Field field) {
    return level.plain->read(field, level.layout.box_cells());
}

void set_cells(Level& level, Field field, const std::vector<double>& values) {
    const Layout& layout = level.layout;
    const Region box = layout.box_cells();
    const int n = layout.width();
    level.plain->assign(field, box, [&](const Index& cell) {
        const Index position{cell[0] / n, cell[1] / n, cell[2] / n};
        const auto q = static_cast<std::size_t>(layout.local_index(*layout.domain().box_at(position)));
        const Index in_box = cell + n * -position;
        const auto row = static_cast<std::size_t>(in_box[2] * n + in_box[1]);
        return values[q * box.cells() + row * static_cast<std::size_t>(n) +
                      static_cast<std::size_t>(in_box[0])];
    });
}

}  // namespace keel
