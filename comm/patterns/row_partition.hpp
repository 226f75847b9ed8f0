#pragma once

// Which rank owns which row of a matrix: contiguous parts, equal to within a row. Ranks beyond the rows own
// none.

#include <cstddef>
#include <cstdint>

namespace keel {

// Beyond these the products below overflow on more than 2^23 ranks.
inline constexpr std::int64_t most_rows = std::int64_t{1} << 40;

struct RowPartition {
    std::int64_t rows = 0;
    int ranks = 1;

    constexpr std::int64_t first(int rank) const { return rows * rank / ranks; }
    constexpr std::size_t size(int rank) const {
        return static_cast<std::size_t>(first(rank + 1) - first(rank));
    }
    // The last rank whose first row is not behind `row`; none behind it owns the row.
    constexpr int owner(std::int64_t row) const { return static_cast<int>(((row + 1) * ranks - 1) / rows); }
};

}  // namespace keel
