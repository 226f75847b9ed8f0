#pragma once

// Moving regions of cells: into and out of message buffers, and between boxes of one rank. An item is one
// region; the bodies get an item, a field (of those in this pass), the number `n` of a cell in the region (x fastest)
// and that cell's offset (i,j,k).

#include <array>
#include <cstddef>

#include "kernels/box.hpp"
#include "kernels/view.hpp"

namespace keel {

// More fields than this in one exchange are packed in several passes.
inline constexpr std::size_t max_fields = 8;

// A region of local box `box`, at `offset` values behind the start of a one-field buffer.
struct Segment {
    int box;
    Region cells;
    std::size_t offset;

    constexpr const Index& size() const { return cells.size; }
};

// A region of local box `from` that becomes the (equally large) region of local box `to`.
struct CopyItem {
    int from;
    Region source;
    int to;
    Region target;

    constexpr const Index& size() const { return source.size; }
};

// A buffer holds segment after segment, and of each segment field after field; so a message that carries
// several fields is the one-field message with every length multiplied.
struct BufferOrder {
    std::size_t fields;  // in the exchange
    std::size_t first;   // of them in this pass

    constexpr std::size_t place(const Segment& s, std::size_t field, std::size_t n) const {
        return s.offset * fields + (first + field) * s.cells.cells() + n;
    }
};

struct Pack {
    double* buffer;
    BufferOrder order;
    std::array<View, max_fields> u;

    constexpr void operator()(const Segment& s, std::size_t field, std::size_t n, int i, int j, int k) const {
        const Index& lo = s.cells.lo;
        buffer[order.place(s, field, n)] = u[field](s.box, lo[0] + i, lo[1] + j, lo[2] + k);
    }
};

struct Unpack {
    const double* buffer;
    BufferOrder order;
    std::array<View, max_fields> u;

    constexpr void operator()(const Segment& s, std::size_t field, std::size_t n, int i, int j, int k) const {
        const Index& lo = s.cells.lo;
        u[field](s.box, lo[0] + i, lo[1] + j, lo[2] + k) = buffer[order.place(s, field, n)];
    }
};

struct CopyCells {
    std::array<View, max_fields> u;

    constexpr void operator()(const CopyItem& c, std::size_t field, std::size_t, int i, int j, int k) const {
        const Index& from = c.source.lo;
        const Index& to = c.target.lo;
        u[field](c.to, to[0] + i, to[1] + j, to[2] + k) =
            u[field](c.from, from[0] + i, from[1] + j, from[2] + k);
    }
};

}  // namespace keel
