#pragma once

// The owners of the rows of a matrix: contiguous parts, equal to within a row unless first rows are given. A
// rank may own none.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernels/check.hpp"

namespace keel {

// Beyond these the products below overflow on more than 2^23 ranks.
inline constexpr std::int64_t most_rows = std::int64_t{1} << 40;

struct RowPartition {
    std::int64_t rows = 0;
    int ranks = 1;
    // First row of each rank, then the number of rows; null: parts as equal as can be.
    std::shared_ptr<const std::vector<std::int64_t>> given = nullptr;

    std::int64_t first(int rank) const {
        return given ? (*given)[static_cast<std::size_t>(rank)] : rows * rank / ranks;
    }
    std::size_t size(int rank) const { return static_cast<std::size_t>(first(rank + 1) - first(rank)); }
    // The last rank whose first row is at most `row`.
    int owner(std::int64_t row) const {
        if (!given) return static_cast<int>(((row + 1) * ranks - 1) / rows);
        return static_cast<int>(std::ranges::upper_bound(*given, row) - given->begin()) - 1;
    }
    bool owns(int rank, std::int64_t row) const { return row >= first(rank) && row < first(rank + 1); }
};

// The partition with these numbers of rows, rank after rank.
inline RowPartition partition_of(std::span<const std::int64_t> sizes) {
    std::vector<std::int64_t> first{0};
    for (const std::int64_t size : sizes) {
        check_at_least(size, 0, "a rank owns no fewer rows than none");
        first.push_back(first.back() + size);
    }
    const std::int64_t rows = first.back();
    return {rows, static_cast<int>(sizes.size()),
            std::make_shared<const std::vector<std::int64_t>>(std::move(first))};
}

}  // namespace keel
