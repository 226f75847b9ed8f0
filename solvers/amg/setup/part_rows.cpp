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

RowPartition resized(const RowPartition& partition, int from, int to) {
    if (from == to) return partition;
    std::vector<std::int64_t> sizes;
    for (int rank = 0; rank < partition.ranks; ++rank) {
        const auto size = static_cast<std::int64_t>(partition.size(rank));
        check_equal(size % from, std::int64_t{0}, "a rank has whole nodes");
        sizes.push_back(size / from * to);
    }
    return partition_of(sizes);
}

std::vector<double> Roots::number(const Communicator& comm, const PartRows& A) {
    const std::int64_t mine = std::ssize(roots);
    partition = partition_of(comm.all_gather({&mine, 1}));
    std::vector<double> numbers(A.rows.rows(), -1.0);
    auto next = static_cast<double>(partition.first(A.rank));
    for (const std::int64_t root : roots) numbers[static_cast<std::size_t>(root - A.first())] = next++;
    return numbers;
}

bool PartRows::is_inside(std::size_t r) const {
    const auto [begin, end] = entries_of(rows, r);
    return begin == end ||
           (columns.owns(rank, rows.columns[begin]) && columns.owns(rank, rows.columns[end - 1]));
}

CompactColumns::CompactColumns(std::int64_t first_own, std::size_t own,
                               std::initializer_list<std::span<const std::int64_t>> columns)
    : first_(first_own), own_(own) {
    const auto end = first_own + static_cast<std::int64_t>(own);
    for (const std::span<const std::int64_t> some : columns)
        for (const std::int64_t column : some) {
            if (column >= first_own && column < end) continue;
            // Many rows have the same: room is made for what is distinct.
            if (others_.size() == others_.capacity()) {
                sort_distinct(others_);
                others_.reserve(2 * others_.size() + block_rows);
            }
            others_.push_back(column);
        }
    sort_distinct(others_);
    below_ = static_cast<std::size_t>(std::ranges::lower_bound(others_, first_) - others_.begin());
}

std::int32_t CompactColumns::place(std::int64_t column) const {
    const std::int64_t own = column - first_;
    if (own >= 0 && own < static_cast<std::int64_t>(own_))
        return static_cast<std::int32_t>(below_) + static_cast<std::int32_t>(own);
    const auto n = static_cast<std::size_t>(std::ranges::lower_bound(others_, column) - others_.begin());
    return static_cast<std::int32_t>(n < below_ ? n : n + own_);
}

std::vector<std::int32_t> CompactColumns::places(std::span<const std::int64_t> columns) const {
    std::vector<std::int32_t> places;
    places.reserve(columns.size());
    for (const std::int64_t column : columns) places.push_back(place(column));
    return places;
}

std::vector<double> diagonal_of(const PartRows& A) {
    std::vector<double> diagonal(A.rows.rows(), 0.0);
    for (std::size_t r = 0; r < diagonal.size(); ++r) {
        const std::int64_t column = A.first() + static_cast<std::int64_t>(r);
        const auto end = A.rows.columns.begin() + A.rows.first[r + 1];
        const auto found = std::lower_bound(A.rows.columns.begin() + A.rows.first[r], end, column);
        if (found != end && *found == column)
            diagonal[r] = A.rows.values[static_cast<std::size_t>(found - A.rows.columns.begin())];
    }
    return diagonal;
}

// Looks for the mirrored entry if row and column are this rank's. For all other entries, sums a number
// that looks random, less that of the mirrored entry.
bool has_symmetric_pattern(const Communicator& comm, const PartRows& A) {
    const auto number = [](std::uint64_t of_i, std::int64_t j) {
        return scramble(of_i + static_cast<std::uint64_t>(j));
    };
    AscendingSearch mirrored(A.rows);
    std::uint64_t sum = 0;
    bool misses = false;
    for (std::size_t r = 0; r < A.rows.rows(); ++r) {
        const std::int64_t i = A.first() + static_cast<std::int64_t>(r);
        const std::uint64_t of_i = scramble(static_cast<std::uint64_t>(i));
        for (auto [e, end] = entries_of(A.rows, r); e < end; ++e) {
            const std::int64_t j = A.rows.columns[e];
            if (const auto c = static_cast<std::size_t>(A.places[e]); c < A.rows.rows())
                misses = misses || mirrored.entry(c, i) == AscendingSearch::none;
            else
                sum += number(of_i, j) - number(scramble(static_cast<std::uint64_t>(j)), i);
        }
    }
    if (comm.max(misses ? 1.0 : 0.0) > 0) return false;
    const auto mine = static_cast<std::int64_t>(sum);
    std::uint64_t all = 0;
    for (const std::int64_t part : comm.all_gather({&mine, 1})) all += static_cast<std::uint64_t>(part);
    return all == 0;
}

}  // namespace keel
