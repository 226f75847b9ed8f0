#pragma once

// One rank's rows of a sparse matrix, compressed by rows (CSR; Saad, "Iterative methods for sparse linear
// systems", 2nd ed., section 3.4), and their product with vectors.
//
// A vector over rows is a field of square boxes in a plane without ghost layers: their cells, one after the
// other, are the rows. Rows that only fill the last box are empty, and zero in every vector; boxes are small,
// because on coarse levels of algebraic multigrid such rows may be most of a vector. The values of ghost
// columns, other ranks' rows, follow in boxes of their own behind those of the rows; vector operations do not
// see them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/bodies/pack.hpp"
#include "kernels/bodies/stencil.hpp"
#include "kernels/layout/box.hpp"
#include "kernels/layout/field.hpp"
#include "kernels/layout/layout.hpp"
#include "kernels/layout/view.hpp"

namespace keel {

// At a multiple of 8 rows of cells need no padding (Shape): blocks lie one behind the other without gaps.
inline constexpr int block_width = 16;
inline constexpr Region block_cells{{}, {block_width, block_width, 1}};
inline constexpr std::size_t block_rows = block_cells.cells();

constexpr std::size_t blocks_of(std::size_t rows) {
    return (rows + block_rows - 1) / block_rows;
}

// The box and the cell of value n.
constexpr std::pair<int, Index> cell_of(std::size_t n) {
    constexpr std::size_t w = block_width;
    return {static_cast<int>(n / block_rows), {static_cast<int>(n % w), static_cast<int>(n / w % w), 0}};
}

// The value at a cell of the blocks, which lie in a line: the inverse, with cells numbered over all of them.
constexpr std::size_t value_at(const Index& cell) {
    constexpr std::size_t w = block_width;
    const auto x = static_cast<std::size_t>(cell[0]), y = static_cast<std::size_t>(cell[1]);
    return x / w * block_rows + y * w + x % w;
}

// A vector of `blocks` blocks.
constexpr Shape block_shape(int blocks) {
    return Shape::of(blocks, block_cells.size, 0, 2);
}

// The place of value n in a vector, in values behind its start (View).
constexpr std::size_t place_of(std::size_t n) {
    constexpr Shape block = block_shape(1);
    static_assert(block.values() == block_rows && block.origin == 0);
    return n - n % block_width + n % block_width / 2 + (n % 2) * static_cast<std::size_t>(block.half());
}

// One rank's vectors of `blocks` blocks. Other ranks' blocks are not part of it.
inline Layout block_layout(std::size_t blocks) {
    const auto count = static_cast<int>(blocks);
    const Boundaries periodic{Boundary::periodic, Boundary::periodic, Boundary::periodic};
    return {Domain({count, 1, 1}, periodic, 2), block_width, std::vector<int>(blocks, 0), 0};
}

// Entries of row r: first[r] <= e < first[r + 1]. Columns are places in a vector (place_of), ghosts included,
// so that a product need not ask where a value lies.
struct CsrMatrix {
    std::vector<std::int64_t> first{0};
    std::vector<std::int32_t> columns;
    std::vector<double> values;
    // Not zero at rows that read ghosts, or whose products other ranks wait for; empty if rows are not
    // multiplied in parts.
    std::vector<std::uint8_t> shell = {};

    std::size_t rows() const { return first.size() - 1; }
    // The shell is the rows that have columns from `first_ghost` on.
    void set_shell(std::size_t first_ghost) {
        shell.assign(rows(), 0);
        for (std::size_t r = 0; r < rows(); ++r)
            for (auto e = static_cast<std::size_t>(first[r]); e < static_cast<std::size_t>(first[r + 1]); ++e)
                if (static_cast<std::size_t>(columns[e]) >= first_ghost) shell[r] = 1;
    }
};

// The same in a backend's memory, kept by the operations that made it, with empty rows up to the end of the
// last block.
struct SparseRows {
    const std::int64_t* first = nullptr;
    const std::int32_t* columns = nullptr;
    const double* values = nullptr;
    std::size_t rows = 0;
    std::size_t nonzeros = 0;
    const std::uint8_t* shell = nullptr;
    std::size_t shell_rows = 0;
    std::size_t shell_nonzeros = 0;
    Part part = Part::all;  // a product makes these rows alone; others keep what they hold

    SparseRows on(Part selected) const {
        SparseRows rows_of_part = *this;
        rows_of_part.part = selected;
        if (selected == Part::all) return rows_of_part;
        const bool interior = selected == Part::interior;
        rows_of_part.rows = interior ? rows - shell_rows : shell_rows;
        rows_of_part.nonzeros = interior ? nonzeros - shell_nonzeros : shell_nonzeros;
        return rows_of_part;
    }
};

// y = A x for N vectors at a time, row by row and each row in the order of its entries.
template <std::size_t N>
struct ApplyRows {
    std::array<View, N> y;
    std::array<View, N> x;
    SparseRows A;

    constexpr void operator()(int q, int i, int j, int k) const {
        const std::ptrdiff_t row = (std::ptrdiff_t{q} * block_width + j) * block_width + i;
        if (A.part != Part::all && (A.shell[row] != 0) != (A.part == Part::shell)) return;
        std::array<double, N> sum{};
        for (std::int64_t e = A.first[row]; e < A.first[row + 1]; ++e)
            for (std::size_t n = 0; n < N; ++n) sum[n] += A.values[e] * x[n].origin[A.columns[e]];
        for (std::size_t n = 0; n < N; ++n) y[n](q, i, j, k) = sum[n];
    }
};

// A sweep of Gauss-Seidel over all rows in turn, x_i = (b_i - SUM_j a_ij x_j) / a_ii over j other than i,
// from the last row to the first if `backward`. Ghosts keep what they hold. Rows have diagonal entries other
// than zero. Each row wants the values of those before it: one thread does them all.
struct SweepRows {
    View x;
    View b;
    SparseRows A;
    bool backward;

    constexpr void operator()(int, int, int, int) const {
        for (std::size_t n = 0; n < A.rows; ++n) {
            const std::size_t row = backward ? A.rows - 1 - n : n;
            const auto place = static_cast<std::int32_t>(place_of(row));
            double sum = b.origin[place];
            double diagonal = 0;
            for (std::int64_t e = A.first[row]; e < A.first[row + 1]; ++e) {
                if (A.columns[e] == place)
                    diagonal = A.values[e];
                else
                    sum -= A.values[e] * x.origin[A.columns[e]];
            }
            x.origin[place] = sum / diagonal;
        }
    }
};

// The least work of a product: it reads the matrix once for all vectors, and each vector once.
constexpr Work work_of(const SparseRows& A, std::size_t vectors) {
    const auto entries = static_cast<double>(A.nonzeros);
    const auto rows = static_cast<double>(A.rows);
    const auto n = static_cast<double>(vectors);
    return {2 * n * entries, entries * (sizeof(double) + sizeof(std::int32_t)) + rows * sizeof(std::int64_t) +
                                 2 * n * rows * sizeof(double)};
}

}  // namespace keel
