#include "solvers/multigrid/algebraic/level_vectors.hpp"

namespace keel {
namespace {

// A copy of `cells` of each of so many boxes to its place in a buffer, `values` apart; or back.
Items<BlockCopy> copies_of(Operations& operations, const Region& cells, std::size_t values, bool to_buffer) {
    std::vector<BlockCopy> copies;
    for (int q = 0; q < operations.layout().local_count(); ++q) {
        const auto copy = BlockCopy::pack(q, cells, static_cast<std::size_t>(q) * values);
        copies.push_back(to_buffer ? copy : copy.reversed());
    }
    return operations.make_items(std::span<const BlockCopy>(copies));
}

}  // namespace

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
    vectors.pack(to_vector_, from_blocks_, std::span(&zero, 1), {});
}

void LevelVectors::from_grid(Field vector, Field u) {
    level_.bottom_operations.pack(to_vector_, from_boxes_, std::span(&u, 1), {});
    vectors_->unpack(std::span(&vector, 1), to_blocks_, to_vector_, {});
}

void LevelVectors::to_grid(Field u, Field vector) {
    vectors_->pack(to_grid_, from_blocks_, std::span(&vector, 1), {});
    level_.bottom_operations.unpack(std::span(&u, 1), to_boxes_, to_grid_, {});
}

}  // namespace keel
