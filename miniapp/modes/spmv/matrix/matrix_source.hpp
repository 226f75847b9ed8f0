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
#include "solvers/amg/setup/part_rows.hpp"
#include "solvers/systems/sparse/grid_rows.hpp"
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

// A matrix of which every row is a function of its number.
struct Generator {
    std::int64_t rows;
    double entries;
    std::function<std::vector<MatrixEntry>(std::int64_t row)> row;  // in any order, columns distinct
};

// The value is -1 at the neighbours of a cell, across faces (7 points) or all (27), and their full number on
// the diagonal; neighbours beyond the domain are left out. Cells are numbered x fastest. Symmetric positive
// definite.
Generator stencil(const Index& cells, bool all_neighbours);
// Finite differences for diffusion that is `epsilon` times as strong across a direction as along it, which is
// `angle` from x, in the plane of x and y alone: 9 points, of which some are positive. Symmetric positive
// definite.
Generator rotated(const Index& cells, double epsilon, double angle);
// Upwind differences of h^2 (-laplace u + peclet w . grad u), 7 points, or 5 where there is one plane;
// h = 1 / cells[0], u = 0 a cell beyond the last. The wind w = (2 y (1 - x^2), -2 x (1 - y^2), 0), x and y
// from -1 to 1, turns in each plane (Elman, Silvester and Wathen, Finite Elements and Fast Iterative
// Solvers, 2nd ed., example 6.1.4). An M-matrix, not symmetric.
Generator convection(const Index& cells, double peclet);
// Plane strain on a square clamped all around: bilinear elements with the nodes (x, y), Poisson's ratio 0.3,
// Young's modulus 1. Rows 2 node and 2 node + 1 are the displacements along x and y. Symmetric positive
// definite; to scale the matrix of pyamg's gallery (linear_elasticity).
Generator elasticity(const Index& cells);
// -1 within `half` of the diagonal, which holds 2 half + 1. Symmetric positive definite.
Generator banded(std::int64_t rows, int half);
// Up to `most` entries -1 anywhere beside the diagonal, which holds one more than there are of them.
// Symmetric positive definite: each of `most` random orders pairs the rows. Pairs that repeat are few:
// `entries` takes them for distinct.
Generator random_pairs(std::int64_t rows, int most, std::uint64_t seed);
// The value is -1 in the first row and column, 2 on the diagonal, the number of rows in the corner. Symmetric
// positive definite.
Generator arrow(std::int64_t rows);
// Elements on a square, or on the part of one that the rows fill, each of `block` rows that are coupled to
// one another and to those of the four elements beside it, by -1; 5 block - 1 on the diagonal. That is the
// 5-point Laplacian for the sums of elements, and 5 block for all whose sums are zero. Symmetric positive
// definite. Discontinuous cubic elements have this pattern with blocks of 16.
Generator dense_blocks(std::int64_t rows, int block);
// On n x n points, numbered row by row: 4 on the diagonal, -1 at the up to four neighbours (PETSc's KSP ex2);
// and the diagonal matrix of its eigenvalues, 4 - 2 cos((p + 1) pi / (n + 1)) - 2 cos((s + 1) pi / (n + 1))
// in row p n + s.
Generator stencil5(std::int64_t n);
Generator eigenvalues(std::int64_t n);
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
// `count` rows of a generated matrix from `first` on, not with problem.ordering = rcm.
GlobalRows generated_rows(const MatrixChoice& matrix, std::int64_t first, std::size_t count);
// All rows, by the calling rank alone.
GlobalRows read_whole_matrix(const MatrixChoice& matrix);

}  // namespace keel
