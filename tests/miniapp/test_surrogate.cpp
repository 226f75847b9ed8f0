// What simulated operations are charged, without a simulation.

#include <catch2/catch.hpp>

#include "miniapp/setup/machine/simulation.hpp"

using namespace keel;

namespace {

Simulation simulation(const Compute& compute) {
    return {"platform", "machine", compute};
}

Simulation surrogate(const Compute& compute, int box, int computed, std::size_t dimensions = 3) {
    Simulation made = simulation(compute);
    made.surrogate = Surrogate{box, computed, dimensions};
    return made;
}

// Of an operation that moves 16 bytes and makes 2 flops a cell of a cube or a square.
Work work(int width, std::size_t dimensions) {
    double cells = 1;
    for (std::size_t d = 0; d < dimensions; ++d) cells *= width;
    return {2 * cells, 16 * cells};
}

constexpr Op on_cells[] = {Op::smooth, Op::residual, Op::restrict_, Op::interpolate, Op::vector};
constexpr Op on_faces[] = {Op::pack, Op::copy, Op::unpack, Op::boundary};

}  // namespace

TEST_CASE("without a surrogate work is charged what it takes, whatever it is for") {
    const Compute compute{1e9, 1e-6};
    const Price price = price_of(simulation(compute));
    for (const int level : {0, 1})
        for (const Op op : {Op::smooth, Op::pack, Op::bottom_vector}) {
            CHECK(price(op, level, {0, 5000}) == compute.time(1, {0, 5000}));
            CHECK(price(op, level, {0, 1}) == 1e-6);
        }
    CHECK_FALSE(price_of({}));
}

TEST_CASE("the finest level of a surrogate is charged what the levels that it stands for are") {
    // Launches, a cache that only narrow levels fit, and a limit by flops: each level has its own seconds.
    const Compute plain{1e9, 0};
    const Compute launches{1e9, 2e-6};
    const Compute caches{1e9, 1e-6, 5e8, Compute::Cache{20000, 8e9}};
    for (const std::size_t dimensions : {std::size_t{2}, std::size_t{3}})
        for (const Compute& compute : {plain, launches, caches})
            for (const auto& widths : {std::pair{64, 8}, {32, 16}, {8, 8}, {4, 2}}) {
                const int box = widths.first, computed = widths.second;
                INFO(dimensions << " dimensions, " << box << " by " << computed);
                const Price real = price_of(simulation(compute));
                const Price price = price_of(surrogate(compute, box, computed, dimensions));
                const auto of_levels = [&](Op op, std::size_t power) {
                    double seconds = 0;
                    int level = 0;
                    for (int width = box; width >= computed; width /= 2)
                        seconds += real(op, level++, work(width, power));
                    return seconds;
                };
                for (const Op op : on_cells)
                    CHECK(price(op, 0, work(computed, dimensions)) == Approx(of_levels(op, dimensions)));
                for (const Op op : on_faces)
                    CHECK(price(op, 0, work(computed, dimensions - 1)) ==
                          Approx(of_levels(op, dimensions - 1)));
                // The levels below, the bottom among them, are what they are.
                for (const Op op : {Op::smooth, Op::pack, Op::bottom_vector, Op::bottom_dots})
                    CHECK(price(op, 1, work(computed, 3)) == real(op, 1, work(computed, 3)));
            }
}

TEST_CASE("a surrogate of boxes of 8^3 for 64^3 is charged 585 times its work and 85 times its ghosts") {
    const Price price = price_of(surrogate({1e9, 0}, 64, 8));
    CHECK(price(Op::smooth, 0, {0, 1000}) == Approx(585e-6));  // 512 + 64 + 8 + 1
    CHECK(price(Op::pack, 0, {0, 1000}) == Approx(85e-6));     // 64 + 16 + 4 + 1
    const Surrogate boxes{64, 8, 3};
    CHECK(boxes.levels_above() == 3);
    CHECK(boxes.more_cells() == 512);
    CHECK(boxes.more_surface() == 64);
    CHECK(boxes.text() == "boxes of 64^3 are charged, 8^3 computed");
    CHECK(Surrogate{16, 16, 3}.levels_above() == 0);
}
