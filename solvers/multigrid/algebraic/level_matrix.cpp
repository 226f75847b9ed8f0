#include "solvers/multigrid/algebraic/level_matrix.hpp"

#include <algorithm>

#include "solvers/systems/sparse/grid_rows.hpp"

namespace keel {
namespace {

// Values of all local boxes on cells, or faces, of a box.
class OnBoxes {
  public:
    OnBoxes(const Operations& operations, Field field, Index size)
        : size_(size), values_(operations.read(field, {{}, size})) {}

    double operator()(int q, const Index& at) const {
        const std::size_t row = (static_cast<std::size_t>(q) * static_cast<std::size_t>(size_[2]) +
                                 static_cast<std::size_t>(at[2])) *
                                    static_cast<std::size_t>(size_[1]) +
                                static_cast<std::size_t>(at[1]);
        return values_[row * static_cast<std::size_t>(size_[0]) + static_cast<std::size_t>(at[0])];
    }

  private:
    Index size_;
    std::vector<double> values_;
};

// A copy of `cells` of each box to its place in a buffer, `values` apart; or back.
Items<BlockCopy> copies_of(Operations& operations, const Region& cells, std::size_t values, bool to_buffer) {
    std::vector<BlockCopy> copies;
    for (int q = 0; q < operations.layout().local_count(); ++q) {
        const auto copy = BlockCopy::pack(q, cells, static_cast<std::size_t>(q) * values);
        copies.push_back(to_buffer ? copy : copy.reversed());
    }
    return operations.make_items(std::span<const BlockCopy>(copies));
}

}  // namespace

RowPartition rows_of_ranks(const Layout& layout) {
    int ranks = 0;
    for (int box = 0; box < layout.box_count(); ++box) ranks = std::max(ranks, layout.owner(box) + 1);
    std::vector<std::int64_t> cells(static_cast<std::size_t>(ranks), 0);
    for (int box = 0; box < layout.box_count(); ++box)
        cells[static_cast<std::size_t>(layout.owner(box))] +=
            static_cast<std::int64_t>(layout.box_cells().cells());
    return partition_of(cells);
}

GlobalRows rows_of_level(const Level& level) {
    const Layout& layout = level.layout;
    const Index extent = layout.extent();
    const RowPartition partition = rows_of_ranks(layout);
    std::vector<std::int64_t> next;  // row of the next box of each rank
    for (int rank = 0; rank < partition.ranks; ++rank) next.push_back(partition.first(rank));
    std::vector<std::int64_t> first;  // by box
    for (int box = 0; box < layout.box_count(); ++box) {
        std::int64_t& row = next[static_cast<std::size_t>(layout.owner(box))];
        first.push_back(row);
        row += static_cast<std::int64_t>(layout.box_cells().cells());
    }
    const CellRows cells{layout.domain(), extent,
                         [&](int box) { return first[static_cast<std::size_t>(box)]; }};
    const OnBoxes inverse_diagonal(*level.plain, level.L.inverse_diagonal, extent);
    std::vector<OnBoxes> faces;
    for (std::size_t d = 0; d < layout.dimensions(); ++d) {
        Index size = extent;
        size[d] += 1;
        faces.emplace_back(*level.plain, level.L.faces(d), size);
    }
    GlobalRows rows;
    for (int q = 0; q < layout.local_count(); ++q)
        for (int k = 0; k < extent[2]; ++k)
            for (int j = 0; j < extent[1]; ++j)
                for (int i = 0; i < extent[0]; ++i) {
                    const Index cell{i, j, k};
                    CellCoefficients here{.diagonal = 1 / inverse_diagonal(q, cell)};
                    for (std::size_t d = 0; d < layout.dimensions(); ++d) {
                        Index upper = cell;
                        upper[d] += 1;
                        here.faces[d] = {faces[d](q, cell), faces[d](q, upper)};
                    }
                    const int box = layout.local()[static_cast<std::size_t>(q)];
                    for (const auto& [column, value] : entries_of_cell(cells, box, cell, here))
                        append(rows, column, value);
                    end_row(rows);
                }
    return rows;
}

LevelVectors::LevelVectors(Level& level) : level_(level) {
    const Layout& layout = level.layout;
    const Region cells = layout.box_cells();
    from_boxes_ = copies_of(*level.plain, cells, cells.cells(), true);
    to_boxes_ = copies_of(*level.plain, cells, cells.cells(), false);
    const std::size_t values = blocks_of(layout.local_cells()) * block_rows;
    to_vector_ = level.plain->make_buffer(values, Wire::direct);
    to_grid_ = level.plain->make_buffer(values, Wire::direct);
}

void LevelVectors::bind(Operations& vectors) {
    vectors_ = &vectors;
    from_blocks_ = copies_of(vectors, block_cells, block_rows, true);
    to_blocks_ = copies_of(vectors, block_cells, block_rows, false);
    const Field zero = vectors.make_field();
    vectors.copy_blocks(Packed{to_vector_, 1}, from_blocks_, std::span(&zero, 1), {});
}

void LevelVectors::from_grid(Field vector, Field u) {
    level_.bottom_operations.copy_blocks(Packed{to_vector_, 1}, from_boxes_, std::span(&u, 1), {});
    vectors_->copy_blocks(std::span(&vector, 1), to_blocks_, Packed{to_vector_, 1}, {});
}

void LevelVectors::to_grid(Field u, Field vector) {
    vectors_->copy_blocks(Packed{to_grid_, 1}, from_blocks_, std::span(&vector, 1), {});
    level_.bottom_operations.copy_blocks(std::span(&u, 1), to_boxes_, Packed{to_grid_, 1}, {});
}

}  // namespace keel
