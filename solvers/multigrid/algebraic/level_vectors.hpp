#pragma once

// Vectors of a level's matrix from its fields, and back, on the device where they are.

#include "solvers/multigrid/level.hpp"
#include "solvers/systems/sparse/sparse_matrix.hpp"

namespace keel {

class LevelVectors {
  public:
    // The rows of the level are those of rows_of_level(). It must outlive this object.
    explicit LevelVectors(Level& level);

    // The operations are those of the matrix' vectors, and stay the same until the next bind().
    void bind(Operations& vectors);
    void from_grid(Field vector, Field u);  // without ghosts
    void to_grid(Field u, Field vector);

  private:
    Level& level_;
    Items<BlockCopy> from_boxes_, to_boxes_;    // the level's boxes
    Items<BlockCopy> from_blocks_, to_blocks_;  // of vectors
    // Cells behind the last row, which fill the last block, stay zero in what goes to vectors.
    Buffer to_vector_, to_grid_;
    Operations* vectors_ = nullptr;
};

}  // namespace keel
