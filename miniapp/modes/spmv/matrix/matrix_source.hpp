#pragma once

// The matrices of run.mode = spmv: from a file, or generated row by row; and the order of their rows.

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "comm/patterns/row_partition.hpp"
#include "comm/ranks/communicator.hpp"
#include "comm/ranks/topology.hpp"
#include "kernels/layout/domain.hpp"
#include "kernels/names.hpp"
#include "miniapp/deck/parameters.hpp"
#include "miniapp/modes/spmv/matrix/file/matrix_market.hpp"
#include "miniapp/modes/spmv/matrix/generators.hpp"
#include "solvers/amg/setup/part_rows.hpp"
#include "solvers/systems/sparse/sparse_matrix.hpp"

namespace keel {

// The order of a matrix' rows.
enum class Ordering { natural, random, rcm };
constexpr auto names_of(Ordering) {
    return std::array{"natural", "random", "rcm"};
}

// The keys of [problem] and [run] that only run.mode = spmv knows.
struct MatrixOptions {
    std::string matrix = "stencil7";  // or another generator, or a file's path
    std::int64_t rows = 100000;       // generators but stencil7 and stencil27
    int row_entries = 8;
    double peclet = 100;
    Ordering ordering = Ordering::natural;
    bool solve = false;
    int ranks_per_device = 1;  // the first of them has the rows of all
};

// The word of problem.matrix for the operator of the finest level of a problem on grids.
inline constexpr const char* grid_matrix = "grid";
struct GridOperator {
    ProblemOptions problem;
    Domain domain;
};

// The choice of a matrix, whatever its source.
struct MatrixChoice {
    MatrixOptions options;
    Index cells{};                       // a stencil's grid
    std::optional<GridOperator> grid{};  // only of problem.matrix = grid
    std::uint64_t seed = 1;              // for the matrix random and the random ordering
};

// The finest operator of the problem, by the formulas that grids have it of: a row a cell, box after box in
// the order of their numbers, in a box x fastest. Beside its rows a rank keeps 4 bytes a box.
Generator grid_operator(const GridOperator& grid);
// Whether the matrix is such an operator with constants in its null space.
bool is_singular(const MatrixChoice& matrix);
// The number of consecutive rows that belong together.
int rows_of_node(const MatrixChoice& matrix);
// The near-null vectors of some rows, if they are not the constants: the rigid modes of elasticity, about the
// square's centre.
std::optional<NearNull> near_null(const MatrixChoice& matrix, std::int64_t first, std::size_t count);
bool is_square(const std::string& matrix);       // has a row for each of n x n points
std::int64_t side_of_square(std::int64_t rows);  // n of the nearest square

std::vector<std::string> generator_names();
bool is_matrix_file(const std::string& matrix);  // ends in .mtx or .mtx.gz

// The matrix' size, without making it. Throws MatrixFileError.
struct MatrixSize {
    std::int64_t rows = 0;
    // An upper bound for a file, for matrix = random and for a grid of two periodic cells.
    double entries = 0;
};
MatrixSize matrix_size(const MatrixChoice& matrix);

// The owners of its rows: all ranks, or of each node the first of every `ranks_per_device`. Rows that belong
// together stay on one rank.
RowPartition owners_of_rows(const MatrixChoice& matrix, const Topology& topology);

// New numbers of rows from old ones, and back.
struct RowOrder {
    using Numbering = std::function<std::int64_t(std::int64_t)>;
    Numbering to_new = [](std::int64_t n) { return n; };
    Numbering to_old = [](std::int64_t n) { return n; };
};
// Rank 0 holds all of the matrix for a while with problem.ordering = rcm. Throws MatrixFileError, on all
// ranks alike. Collective.
RowOrder order_of(const MatrixChoice& matrix, std::int64_t rows, const Communicator& comm);
// This rank's rows of the matrix in this order. Rank 0 reads a file. Throws MatrixFileError, on all ranks
// alike. Collective.
GlobalRows read_matrix(const MatrixChoice& matrix, const RowOrder& order, const RowPartition& partition,
                       const Communicator& comm);
// The same in the order that problem.ordering names.
GlobalRows read_matrix(const MatrixChoice& matrix, const RowPartition& partition, const Communicator& comm);
// All rows, by the calling rank alone.
GlobalRows read_whole_matrix(const MatrixChoice& matrix);

}  // namespace keel
