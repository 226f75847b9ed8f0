#pragma once

// All inner products of many fields in one pass over memory. The cells of a slab of planes (or rows, where
// there is one plane) are gathered into a tile, one row for every field, that stays in the cache while each
// of its rows is multiplied with every other.

#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "kernels/layout/field.hpp"
#include "kernels/layout/storage.hpp"

namespace keel {

class GramTiles {
  public:
    // sums as in Operations::gram, for at least one x. The work is shared by at most `threads`, which does
    // not change the result: products are summed by slab, and the slabs of a box added in order.
    void run(std::span<const Field> x, std::span<const Field> y, const Index& extent,
             std::span<const Window> boxes, int threads, std::span<double> sums) {
        fields_.clear();
        for (const Field& field : x) fields_.push_back(field.view());
        for (const Field& field : y) fields_.push_back(field.view());
        rows_ = (fields_.size() + block - 1) / block * block;
        const int all = extent[1] * extent[2];            // rows of a box
        const int whole = extent[2] > 1 ? extent[1] : 1;  // rows that stay together
        const int tiled = static_cast<int>(tile_cells) / (extent[0] * whole);
        const int rows = whole * std::clamp(tiled, 1, all / whole);  // rows of a slab
        const int slabs = (all + rows - 1) / rows;
        const std::size_t pairs = boxes.empty() ? 0 : sums.size() / boxes.size();
        const std::size_t scratch = rows_ * (tile_cells + rows_);
        grow(partial_, pairs * boxes.size() * static_cast<std::size_t>(slabs));
        grow(scratch_, scratch * static_cast<std::size_t>(threads));

        const auto slab = [&](std::size_t q, int s, int thread) {
            double* const tile = scratch_.data() + scratch * static_cast<std::size_t>(thread);
            double* const products = tile + rows_ * tile_cells;
            std::fill_n(tile, scratch, 0.0);
            slab_products(products, tile, extent, boxes[q], s * rows, std::min(all, (s + 1) * rows));
            double* pair =
                partial_.data() + pairs * (q * static_cast<std::size_t>(slabs) + static_cast<std::size_t>(s));
            for (std::size_t n = 0; n < x.size(); ++n)
                pair = std::copy(products + n * rows_ + n, products + n * rows_ + fields_.size(), pair);
        };
        if (threads == 1) {
            for (std::size_t q = 0; q < boxes.size(); ++q)
                for (int s = 0; s < slabs; ++s) slab(q, s, 0);
        } else {
#pragma omp parallel for collapse(2) schedule(static) num_threads(threads)
            for (std::size_t q = 0; q < boxes.size(); ++q)
                for (int s = 0; s < slabs; ++s) slab(q, s, omp_get_thread_num());
        }

        for (std::size_t pair = 0; pair < pairs; ++pair)
            for (std::size_t q = 0; q < boxes.size(); ++q) {
                const double* part = partial_.data() + pairs * q * static_cast<std::size_t>(slabs) + pair;
                double& sum = sums[pair * boxes.size() + q] = 0.0;
                for (int s = 0; s < slabs; ++s, part += pairs) sum += *part;
            }
    }

  private:
    static constexpr std::size_t tile_cells = 128;  // the 18 fields of s = 4 then fill half of a 32 KB cache
    static constexpr std::size_t block = 4;

    static void grow(std::vector<double>& values, std::size_t size) {
        if (values.size() < size) values.resize(size);
    }

    // products += the inner products over the rows first <= row < last of a box
    void slab_products(double* products, double* tile, const Index& extent, const Window& box, int first,
                       int last) const {
        std::size_t filled = 0;
        for (int row = first; row < last; ++row) {
            const Index at = box.at + Index{0, row % extent[1], row / extent[1]};
            // Every other cell of a row lies behind the one before (View).
            for (int i = 0, half = 0; half < 2;) {
                const auto left = static_cast<std::size_t>((extent[0] - i + 1) / 2);
                const auto cells = std::min(left, tile_cells - filled);
                for (std::size_t n = 0; n < fields_.size() && cells > 0; ++n)
                    copy_row(tile + n * tile_cells + filled, &fields_[n](box.block, at[0] + i, at[1], at[2]),
                             cells);
                i = cells < left ? i + 2 * static_cast<int>(cells) : ++half;
                filled += cells;
                if (filled == tile_cells) {
                    multiply(products, tile, rows_, filled);
                    filled = 0;
                }
            }
        }
        if (filled > 0) multiply(products, tile, rows_, filled);
    }

    static void copy_row(double* to, const double* from, std::size_t cells) {
#pragma omp simd
        for (std::size_t c = 0; c < cells; ++c) to[c] = from[c];
    }

    // The upper triangle of products += tile tile^T, in blocks of 2 x 4 whose sums stay in registers.
    static void multiply(double* products, const double* tile, std::size_t rows, std::size_t cells) {
        for (std::size_t a = 0; a < rows; a += 2)
            for (std::size_t b = a / block * block; b < rows; b += block)
                multiply_block(products + a * rows + b, rows, tile + a * tile_cells, tile + b * tile_cells,
                               cells);
    }
    static void multiply_block(double* products, std::size_t rows, const double* a, const double* b,
                               std::size_t cells) {
        constexpr std::size_t row = tile_cells;
        double s00 = 0, s01 = 0, s02 = 0, s03 = 0, s10 = 0, s11 = 0, s12 = 0, s13 = 0;
#pragma omp simd reduction(+ : s00, s01, s02, s03, s10, s11, s12, s13)
        for (std::size_t c = 0; c < cells; ++c) {
            s00 += a[c] * b[c];
            s01 += a[c] * b[row + c];
            s02 += a[c] * b[2 * row + c];
            s03 += a[c] * b[3 * row + c];
            s10 += a[row + c] * b[c];
            s11 += a[row + c] * b[row + c];
            s12 += a[row + c] * b[2 * row + c];
            s13 += a[row + c] * b[3 * row + c];
        }
        const double sums[2][block] = {{s00, s01, s02, s03}, {s10, s11, s12, s13}};
        for (std::size_t m = 0; m < 2; ++m)
            for (std::size_t n = 0; n < block; ++n) products[m * rows + n] += sums[m][n];
    }

    std::vector<View> fields_;
    std::size_t rows_ = 0;         // rows of a tile: the fields, and zeros up to whole blocks
    std::vector<double> partial_;  // the products of every slab
    std::vector<double> scratch_;  // a tile and its products for every thread
};

}  // namespace keel
