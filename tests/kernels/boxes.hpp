#pragma once

// Boxes side by side, in two or three dimensions, whose every value is known. The tests of operations read
// and write their fields.

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <memory>

#include "tests/boundaries.hpp"
#include "tests/chosen_backend.hpp"

namespace keel::test {

// The value of a cell in a field that goes by a number. Field 14 is one over a diagonal, far from 0.
inline double noise(int field, const Index& c) {
    if (field == 14) return 1 / (3 + noise(15, c));
    return std::sin(1.3 * c[0] + 2.1 * c[1] * c[1] + 0.7 * c[2] * c[0] + 5.0 * field) + 0.1 * field;
}

inline constexpr double rounding = 1e-13;

// |a - b|, infinite where one of them is not a number: a maximum must not overlook that.
inline double gap(double a, double b) {
    return std::isnan(a) || std::isnan(b) ? HUGE_VAL : std::abs(a - b);
}

template <class Action>
void for_each_offset(const Index& size, const Action& action) {
    for (int k = 0; k < size[2]; ++k)
        for (int j = 0; j < size[1]; ++j)
            for (int i = 0; i < size[0]; ++i) action(Index{i, j, k});
}

inline Index step(std::size_t direction) {
    Index one{};
    one[direction] = 1;
    return one;
}

inline bool inside(const Region& region, const Index& at) {
    bool is = true;
    for (std::size_t d = 0; d < 3; ++d)
        is = is && at[d] >= region.lo[d] && at[d] < region.lo[d] + region.size[d];
    return is;
}

// A cell or ghost cell by its box, its place in the box, and its place in the domain.
struct Cell {
    int box;
    Index at;
    Index global;

    operator const Index&() const { return global; }
    Cell operator+(const Index& by) const { return {box, at + by, global + by}; }
    bool has(Colour colour) const {
        return ((global[0] + global[1] + global[2]) & 1) == static_cast<int>(colour);
    }
};

// A copy of a field on the host, ghosts included.
struct Values : HostField {
    using HostField::HostField;
    using HostField::operator();
    double operator()(const Cell& c) const { return (*this)(c.box, c.at[0], c.at[1], c.at[2]); }
    double& operator()(const Cell& c) { return (*this)(c.box, c.at[0], c.at[1], c.at[2]); }
};

struct Boxes {
    struct Choice {
        int width = 5;
        int ghosts = 1;
        int dimensions = 3;
        Storage storage = Storage::boxes;
        int boxes = 2;
        Precision precision = Precision::fp64;
        Precision faces = Precision::fp32;  // the faces of operators in single precision
    };
    // Each kind in turn: in two and three dimensions, alone and in a block.
    static Choice any(int width = 5, int ghosts = 1) {
        return {width, ghosts, GENERATE(3, 2), GENERATE(Storage::boxes, Storage::blocks)};
    }
    // Boxes alone, for tests that tell a box's ghosts from its neighbour's cells.
    static Choice alone(int width = 5, int ghosts = 1) { return {width, ghosts, GENERATE(3, 2)}; }

    Boxes(const Choice& choice, std::shared_ptr<Backend> same = chosen_backend())
        : chosen(choice),
          width(choice.width),
          dimensions(static_cast<std::size_t>(choice.dimensions)),
          layout(Domain({choice.boxes, 1, 1}, {}, choice.dimensions), choice.width,
                 std::vector<int>(static_cast<std::size_t>(choice.boxes), 0), 0),
          backend(std::move(same)),
          operations(
              choice.precision == Precision::fp64
                  ? backend->make_operations(layout, choice.ghosts, choice.storage)
                  : backend->make_cycle_operations(layout, choice.ghosts, choice.storage, choice.faces)) {}
    // The level below, of so many ghost layers.
    Boxes coarsened(int ghosts = 1) const {
        Choice coarse = chosen;
        coarse.width /= 2;
        coarse.ghosts = ghosts;
        return {coarse, backend};
    }

    Region cells(int layers = 0) const {
        const Index around = layout.layers(layers);
        return {-around, layout.extent() + 2 * around};
    }
    Cell cell(int box, const Index& at) const { return {box, at, at + Index{box * width, 0, 0}}; }
    template <class Action>
    void for_each_cell(const Action& action, int layers = 0) const {
        const auto [first, size] = cells(layers);
        for (int box = 0; box < chosen.boxes; ++box)
            for_each_offset(size, [&](const Index& offset) { action(cell(box, first + offset)); });
    }

    Field make() { return operations->make_field(); }
    Field make(int number) {
        const Field field = make();
        operations->assign(field, cells(chosen.ghosts),
                           [number](const Index& c) { return noise(number, c); });
        return field;
    }
    Values on_host(Field u) const { return {*operations, u}; }
    void poke(Field u, const Cell& there, double value) {
        const Values before = on_host(u);
        operations->assign(u, {there.at, {1, 1, 1}}, [&](const Index& c) {
            return c == there.global ? value : before(1 - there.box, there.at[0], there.at[1], there.at[2]);
        });
    }

    // Faces of fields 11, 12 and 13, with the diagonal of field 14.
    Stencil stencil() { return {make(11), make(12), dimensions == 2 ? Field() : make(13), make(14)}; }
    template <class Function>
    double neighbours(const Cell& c, const Function& u) const {
        double sum = 0;
        for (std::size_t d = 0; d < dimensions; ++d) {
            const int face = 11 + static_cast<int>(d);
            sum += noise(face, c) * u(c + -step(d)) + noise(face, c + step(d)) * u(c + step(d));
        }
        return sum;
    }
    template <class Function>
    double L(const Cell& c, const Function& u) const {
        return u(c) / noise(14, c) - neighbours(c, u);
    }
    double gauss_seidel(const Cell& c, const Values& u, const Values& f) const {
        return (f(c) + neighbours(c, u)) * noise(14, c);
    }

    // The largest difference between a field and what a function of the cell says, or another field.
    template <class Expected>
    double difference(Field field, const Expected& expected, int layers = 0) const {
        const Values values = on_host(field);
        double worst = 0;
        for_each_cell([&](const Cell& c) { worst = std::max(worst, gap(values(c), expected(c))); }, layers);
        return worst;
    }
    double difference(Field field, Field other, int layers = 0) const {
        return difference(field, on_host(other), layers);
    }

    Choice chosen;
    int width;
    std::size_t dimensions;
    Layout layout;
    std::shared_ptr<Backend> backend;
    std::unique_ptr<Operations> operations;
};

}  // namespace keel::test
