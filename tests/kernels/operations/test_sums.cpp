// Sums and maxima over the cells of each box: inner products, Gram matrices, totals and norms.

#include <array>
#include <limits>

#include "kernels/bodies/accurate_sums.hpp"
#include "kernels/bodies/vector.hpp"
#include "tests/kernels/boxes.hpp"

using namespace keel;
using namespace keel::test;

namespace {

// A box's sum of what a function says of its cells.
template <class Function>
double box_sum(const Boxes& x, int box, const Function& value) {
    double sum = 0;
    for_each_offset(x.layout.extent(), [&](const Index& at) { sum += value(x.cell(box, at)); });
    return sum;
}

struct GramFields {
    GramFields(Boxes& boxes, int n, int m, const std::function<Field(int)>& make) {
        for (int field = 0; field < n + m; ++field) all.push_back(make(field));
        x = std::span<const Field>(all).first(static_cast<std::size_t>(n));
        y = std::span<const Field>(all).last(static_cast<std::size_t>(m));
        pairs = gram_pairs(x.size(), y.size());
        cells = static_cast<double>(boxes.layout.local_cells());
    }
    std::vector<Field> all;
    std::span<const Field> x, y;
    std::size_t pairs;
    double cells;
};

}  // namespace

TEST_CASE("many inner products are formed in one call, box by box") {
    const int products = GENERATE(1, 2, 8, 9, 17);
    const int width = GENERATE(9, 80);
    const Boxes::Choice choice = Boxes::any(width);
    if (width == 80 && (choice.dimensions == 3 || products != 2)) return;
    Boxes x(choice);
    std::vector<Product> pairs;
    for (int n = 0; n < products; ++n) pairs.push_back({x.make(n), x.make(n + 1)});
    std::vector<double> sums(static_cast<std::size_t>(2 * products));
    x.operations->dots(pairs, sums);
    std::vector<double> totals(2);
    x.operations->totals(pairs[0].x, totals);
    const double tolerance = 1e-13 * static_cast<double>(x.layout.local_cells());
    for (int q = 0; q < 2; ++q) {
        for (int n = 0; n < products; ++n) {
            const double sum = box_sum(x, q, [n](const Cell& c) { return noise(n, c) * noise(n + 1, c); });
            CHECK(sums[static_cast<std::size_t>(2 * n + q)] == Approx(sum).epsilon(1e-12).margin(tolerance));
        }
        const double total = box_sum(x, q, [](const Cell& c) { return noise(0, c); });
        CHECK(totals[static_cast<std::size_t>(q)] == Approx(total).epsilon(1e-12).margin(tolerance));
    }
}

TEST_CASE("a Gram matrix is its inner products one by one, row by row, box by box") {
    // Slabs of many planes, of several that do not divide the box, of one, and rows longer than a tile of
    // cells.
    const int width = GENERATE(1, 3, 5, 8, 12, 130);
    const auto [n, m] = GENERATE(std::pair(1, 0), std::pair(3, 1), std::pair(9, 2), std::pair(17, 1));
    if (width == 130 && n != 1) return;
    Boxes f(Boxes::any(width));
    CAPTURE(width, n, m, f.dimensions);
    const GramFields of(f, n, m, [&](int field) { return f.make(field); });
    std::vector<Product> pairs;
    for (std::size_t i = 0; i < of.x.size(); ++i)
        for (std::size_t j = i; j < of.all.size(); ++j) pairs.push_back({of.all[i], of.all[j]});
    REQUIRE(pairs.size() == of.pairs);
    std::vector<double> expected(2 * pairs.size());
    f.operations->dots(pairs, expected);
    std::vector<double> sums(2 * pairs.size(), 7.0);
    const Work work = f.operations->gram(of.x, of.y, GramAccuracy::plain, sums);
    for (std::size_t i = 0; i < sums.size(); ++i)
        CHECK(sums[i] == Approx(expected[i]).epsilon(1e-12).margin(1e-13 * of.cells));

    // Every field is read once, whatever the number of products.
    CHECK(work.bytes == of.cells * 8.0 * (n + m));
    CHECK(work.flops == of.cells * 2.0 * static_cast<double>(pairs.size()));
    // The same fields again, and fewer of them: nothing is left over from the call before.
    std::vector<double> again(sums.size(), 7.0);
    f.operations->gram(of.x, of.y, GramAccuracy::plain, again);
    CHECK(again == sums);
    double square[2] = {7.0, 7.0};
    f.operations->gram(of.x.first(1), {}, GramAccuracy::plain, square);
    CHECK(square[0] == sums[0]);
    CHECK(square[1] == sums[1]);
}

