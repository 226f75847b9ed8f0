#pragma once

// The rows of a Matrix Market file, and whether a run can do with them. Each rank reads its part of the lines.

#include <cstdint>
#include <functional>
#include <string>

#include "comm/patterns/row_partition.hpp"
#include "comm/ranks/communicator.hpp"
#include "solvers/systems/sparse/sparse_matrix.hpp"

namespace keel {

// Lines with entries that a rank reads before it sends them to the owners of their rows.
inline constexpr std::int64_t entries_at_once = 1 << 12;

// What is wrong with the file up to the sizes, with its line; empty if nothing is.
std::string why_not_readable(const std::string& file);
// What is wrong with a file, each rank reading its part. Both empty if nothing is.
struct FileVerdict {
    std::string complaint;  // with its line; the same on all ranks
    // Why the scaling cannot divide by the diagonal of this rank's rows by the order of the file, with the line.
    std::string not_scalable;
};
// Collective.
FileVerdict judge_file(const Communicator& comm, const std::string& file, DiagonalScaling scaling);

// This rank's rows, `to_new` the numbers of rows and columns. Throws MatrixFileError, on all ranks alike. Collective.
GlobalRows rows_of_file(const Communicator& comm, const std::string& file,
                        const std::function<std::int64_t(std::int64_t)>& to_new,
                        const RowPartition& partition);

}  // namespace keel
