#pragma once

// One grid function on this rank's boxes of one level.

#include <cstddef>
#include <vector>

#include "kernels/check.hpp"
#include "kernels/view.hpp"

namespace keel {

// The storage of a field: `boxes` cubes of `width` cells with `ghosts` ghost layers, in one allocation.
// Rows of boxes at least 8 wide start on 64-byte boundaries; the high ghosts of a row and the low ghosts of
// the next share the padding between them, so 64^3 with one layer costs 20 % more than its cells.
struct Shape {
    int boxes = 0;
    int width = 0;
    int ghosts = 0;
    std::ptrdiff_t row = 0;
    std::ptrdiff_t plane = 0;
    std::ptrdiff_t box = 0;
    std::ptrdiff_t origin = 0;  // of cell (0,0,0) of box 0 behind the start of the allocation

    static constexpr Shape of(int boxes, int width, int ghosts) {
        const auto aligned = [](std::ptrdiff_t n) { return (n + 7) / 8 * 8; };
        const std::ptrdiff_t span = width + 2 * ghosts;
        Shape s{boxes, width, ghosts};
        s.row = width >= 8 ? aligned(span) : span;
        s.plane = s.row * span;
        s.origin = aligned(ghosts * (1 + s.row + s.plane));
        s.box = aligned(s.origin + (width + ghosts - 1) * (1 + s.row + s.plane) + 1);
        return s;
    }

    constexpr std::size_t values() const { return static_cast<std::size_t>(boxes * box); }
    constexpr std::size_t bytes() const { return values() * sizeof(double); }
};

// A cheap handle; the operations that made it own the memory, which is the memory of their backend.
class Field {
  public:
    Field() = default;
    Field(double* data, const Shape& shape) : data_(data), shape_(shape) {}

    double* data() const { return data_; }
    const Shape& shape() const { return shape_; }
    View view() const { return {data_ + shape_.origin, shape_.row, shape_.plane, shape_.box}; }

    // The same field as a result: operations that know of it (operations.hpp) write so many ghost layers as well.
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
    double* data_ = nullptr;
    Shape shape_{};
    int layers_ = 0;
};

}  // namespace keel
