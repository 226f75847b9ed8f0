#pragma once

// Moving regions of cells: into and out of message buffers, and between boxes of one rank. An item is one
// region; the bodies get an item, a field (of those in this pass), the number `n` of a cell in the region (x fastest)
// and that cell's offset (i,j,k); they say where its value is and where it goes. And from buffer to buffer, where a rank passes
// messages on.

#include <array>
#include <cstddef>

#include "kernels/layout/box.hpp"
#include "kernels/layout/view.hpp"

namespace keel {

// More fields than this in one exchange are packed in several passes.
inline constexpr std::size_t max_fields = 8;

// A region of local box `box`. In a one-field buffer it is a region as large, or part of a larger one that lies there
// `offset` values behind the start, x fastest. Of cells of one colour those with the numbers 2 n and 2 n + 1 in the larger
// region have the n-th place: whatever its extents, they are of different colours.
struct Segment {
    int box = 0;
    Region cells{};
    int shift = 0;  // 1: of cells of one colour
    std::size_t offset = 0;
    std::size_t first = 0;         // of its cells among those of the larger region
    std::size_t region_cells = 0;  // of the larger region
    int row = 0;
    int plane = 0;

    Segment() = default;  // a list in device memory begins with these
    constexpr Segment(int in_box, const Region& region, std::size_t behind)
        : Segment(in_box, region, behind, {}, region.size) {}
    // Begins at cell `at` of a region of `whole` cells.
    constexpr Segment(int in_box, const Region& region, std::size_t behind, const Index& at,
                      const Index& whole)
        : box(in_box),
          cells(region),
          offset(behind),
          region_cells(product(whole)),
          row(whole[0]),
          plane(whole[0] * whole[1]) {
        first = static_cast<std::size_t>(at[0] + row * at[1] + plane * at[2]);
    }

    constexpr const Index& size() const { return cells.size; }
    constexpr std::size_t places() const { return places_of(region_cells, shift); }  // of the larger region
    constexpr std::size_t end() const { return offset + places(); }
    static constexpr std::size_t places_of(std::size_t cells, int shift) {
        return (cells + static_cast<std::size_t>(shift)) >> shift;
    }
};

// A region of local box `from` that becomes the (equally large) region of local box `to`.
struct CopyItem {
    int from;
    Region source;
    int to;
    Region target;

    constexpr const Index& size() const { return source.size; }
};

// Values that are passed on: so many behind `from` in one one-field buffer go behind `to` in another.
struct Parcel {
    std::size_t from;
    std::size_t to;
    int values;

    constexpr Index size() const { return {values, 1, 1}; }
};

// A buffer holds region after region, and of each region field after field; so a message that carries
// several fields is the one-field message with every length multiplied.
struct BufferOrder {
    std::size_t fields;  // in the exchange
    std::size_t first;   // of them in this pass

    constexpr std::size_t place(const Segment& s, std::size_t field, int i, int j, int k) const {
        return s.offset * fields + (first + field) * s.places() +
               ((s.first + static_cast<std::size_t>(i + s.row * j + s.plane * k)) >> s.shift);
    }
};

template <class Real = double>
struct Pack {
    Real* buffer;
    BufferOrder order;
    std::array<ViewOf<Real>, max_fields> u;

    constexpr const Real& source(const Segment& s, std::size_t field, std::size_t, int i, int j,
                                 int k) const {
        const Index& lo = s.cells.lo;
        return u[field](s.box, lo[0] + i, lo[1] + j, lo[2] + k);
    }
    constexpr Real& target(const Segment& s, std::size_t field, std::size_t, int i, int j, int k) const {
        return buffer[order.place(s, field, i, j, k)];
    }
    constexpr void operator()(const Segment& s, std::size_t field, std::size_t n, int i, int j, int k) const {
        target(s, field, n, i, j, k) = source(s, field, n, i, j, k);
    }
};

template <class Real = double>
struct Unpack {
    const Real* buffer;
    BufferOrder order;
    std::array<ViewOf<Real>, max_fields> u;

    constexpr const Real& source(const Segment& s, std::size_t field, std::size_t, int i, int j,
                                 int k) const {
        return buffer[order.place(s, field, i, j, k)];
    }
    constexpr Real& target(const Segment& s, std::size_t field, std::size_t, int i, int j, int k) const {
        const Index& lo = s.cells.lo;
        return u[field](s.box, lo[0] + i, lo[1] + j, lo[2] + k);
    }
    constexpr void operator()(const Segment& s, std::size_t field, std::size_t n, int i, int j, int k) const {
        target(s, field, n, i, j, k) = source(s, field, n, i, j, k);
    }
};

template <class Real = double>
struct CopyCells {
    std::array<ViewOf<Real>, max_fields> u;

    constexpr const Real& source(const CopyItem& c, std::size_t field, std::size_t, int i, int j,
                                 int k) const {
        const Index& from = c.source.lo;
        return u[field](c.from, from[0] + i, from[1] + j, from[2] + k);
    }
    constexpr Real& target(const CopyItem& c, std::size_t field, std::size_t, int i, int j, int k) const {
        const Index& to = c.target.lo;
        return u[field](c.to, to[0] + i, to[1] + j, to[2] + k);
    }
    constexpr void operator()(const CopyItem& c, std::size_t field, std::size_t n, int i, int j,
                              int k) const {
        target(c, field, n, i, j, k) = source(c, field, n, i, j, k);
    }
};

// One of the above, of the cells of one colour, as the box has it that a segment is of or an item is copied to.
template <class Move>
struct OfColour : Move {
    int colour;
    const int* parity;  // of the sum of the global indices of each block's first cell

    constexpr bool takes(const Segment& s, int i, int j, int k) const {
        return is_of_colour(s.box, s.cells.lo, i, j, k);
    }
    constexpr bool takes(const CopyItem& c, int i, int j, int k) const {
        return is_of_colour(c.to, c.target.lo, i, j, k);
    }
    template <class T>
    constexpr void operator()(const T& item, std::size_t field, std::size_t n, int i, int j, int k) const {
        if (takes(item, i, j, k)) Move::operator()(item, field, n, i, j, k);
    }

  private:
    constexpr bool is_of_colour(int block, const Index& lo, int i, int j, int k) const {
        return ((lo[0] + i + lo[1] + j + lo[2] + k + parity[block]) & 1) == colour;
    }
};

// Between buffers that hold `fields` fields: a parcel's values of all fields lie together.
template <class Real = double>
struct Forward {
    const Real* from;
    Real* to;
    std::size_t fields;

    constexpr const Real& source(const Parcel& p, std::size_t field, std::size_t n, int, int, int) const {
        return from[p.from * fields + within(p, field, n)];
    }
    constexpr Real& target(const Parcel& p, std::size_t field, std::size_t n, int, int, int) const {
        return to[p.to * fields + within(p, field, n)];
    }
    constexpr void operator()(const Parcel& p, std::size_t field, std::size_t n, int i, int j, int k) const {
        target(p, field, n, i, j, k) = source(p, field, n, i, j, k);
    }

  private:
    static constexpr std::size_t within(const Parcel& p, std::size_t field, std::size_t n) {
        return field * static_cast<std::size_t>(p.values) + n;
    }
};

}  // namespace keel
