#pragma once

// The rows of a Matrix Market file, the values of a vector's file, and whether a run can do with them. Rank 0
// reads a file and sends each entry to the owner of its row.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "comm/patterns/row_partition.hpp"
#include "comm/ranks/communicator.hpp"
#include "miniapp/modes/spmv/matrix/file/matrix_market.hpp"
#include "solvers/systems/sparse/sparse_matrix.hpp"

namespace keel {

// Rank 0 holds at most this many entries that it has not sent.
inline constexpr std::size_t entries_at_once = 1 << 12;

// The first fault of the file up to the sizes, with its line; empty if there is none. Purely local.
std::string why_not_readable(const std::string& file);

// The faults of a file, empty if there are none.
struct FileVerdict {
    std::string complaint;  // the first wrong line; the same on all ranks
    // Why the scaling cannot divide by the diagonal of this rank's rows by the order of the file, with the
    // line.
    std::string not_scalable;
};
// All ranks need to find the same sizes, which each reads for itself. Collective.
FileVerdict judge_file(const Communicator& comm, const std::string& file, DiagonalScaling scaling,
                       const ReadLimit& limit = {});

// This rank's rows; `to_new` gives the numbers of rows and columns. Throws MatrixFileError, on all ranks
// alike. Collective.
GlobalRows rows_of_file(const Communicator& comm, const std::string& file,
                        const std::function<std::int64_t(std::int64_t)>& to_new,
                        const RowPartition& partition);

// Why the file, *.npy or else Matrix Market's array format, cannot be a vector of `rows` values, by its
// header; empty if it can. Purely local.
std::string why_no_values(const std::string& file, std::int64_t rows);
// The first fault of all of it, on all ranks alike; empty if there is none. Collective.
std::string judge_values(const Communicator& comm, const std::string& file, std::int64_t rows,
                         const ReadLimit& limit);
// The values of this rank's rows. Throws MatrixFileError, on all ranks alike. Collective.
std::vector<double> values_of_file(const Communicator& comm, const std::string& file,
                                   const std::function<std::int64_t(std::int64_t)>& to_new,
                                   const RowPartition& partition);

}  // namespace keel
