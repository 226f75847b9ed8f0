#include "solvers/amg/setup/part_rows.hpp"

#include <algorithm>
#include <utility>

#include "kernels/check.hpp"
#include "kernels/hash.hpp"

namespace keel {

PartRows::PartRows(RowPartition of_rows, RowPartition of_columns, int of_rank, GlobalRows entries)
    : partition(std::move(of_rows)),
      columns(std::move(of_columns)),
      rank(of_rank),
      rows(std::move(entries)),
      ghosts(ghosts_of(columns, rank, rows.columns)) {
    check_equal(rows.rows(), partition.size(rank), "a rank has the rows that it owns");
    const std::int64_t first_column = columns.first(rank);
    const std::int64_t end_column = columns.first(rank + 1);
    places.reserve(rows.columns.size());
    for (const std::int64_t column : rows.columns) {
        if (column >= first_column && column < end_column) {
            places.push_back(static_cast<std::int32_t>(column - first_column));
            continue;
        }
        const auto ghost = std::ranges::lower_bound(ghosts, Item{columns.owner(column), 1, column});
        places.push_back(static_cast<std::int32_t>(end_column - first_column + (ghost - ghosts.begin())));
    }
}

std::vector<double> diagonal_of(const PartRows& A) {
    std::vector<double> diagonal(A.rows.rows(), 0.0);
    for (std::size_t r = 0; r < diagonal.size(); ++r)
        for (auto [e, end] = entries_of(A.rows, r); e < end; ++e)
            if (static_cast<std::size_t>(A.places[e]) == r) diagonal[r] = A.rows.values[e];
    return diagonal;
}

// The sum over all entries of a number that looks random, less that of the mirrored entry.
bool has_symmetric_pattern(const Communicator& comm, const PartRows& A) {
    const auto number = [](std::int64_t i, std::int64_t j) {
        return scramble(scramble(static_cast<std::uint64_t>(i)) + static_cast<std::uint64_t>(j));
    };
    std::uint64_t sum = 0;
    for (std::size_t r = 0; r < A.rows.rows(); ++r) {
        const std::int64_t i = A.first() + static_cast<std::int64_t>(r);
        for (auto [e, end] = entries_of(A.rows, r); e < end; ++e)
            sum += number(i, A.rows.columns[e]) - number(A.rows.columns[e], i);
    }
    const auto mine = static_cast<std::int64_t>(sum);
    std::uint64_t all = 0;
    for (const std::int64_t part : comm.all_gather({&mine, 1})) all += static_cast<std::uint64_t>(part);
    return all == 0;
}

}  // namespace keel
