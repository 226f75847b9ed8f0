// Operations cell by cell: combinations, products, roots and selections, and values by formula.

#include <array>

#include "kernels/bodies/vector.hpp"
#include "tests/kernels/boxes.hpp"

using namespace keel;
using namespace keel::test;

TEST_CASE("combine takes any number of terms, also y itself") {
    const int terms = GENERATE(1, 2, 3, 7, 8, 9, 15, 16, 20);
    Boxes x(Boxes::any());
    std::vector<Field> fields;
    std::vector<double> c;
    for (int n = 0; n < terms; ++n) {
        fields.push_back(x.make(n));
        c.push_back(0.5 + n);
    }
    const auto sum = [&](const Cell& cell) {
        double total = 0;
        for (int n = 0; n < terms; ++n) total += (0.5 + n) * noise(n, cell);
        return total;
    };
    const Field y = x.make();
    x.operations->combine(y, c, fields);
    CHECK(x.difference(y, sum) < 1e-11);
    for (std::size_t own = 0; own < fields.size(); ++own) {  // y in any place among the x
        const Field before = x.make(static_cast<int>(own));
        x.operations->combine(fields[own], c, fields);
        CHECK(x.difference(fields[own], sum) < 1e-11);
        fields[own] = before;
    }
}

TEST_CASE("combine takes y among its terms more than once") {
    const std::size_t terms = static_cast<std::size_t>(GENERATE(3, 9, 12, 20));
    Boxes x(Boxes::any());
    const Field y = x.make(1);
    std::vector<Field> fields(terms, x.make(2));
    fields[1] = y;
    fields.back() = y;
    x.operations->combine(y, std::vector<double>(terms, 0.5), fields);
    CHECK(x.difference(y, [&](const Cell& c) {
        return noise(1, c) + 0.5 * static_cast<double>(terms - 2) * noise(2, c);
    }) < 1e-12);
}

TEST_CASE("combine refuses no terms, and coefficients that are not one per field") {
    Boxes x(Boxes::any());
    const Field y = x.make(1);
    const std::array c{1.0, 2.0};
    CHECK_THROWS_AS(x.operations->combine(y, c, std::span(&y, 1)), std::logic_error);
    CHECK_THROWS_AS(x.operations->combine(y, {}, {}), std::logic_error);
}

TEST_CASE("the other vector operations") {
    Boxes x(Boxes::any());
    const Field a = x.make(1), b = x.make(2), y = x.make();
    Operations& make = *x.operations;
    const auto is = [&](const auto& expected) { return x.difference(y, expected) < rounding; };
    make.multiply(y, a, b);
    CHECK(is([](const Cell& c) { return noise(1, c) * noise(2, c); }));
    make.divide(y, a, x.make(14));
    CHECK(is([](const Cell& c) { return noise(1, c) / noise(14, c); }));
    make.multiply(y, a, a);
    make.square_root(y, y);
    CHECK(is([](const Cell& c) { return std::abs(noise(1, c)); }));
    make.copy(y, a);
    make.shift(y, 2.5);
    CHECK(is([](const Cell& c) { return noise(1, c) + 2.5; }));
    make.axpby(y, 2.0, a, -3.0, b);
    CHECK(is([](const Cell& c) { return 2 * noise(1, c) - 3 * noise(2, c); }));
    make.scale(y, -0.5, a);
    CHECK(is([](const Cell& c) { return -0.5 * noise(1, c); }));
    make.fill(y, 7.0);
    CHECK(x.difference(
              y, [](const Cell&) { return 7.0; }, 1) == 0);
}

TEST_CASE("selected are the cells where a field has the value that is wanted, zeros elsewhere") {
    Boxes x(Boxes::any());
    const Field u = x.make(1), y = x.make(2), column = x.make();
    const Values values = x.on_host(u);
    const auto column_of = [](const Index& cell) { return (cell[0] + 2 * cell[1] + 3 * cell[2]) % 3; };
    x.operations->assign(column, x.layout.box_cells(), column_of);
    const auto selected = [&](int wanted) {
        return [&, wanted](const Cell& c) { return column_of(c) == wanted ? values(c) : 0.0; };
    };
    for (const int wanted : {0, 1, 2}) {
        x.operations->map(y, Select{static_cast<double>(wanted)}, u, column);
        CHECK(x.difference(y, selected(wanted)) == 0.0);
    }
    x.operations->map(u, Select{1.0}, u, column);  // in place
    CHECK(x.difference(u, selected(1)) == 0.0);
}

TEST_CASE("a formula is assigned by global index and read box by box, x fastest") {
    const int width = GENERATE(1, 4, 5);
    const int dimensions = GENERATE(2, 3);
    const auto formula = [](const Index& c) { return c[0] + 100.0 * c[1] + 10000.0 * c[2]; };
    const Domain domain({3, 2, dimensions == 2 ? 1 : 2}, periodic, dimensions);
    const auto owners = place(domain, 3, Placement::round_robin);
    for (int rank = 0; rank < 3; ++rank) {
        const Layout layout(domain, width, owners, rank);
        const auto operations = chosen_backend()->make_operations(layout, 1);
        const Field u = operations->make_field();
        operations->assign(u, layout.box_cells(), formula);
        std::vector<double> expected;
        for (const int box : layout.local())
            for_each_offset(layout.extent(), [&](const Index& at) {
                expected.push_back(formula(layout.first_cell(box) + at));
            });
        CHECK(operations->read(u, layout.box_cells()) == expected);
    }
}

TEST_CASE("a field of a plane has one plane and no ghosts below and above it") {
    const Shape plane = Shape::of(3, {16, 16, 1}, 2, 2);
    CHECK(plane.values() < 3 * 24 * 24);
    CHECK(Shape::of(3, {16, 16, 16}, 2).values() > 10 * plane.values());
    Boxes x({.width = 4, .ghosts = 2, .dimensions = 2});
    const Field u = x.make(1);
    CHECK(u.shape().extent[2] == 1);
    CHECK(x.layout.layers(2) == Index{2, 2, 0});
    CHECK(x.layout.local_cells() == 32);
    CHECK(x.difference(
              u, [](const Cell& c) { return noise(1, c); }, 2) == 0.0);
}
