#pragma once

// One grid function on this rank's boxes of one level.

#include <cstddef>

#include "kernels/check.hpp"
#include "kernels/layout/box.hpp"
#include "kernels/layout/precision.hpp"
#include "kernels/layout/view.hpp"

namespace keel {

constexpr std::ptrdiff_t aligned(std::ptrdiff_t n, int to) {
    return (n + (to - 1)) / to * to;
}

// The storage of a field: `blocks` cuboids of `extent` cells with `ghosts` ghost layers, in one allocation,
// in values. A row is its even cells and, half() behind them, its odd ones (View); each half's high ghosts
// and the next one's low ghosts share the padding between them, so 64^3 with one layer costs 20 % more than
// its cells. Rows of at least 8 cells start on 64-byte boundaries. In two dimensions there is one plane,
// without ghosts below and above it, and the next one is the same again.
struct Shape {
    int blocks = 0;
    Index extent{};
    int ghosts = 0;
    int row = 0;
    std::ptrdiff_t plane = 0;
    std::ptrdiff_t block = 0;
    std::ptrdiff_t origin = 0;  // offset of cell (0,0,0) of block 0 from the start of the allocation

    static constexpr Shape of(int blocks, const Index& extent, int ghosts, std::size_t dimensions = 3) {
        Shape s{blocks, extent, ghosts};
        const std::ptrdiff_t behind = s.half() + s.odd_cells();  // the last cell of a row
        const int low = ghosts / 2;                              // even ghosts before the first
        s.row = static_cast<int>(aligned(behind + low, s.is_wide() ? 8 : 1));
        s.plane = dimensions == 2 ? 0 : std::ptrdiff_t{s.row} * (extent[1] + 2 * ghosts);
        s.origin = aligned(low + ghosts * (s.row + s.plane), 8);
        const std::ptrdiff_t last = ghosts - 1;  // behind the last row and plane
        s.block = aligned(s.origin + (extent[1] + last) * s.row + (extent[2] + last) * s.plane + behind, 8);
        return s;
    }

    // From an even cell to the odd one that follows it.
    constexpr int half() const {
        const int values =
            (extent[0] + ghosts + 1) / 2 + (ghosts + 1) / 2;  // even cells from 0 on, odd ghosts before 1
        return static_cast<int>(aligned(values, is_wide() ? 4 : 1));
    }
    constexpr std::size_t values() const { return static_cast<std::size_t>(blocks * block); }
    constexpr std::size_t bytes() const { return values() * sizeof(double); }  // if the values are doubles

  private:
    constexpr bool is_wide() const { return extent[0] >= 8; }
    constexpr int odd_cells() const { return (extent[0] + ghosts) / 2; }  // from 1 on, high ghosts among them
};

// A cheap handle; the operations that made it own the memory, which is the memory of their backend.
class Field {
  public:
    Field() = default;
    template <class Real>
    Field(Real* data, const Shape& shape) : data_(data), shape_(shape), precision_(precision_of<Real>) {}

    // The values, which must be Reals.
    template <class Real = double>
    Real* data() const {
        check(precision_ == precision_of<Real>, "an operation's fields have the precision that it works in");
        return static_cast<Real*>(data_);
    }
    template <class Real = double>
    ViewOf<Real> view() const {
        constexpr std::ptrdiff_t size = sizeof(Real);
        return {data<Real>() + shape_.origin, size * shape_.half() - size / 2, size * shape_.row,
                size * shape_.plane, size * shape_.block};
    }
    Precision precision() const { return precision_; }
    const Shape& shape() const { return shape_; }

    // The same field as a result: operations that know of it (operations.hpp) write this number of ghost
    // layers as well.
    Field with_ghosts(int layers) const {
        check_at_least(layers, 0, "a field has no fewer ghost layers than none");
        check_at_most(layers, shape_.ghosts, "a field has no more ghost layers than it was made with");
        Field field = *this;
        field.layers_ = layers;
        return field;
    }
    int layers() const { return layers_; }

    friend bool operator==(const Field& a, const Field& b) { return a.data_ == b.data_; }

  private:
    void* data_ = nullptr;
    Shape shape_{};
    int layers_ = 0;
    Precision precision_ = Precision::fp64;
};

}  // namespace keel