TEST_CASE("an accurate Gram matrix is exact where twice a double's precision holds it") {
    // Integers of 2^40 and more, whose products no double holds; the sums of a box are compared as integers
    // of 128 bits.
    const int width = GENERATE(1, 3, 8);
    const auto [n, m] = GENERATE(std::pair(1, 0), std::pair(3, 1), std::pair(9, 2));
    Boxes f(Boxes::any(width));
    CAPTURE(width, n, m, f.dimensions);
    const auto value = [](int seed, const Index& cell) { return std::floor(0x1p44 * noise(seed, cell)); };
    const GramFields of(f, n, m, [&](int seed) {
        const Field field = f.make();
        f.operations->assign(field, f.cells(), [&](const Index& cell) { return value(seed, cell); });
        return field;
    });
    std::vector<double> sums(4 * of.pairs, 7.0);
    const Work work = f.operations->gram(of.x, of.y, GramAccuracy::doubled, sums);
    __extension__ using Integer = __int128;
    std::size_t pair = 0;
    bool rounded = false;  // by a sum in doubles
    for (int i = 0; i < n; ++i)
        for (int j = i; j < n + m; ++j, ++pair)
            for (std::size_t q = 0; q < 2; ++q) {
                Integer expected = 0;
                const double plain = box_sum(f, static_cast<int>(q), [&](const Cell& at) {
                    expected += static_cast<Integer>(value(i, at)) * static_cast<Integer>(value(j, at));
                    return value(i, at) * value(j, at);
                });
                const double high = sums[4 * pair + q], low = sums[4 * pair + 2 + q];
                CHECK((static_cast<Integer>(high) + static_cast<Integer>(low) == expected));
                CHECK(high + low == high);
                rounded = rounded || static_cast<Integer>(plain) != expected;
            }
    CHECK((rounded || width == 1));
    CHECK(work.bytes == of.cells * 8.0 * (n + m));
    CHECK(work.flops == of.cells * accurate_product_flops * static_cast<double>(of.pairs));
    std::vector<double> again(sums.size(), 7.0);
    f.operations->gram(of.x, of.y, GramAccuracy::doubled, again);
    CHECK(again == sums);
}

TEST_CASE("a box's inner product is the same to the last bit wherever the box lives") {
    // All together are enough cells for several threads; one box of 8^3 or 9^3 is not.
    const int width = GENERATE(8, 9, 16);
    const int ranks = GENERATE(3, 8);
    constexpr std::size_t products = 3;
    const auto box_sums = [&](const std::vector<int>& owners, int rank) {
        const Layout layout({2, 2, 2}, width, periodic, owners, rank);
        const auto operations = chosen_backend()->make_operations(layout, 1);
        const Field x = operations->make_field();
        const Field y = operations->make_field();
        operations->assign(x, cube(width), [](const Index& c) { return noise(3, c); });
        operations->assign(y, cube(width), [](const Index& c) { return noise(4, c); });
        const std::array<Product, products> pairs{Product{x, x}, Product{x, y}, Product{y, y}};
        const auto boxes = static_cast<std::size_t>(layout.local_count());
        std::vector<double> sums((4 * products + 1) * boxes);
        operations->dots(pairs, std::span(sums).first(products * boxes));
        const std::array<Field, 2> fields{x, y};
        operations->gram(fields, {}, GramAccuracy::plain,
                         std::span(sums).subspan(products * boxes, products * boxes));
        operations->gram(fields, {}, GramAccuracy::doubled,
                         std::span(sums).subspan(2 * products * boxes, 2 * products * boxes));
        operations->totals(x, std::span(sums).last(boxes));
        return sums;
    };
    const std::vector<double> together = box_sums(std::vector<int>(8, 0), 0);
    for (int rank = 0; rank < ranks; ++rank) {
        const auto owners = place({2, 2, 2}, ranks, Placement::round_robin);
        const Layout layout({2, 2, 2}, width, periodic, owners, rank);
        const auto boxes = static_cast<std::size_t>(layout.local_count());
        const std::vector<double> apart = box_sums(owners, rank);
        for (std::size_t n = 0; n <= 4 * products; ++n)
            for (std::size_t q = 0; q < boxes; ++q)
                CHECK(apart[n * boxes + q] == together[n * 8 + static_cast<std::size_t>(layout.local()[q])]);
    }
}

TEST_CASE("inner products, Gram matrices and totals refuse sums of the wrong length") {
    Boxes x(Boxes::any());
    const Field u = x.make(1);
    const Product square{u, u};
    std::array<double, 3> sums{};
    CHECK_THROWS_AS(x.operations->dots(std::span(&square, 1), sums), std::logic_error);
    CHECK_THROWS_AS(x.operations->gram(std::span(&u, 1), {}, GramAccuracy::plain, sums), std::logic_error);
    CHECK_THROWS_AS(x.operations->gram(std::span(&u, 1), {}, GramAccuracy::doubled, sums), std::logic_error);
    CHECK_THROWS_AS(x.operations->totals(u, sums), std::logic_error);
}

TEST_CASE("max_norm sees every cell, and that a value is not finite") {
    Boxes x(Boxes::any(9));
    const Field u = x.make(1);
    const int top = x.layout.extent()[2] - 1;
    const auto norm = [&] {
        double value = 0;
        x.operations->max_norm(u, value);
        return value;
    };
    for (const Index& at : {Index{0, 0, 0}, Index{8, 8, top}, Index{3, 8, top / 2}}) {
        x.poke(u, x.cell(1, at), -100.0 - at[0]);
        CHECK(norm() == 100.0 + at[0]);
        x.poke(u, x.cell(1, at), 0);
    }
    constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = HUGE_VAL;
    for (const double value : {nan, -nan, infinity, -infinity}) {
        x.poke(u, x.cell(0, {8, 0, 0}), value);
        CHECK(norm() == infinity);
    }
    // Ghosts do not count, the smallest numbers do.
    x.operations->fill(u, nan);
    x.operations->assign(u, x.cells(), [](const Index&) { return -0.0; });
    CHECK(norm() == 0.0);
    x.poke(u, x.cell(1, {4, 4, top / 2}), -std::numeric_limits<double>::denorm_min());
    CHECK(norm() == std::numeric_limits<double>::denorm_min());
}
