#include "solvers/systems/sparse/grid_rows.hpp"

#include <algorithm>

namespace keel {

std::optional<std::int64_t> CellRows::row(int box, Index cell) const {
    Index offset{};
    for (std::size_t d = 0; d < domain.dimensions(); ++d) {
        offset[d] = cell[d] < 0 ? -1 : cell[d] >= extent[d] ? 1 : 0;
        cell[d] -= offset[d] * extent[d];
    }
    const std::optional<int> there = offset == Index{} ? box : domain.neighbour(box, offset);
    if (!there) return {};
    return first(*there) + (std::int64_t{cell[2]} * extent[1] + cell[1]) * extent[0] + cell[0];
}

std::vector<MatrixEntry> entries_of_cell(const CellRows& rows, int box, const Index& cell,
                                         const CellCoefficients& at) {
    std::vector<MatrixEntry> entries;
    const auto add = [&](std::int64_t column, double value) {
        const auto found = std::ranges::find(entries, column, &MatrixEntry::column);
        if (found != entries.end())
            found->value += value;
        else
            entries.push_back({column, value});
    };
    add(*rows.row(box, cell), at.diagonal);
    for (std::size_t d = 0; d < rows.domain.dimensions(); ++d)
        for (const bool high : {false, true}) {
            Index neighbour = cell;
            neighbour[d] += high ? 1 : -1;
            if (const auto column = rows.row(box, neighbour))
                add(*column, -(high ? at.faces[d].high : at.faces[d].low));
        }
    std::ranges::sort(entries, {}, &MatrixEntry::column);
    return entries;
}

}  // namespace keel
