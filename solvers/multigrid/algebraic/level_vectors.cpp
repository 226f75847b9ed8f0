#include "solvers/multigrid/algebraic/level_vectors.hpp"

namespace keel {

LevelVectors::LevelVectors(Level& level) : level_(level) {
    const Layout& layout = level.layout;
    const std::size_t cells = layout.box_cells().cells();
    std::vector<Segment> boxes;
    for (int q = 0; q < layout.local_count(); ++q)
        boxes.emplace_back(q, layout.box_cells(), static_cast<std::size_t>(q) * cells);
    boxes_ = level.plain->make_items(std::span<const Segment>(boxes));
    const std::size_t values = blocks_of(layout.local_cells()) * block_rows;
    to_vector_ = level.plain->make_buffer(values, Wire::direct);
    to_grid_ = level.plain->make_buffer(values, Wire::direct);
}

void LevelVectors::bind(Operations& vectors) {
    vectors_ = &vectors;
    std::vector<Segment> blocks;
    for (int q = 0; q < vectors.layout().local_count(); ++q)
        blocks.emplace_back(q, block_cells, static_cast<std::size_t>(q) * block_rows);
    blocks_ = vectors.make_items(std::span<const Segment>(blocks));
    const Field zero = vectors.make_field();
    vectors.pack(to_vector_, blocks_, std::span(&zero, 1), {});
}

void LevelVectors::from_grid(Field vector, Field u) {
    level_.bottom_operations.pack(to_vector_, boxes_, std::span(&u, 1), {});
    vectors_->unpack(std::span(&vector, 1), blocks_, to_vector_, {});
}

void LevelVectors::to_grid(Field u, Field vector) {
    vectors_->pack(to_grid_, blocks_, std::span(&vector, 1), {});
    level_.bottom_operations.unpack(std::span(&u, 1), boxes_, to_grid_, {});
}

}  // namespace keel
