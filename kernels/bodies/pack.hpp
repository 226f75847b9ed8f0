#pragma once

// Copies of blocks of cells: into and out of message buffers, between boxes of one rank, and from buffer to
// buffer, where a rank forwards messages. The bodies get a copy, a field (of those in this pass), the number
// of a cell in the block (x fastest) and its offset (i,j,k).

#include <array>
#include <cstddef>
#include <type_traits>

#include "kernels/layout/box.hpp"
#include "kernels/layout/view.hpp"

namespace keel {

// More fields than this in one exchange are packed in several passes.
inline constexpr std::size_t max_fields = 8;

// One end of a copy, where a block of cells is read or written: in a local box, or in a region of a buffer.
struct BlockEnd {
    int box = -1;  // -1: a buffer
    Index at{};    // the block's first cell, of the box or of the region
    // In a one-field buffer a region of `whole` cells lies `offset` values behind the start, x fastest. If
    // only cells of one colour travel, those with the numbers 2 n and 2 n + 1 in the region have the n-th
    // place: whatever its extents, they are of different colours.
    Index whole{};
    std::size_t offset = 0;
    int shift = 0;  // 1: cells of one colour

    constexpr bool in_box() const { return box >= 0; }
    constexpr std::size_t places() const { return places_of(product(whole), shift); }
    constexpr std::size_t end() const { return offset + places(); }
    static constexpr std::size_t places_of(std::size_t cells, int shift) {
        return (cells + static_cast<std::size_t>(shift)) >> shift;
    }
};

constexpr BlockEnd in_box(int box, const Index& at) {
    return {box, at};
}
// The block begins at cell `at` of the region.
constexpr BlockEnd in_buffer(std::size_t offset, const Index& whole, const Index& at = {}) {
    return {-1, at, whole, offset};
}

struct BlockCopy {
    Index extent{};
    BlockEnd from, to;

    constexpr const Index& size() const { return extent; }
    constexpr BlockCopy reversed() const { return {extent, to, from}; }

    // Cells of a box become a region as large of a buffer; reversed, they are unpacked.
    static constexpr BlockCopy pack(int box, const Region& cells, std::size_t offset) {
        return {cells.size, in_box(box, cells.lo), in_buffer(offset, cells.size)};
    }
    static constexpr BlockCopy local(int from_box, const Region& source, int to_box, const Index& target) {
        return {source.size, in_box(from_box, source.lo), in_box(to_box, target)};
    }
    static constexpr BlockCopy forward(std::size_t source, std::size_t target, int values) {
        const Index line{values, 1, 1};
        return {line, in_buffer(source, line), in_buffer(target, line)};
    }
};

template <class Real>
struct InBoxes {
    std::array<ViewOf<Real>, max_fields> u;

    constexpr Real& operator()(const BlockEnd& end, std::size_t field, int i, int j, int k) const {
        return u[field](end.box, end.at[0] + i, end.at[1] + j, end.at[2] + k);
    }
};

// A buffer holds region after region, and of each region field after field; so a message that carries several
// fields is the one-field message with every length multiplied.
template <class Real>
struct InBuffer {
    Real* values;
    std::size_t fields;     // in the exchange
    std::size_t first = 0;  // of them in this pass

    constexpr Real& operator()(const BlockEnd& end, std::size_t field, int i, int j, int k) const {
        const int cell = end.at[0] + i + end.whole[0] * (end.at[1] + j + end.whole[1] * (end.at[2] + k));
        return values[end.offset * fields + (first + field) * end.places() +
                      (static_cast<std::size_t>(cell) >> end.shift)];
    }
};

template <class From, class To>
struct CopyBlock {
    From from;
    To to;

    constexpr auto& source(const BlockCopy& c, std::size_t field, int i, int j, int k) const {
        return from(c.from, field, i, j, k);
    }
    constexpr auto& target(const BlockCopy& c, std::size_t field, int i, int j, int k) const {
        return to(c.to, field, i, j, k);
    }
    constexpr void operator()(const BlockCopy& c, std::size_t field, std::size_t, int i, int j, int k) const {
        auto& to_cell = target(c, field, i, j, k);
        to_cell = static_cast<std::decay_t<decltype(to_cell)>>(source(c, field, i, j, k));
    }
};

template <class From, class To>
CopyBlock(From, To) -> CopyBlock<From, To>;

// The same for the cells of one colour in the box that they go to, or come from if they go to a buffer.
template <class Copy>
struct OfColour : Copy {
    int colour;
    const int* parity;  // sum of the global indices of each block's first cell, mod 2

    constexpr bool takes(const BlockCopy& c, int i, int j, int k) const {
        const BlockEnd& end = c.to.in_box() ? c.to : c.from;
        return ((end.at[0] + i + end.at[1] + j + end.at[2] + k + parity[end.box]) & 1) == colour;
    }
    constexpr void operator()(const BlockCopy& c, std::size_t field, std::size_t n, int i, int j,
                              int k) const {
        if (takes(c, i, j, k)) Copy::operator()(c, field, n, i, j, k);
    }
};

}  // namespace keel
