#pragma once

// Matrices that formulas make, row by row.

#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/layout/box.hpp"
#include "solvers/systems/sparse/grid_rows.hpp"

namespace keel {

// A matrix of which every row is a function of its number.
struct Generator {
    std::int64_t rows;
    double entries;
    std::function<std::vector<MatrixEntry>(std::int64_t row)> row;  // in any order, columns distinct
};

// The value is -1 at the neighbours of a cell, across faces (7 points; 5 in two dimensions, PETSc's KSP ex2)
// or all (27), and their full number on the diagonal; neighbours beyond the domain are left out. Cells are
// numbered x fastest. Symmetric positive definite.
Generator stencil(const Index& cells, std::size_t dimensions, bool all_neighbours);
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
// The diagonal matrix of the eigenvalues of 5 points on n x n cells: 4 - 2 cos((p + 1) pi / (n + 1)) -
// 2 cos((s + 1) pi / (n + 1)) in row p n + s.
Generator eigenvalues(std::int64_t n);

}  // namespace keel
