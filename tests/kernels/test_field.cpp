#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

#include "tests/chosen_backend.hpp"

using namespace keel;

TEST_CASE("every cell and ghost cell of every box has a place of its own") {
    const int width = GENERATE(1, 2, 3, 5, 8, 12, 16);
    const int ghosts = GENERATE(1, 2, 3);
    const Shape shape = Shape::of(3, cube(width).size, ghosts);
    std::vector<double> memory(shape.values(), -1.0);
    const View view = Field(memory.data(), shape).view();
    const auto for_each = [&](const auto& action) {
        double number = 0;
        for (int q = 0; q < 3; ++q)
            for (int k = -ghosts; k < width + ghosts; ++k)
                for (int j = -ghosts; j < width + ghosts; ++j)
                    for (int i = -ghosts; i < width + ghosts; ++i) action(view(q, i, j, k), number++);
    };
    int outside = 0;
    for_each([&](double& value, double) {
        outside += &value < memory.data() || &value >= memory.data() + memory.size() ? 1 : 0;
    });
    REQUIRE(outside == 0);
    for_each([](double& value, double number) { value = number; });
    int wrong = 0;
    for_each([&](const double& value, double number) { wrong += value == number ? 0 : 1; });
    CHECK(wrong == 0);
}

TEST_CASE("every other cell of a row is the next value, counted from any ghost layer") {
    const int width = GENERATE(1, 2, 3, 8, 12);
    const int ghosts = GENERATE(1, 2, 3, 4);
    const Shape shape = Shape::of(2, cube(width).size, ghosts);
    std::vector<float> memory(shape.values());
    const ViewOf<float> view = Field(memory.data(), shape).view<float>();
    for (int layers = 0; layers <= ghosts; ++layers) {
        const ViewOf<float> shifted = view.from_ghost(layers);
        for (int i = 0; i < width + 2 * layers; ++i) {
            CHECK(&shifted(1, i, layers, layers) == &view(1, i - layers, 0, 0));
            if (i >= 2) CHECK(&shifted(1, i, layers, layers) == &shifted(1, i - 2, layers, layers) + 1);
        }
    }
}

TEST_CASE("rows of wide boxes begin on cache lines") {
    const int ghosts = GENERATE(1, 2, 3);
    for (const int width : {8, 12, 16, 64}) {
        const Shape shape = Shape::of(2, cube(width).size, ghosts);
        CHECK(shape.origin % 8 == 0);
        CHECK(shape.row % 8 == 0);
        CHECK(shape.plane % 8 == 0);
        CHECK(shape.block % 8 == 0);
    }
}

TEST_CASE("a field of 64^3 boxes with one ghost layer needs at most a quarter more than its cells") {
    const double cells = 8 * 64.0 * 64.0 * 64.0;
    CHECK(static_cast<double>(Shape::of(8, cube(64).size, 1).values()) < 1.25 * cells);
}

TEST_CASE("the fields of a backend are zero, aligned, and apart from each other") {
    const int width = GENERATE(3, 8, 12);
    const int ghosts = GENERATE(1, 2);
    const Layout layout({3, 1, 1}, width, Boundaries{}, {0, 1, 0}, 0);
    const auto operations = test::chosen_backend()->make_operations(layout, ghosts);
    std::vector<Field> fields;
    for (int n = 0; n < 10; ++n) fields.push_back(operations->make_field());
    const auto wrong = [&](const Field& field, double expected) {
        const test::HostField values(*operations, field);
        int count = 0;
        for (int q = 0; q < 2; ++q)
            for (int k = -ghosts; k < width + ghosts; ++k)
                for (int j = -ghosts; j < width + ghosts; ++j)
                    for (int i = -ghosts; i < width + ghosts; ++i)
                        count += values(q, i, j, k) == expected ? 0 : 1;
        return count;
    };
    for (const Field& field : fields) {
        CHECK(field.shape().blocks == 2);  // rank 0 has two
        CHECK(field.shape().extent == cube(width).size);
        CHECK(field.shape().ghosts == ghosts);
        CHECK(wrong(field, 0.0) == 0);
        int unaligned = 0;
        for (int q = 0; q < 2; ++q)
            for (int k = 0; k < width; ++k)
                for (int j = 0; j < width; ++j)
                    unaligned +=
                        reinterpret_cast<std::uintptr_t>(&field.view()(q, 0, j, k)) % 64 == 0 ? 0 : 1;
        if (width >= 8) CHECK(unaligned == 0);
    }
    for (std::size_t n = 0; n < fields.size(); ++n) operations->fill(fields[n], 1.0 + static_cast<double>(n));
    for (std::size_t n = 0; n < fields.size(); ++n)
        CHECK(wrong(fields[n], 1.0 + static_cast<double>(n)) == 0);
    CHECK(fields[0] == Field(fields[0]));
    CHECK_FALSE(fields[0] == fields[1]);
}
