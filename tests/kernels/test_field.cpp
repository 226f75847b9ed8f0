#include <catch2/catch.hpp>
#include <vector>

#include "kernels/field.hpp"

using namespace keel;

TEST_CASE("every cell and ghost cell of every box has a place of its own") {
    const int width = GENERATE(1, 2, 3, 5, 8, 12, 16);
    const int ghosts = GENERATE(1, 2, 3);
    const Shape shape = Shape::of(3, width, ghosts);
    std::vector<double> memory(shape.values(), -1.0);
    const View view = Field(memory.data(), shape).view();
    const auto for_each = [&](const auto& action) {
        double number = 0;
        for (int q = 0; q < 3; ++q)
            for (int k = -ghosts; k < width + ghosts; ++k)
                for (int j = -ghosts; j < width + ghosts; ++j)
                    for (int i = -ghosts; i < width + ghosts; ++i) action(view(q, i, j, k), number++);
    };
    for_each([&](double& value, double number) {
        REQUIRE(&value >= memory.data());
        REQUIRE(&value < memory.data() + memory.size());
        value = number;
    });
    int wrong = 0;
    for_each([&](const double& value, double number) { wrong += value == number ? 0 : 1; });
    CHECK(wrong == 0);
}

TEST_CASE("rows of wide boxes begin on cache lines") {
    for (const int width : {8, 12, 16, 64}) {
        const Shape shape = Shape::of(2, width, 1);
        CHECK(shape.origin % 8 == 0);
        CHECK(shape.row % 8 == 0);
        CHECK(shape.plane % 8 == 0);
        CHECK(shape.box % 8 == 0);
    }
}

TEST_CASE("a field of 64^3 boxes with one ghost layer needs at most a quarter more than its cells") {
    const double cells = 8 * 64.0 * 64.0 * 64.0;
    CHECK(static_cast<double>(Shape::of(8, 64, 1).values()) < 1.25 * cells);
}
