#pragma once

// What a rank has of a matrix, square or not, while a hierarchy is set up: its rows on the host.

#include <cstdint>
#include <vector>

#include "solvers/systems/sparse/sparse_matrix.hpp"

namespace keel {

struct PartRows {
    RowPartition partition;  // of the rows
    RowPartition columns;
    int rank = 0;
    GlobalRows rows;
    std::vector<Item> ghosts;          // columns of other ranks
    std::vector<std::int32_t> places;  // of each entry's column: own columns count from 0, ghosts behind them

    PartRows(RowPartition of_rows, RowPartition of_columns, int of_rank, GlobalRows entries);

    std::int64_t first() const { return partition.first(rank); }
    std::size_t own_columns() const { return columns.size(rank); }
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

// Of a square matrix; 0 where a row has no such entry.
std::vector<double> diagonal_of(const PartRows& A);

// Whether (j, i) is an entry wherever (i, j) is, but for a chance of 2^-64. Collective.
bool has_symmetric_pattern(const Communicator& comm, const PartRows& A);

}  // namespace keel
