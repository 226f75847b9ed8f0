#pragma once

// The operator of a level, as it is in its fields, as rows of a matrix, and the vectors of that matrix.

#include "solvers/multigrid/level.hpp"
#include "solvers/systems/sparse/sparse_matrix.hpp"

namespace keel {

// Rank after rank has the rows of its boxes, box after box, in a box x fastest: no row leaves the rank that
// has its cell.
RowPartition rows_of_ranks(const Layout& layout);

// This rank's rows. Reads the coefficients into host memory. Purely local, but for what the operator has in
// its fields.
GlobalRows rows_of_level(const Level& level);

// Vectors of a level's matrix from its fields, and back, on the device where they are.
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
