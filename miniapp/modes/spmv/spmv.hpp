#pragma once

#include "miniapp/modes/mode.hpp"
#include "miniapp/modes/spmv/matrix/matrix_source.hpp"

namespace keel {

// The matrix of the deck, whose size may follow from the ranks.
MatrixChoice matrix_of(const Deck& deck, int ranks);

// Any row of the vectors that are multiplied by, one a column, which have no structure. The solution of
// solves is column 0.
double entry_of_x(std::int64_t row, std::size_t column);

}  // namespace keel
