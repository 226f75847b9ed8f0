#pragma once

// A rank's rows of a matrix, square or not, on the host while a hierarchy is set up.

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "kernels/hash.hpp"
#include "solvers/systems/sparse/sparse_matrix.hpp"

namespace keel {

struct PartRows {
    RowPartition partition;  // the rows'
    RowPartition columns;
    int rank = 0;
    GlobalRows rows;
    std::vector<Item> ghosts;          // columns of other ranks
    std::vector<std::int32_t> places;  // of each entry's column: own columns from 0, then ghosts

    PartRows(RowPartition of_rows, RowPartition of_columns, int of_rank, GlobalRows entries);

    std::int64_t first() const { return partition.first(rank); }
    std::size_t own_columns() const { return columns.size(rank); }
    bool is_inside(std::size_t r) const;  // whether the row has own columns alone
};

// Entries of a row.
struct RowEntries {
    std::size_t begin;
    std::size_t end;
};
inline RowEntries entries_of(const GlobalRows& rows, std::size_t r) {
    return {static_cast<std::size_t>(rows.first[r]), static_cast<std::size_t>(rows.first[r + 1])};
}
// Ends the row whose entries were appended.
inline void end_row(GlobalRows& rows) {
    rows.first.push_back(static_cast<std::int64_t>(rows.columns.size()));
}

// Columns by places without holes that ascend as columns do: all of this rank's, and those of others that
// occur. What is kept for each column is no longer than their number, and only what is others' is searched.
class CompactColumns {
  public:
    CompactColumns(std::int64_t first_own, std::size_t own,
                   std::initializer_list<std::span<const std::int64_t>> columns);

    std::size_t count() const { return own_ + others_.size(); }
    std::size_t first_own() const { return below_; }  // place
    std::int64_t column(std::size_t place) const {
        if (place < below_) return others_[place];
        return place < below_ + own_ ? first_ + static_cast<std::int64_t>(place - below_)
                                     : others_[place - own_];
    }
    std::int32_t place(std::int64_t column) const;
    std::vector<std::int32_t> places(std::span<const std::int64_t> columns) const;

  private:
    std::int64_t first_;  // this rank's first
    std::size_t own_;
    std::vector<std::int64_t> others_;  // ascending
    std::size_t below_;                 // of these, before its own
};

// Finds entries by row and column without searching, if the columns that are asked of a row ascend.
class AscendingSearch {
  public:
    explicit AscendingSearch(const GlobalRows& rows)
        : rows_(rows), next_(rows.first.begin(), rows.first.end() - 1) {}

    static constexpr std::int64_t none = -1;
    std::int64_t entry(std::size_t row, std::int64_t column) {
        std::int64_t& e = next_[row];
        const std::int64_t end = rows_.first[row + 1];
        while (e < end && rows_.columns[static_cast<std::size_t>(e)] < column) ++e;
        return e < end && rows_.columns[static_cast<std::size_t>(e)] == column ? e : none;
    }

  private:
    const GlobalRows& rows_;
    std::vector<std::int64_t> next_;
};

// 53 random bits that break ties between rows, the same on any number of ranks.
inline std::uint64_t random_bits(std::int64_t row) {
    return scramble(scramble(0) + static_cast<std::uint64_t>(row)) >> 11;
}

// The diagonal of a square matrix; 0 where a row has no such entry.
std::vector<double> diagonal_of(const PartRows& A);

// Whether (j, i) is an entry wherever (i, j) is, but for a chance of 2^-64. Collective.
bool has_symmetric_pattern(const Communicator& comm, const PartRows& A);

}  // namespace keel
