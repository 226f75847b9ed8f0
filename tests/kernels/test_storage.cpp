#include <catch2/catch.hpp>

#include "kernels/layout/storage.hpp"
#include "tests/boundaries.hpp"
#include "tests/chosen_backend.hpp"

using namespace keel;
using namespace keel::test;

namespace {

// All boxes on rank 0 but those that are named.
Layout layout(const Index& boxes, int width, std::vector<int> elsewhere = {}) {
    std::vector<int> owners(product(boxes), 0);
    for (const int box : elsewhere) owners[static_cast<std::size_t>(box)] = 1;
    return {boxes, width, periodic, owners, 0};
}

}  // namespace

TEST_CASE("boxes that fill a cuboid are one block, or as many as leave each thread rows of whole boxes") {
    const Layout grid = layout({2, 4, 2}, 8);
    const Arrangement one = arrange(grid, Storage::blocks, 1);
    CHECK(one.blocks() == 1);
    CHECK(one.extent == Index{16, 32, 16});
    CHECK(one.windows.back().at == Index{8, 24, 8});

    for (const int threads : {2, 3, 4, 9})  // for 9 there are no more than 8
        CHECK(arrange(grid, Storage::blocks, threads).extent == Index{16, 32, 16});
    const Arrangement two = arrange(grid, Storage::blocks, 5);
    CHECK(two.blocks() == 2);
    CHECK(two.extent == Index{16, 32, 8});
    CHECK(two.first_cells == std::vector<Index>{{0, 0, 0}, {0, 0, 8}});
    CHECK(two.windows.back().block == 1);
    CHECK(two.windows.back().at == Index{8, 24, 0});

    CHECK(arrange(layout({2, 2, 6}, 8), Storage::blocks, 8).extent ==
          Index{16, 16, 8});  // 6, for 4 do not divide

    const auto of_plane = [](int threads) {
        const Layout plane(Domain({2, 4, 1}, periodic, 2), 8, std::vector<int>(8, 0), 0);
        return arrange(plane, Storage::blocks, threads).blocks();
    };
    CHECK(of_plane(2) == 2);
    CHECK(of_plane(3) == 1);
}

TEST_CASE("boxes that fill no cuboid stay alone, as all do unless blocks are wanted") {
    const Layout corner = layout({2, 2, 2}, 4, {3});
    for (const Arrangement& alone :
         {arrange(corner, Storage::blocks, 1), arrange(layout({2, 2, 2}, 4, {7}), Storage::boxes, 2)}) {
        CHECK(alone.blocks() == 7);
        CHECK(alone.extent == Index{4, 4, 4});
        for (int q = 0; q < 7; ++q) {
            CHECK(alone.windows[static_cast<std::size_t>(q)].block == q);
            CHECK(alone.windows[static_cast<std::size_t>(q)].at == Index{});
        }
    }
    CHECK(arrange(layout({1, 1, 1}, 4, {0}), Storage::blocks, 1).blocks() == 0);
    CHECK(arrange(layout({4, 2, 1}, 4, {0, 1, 2, 3}), Storage::blocks, 1).first_cells ==
          std::vector<Index>{{0, 4, 0}});
}

TEST_CASE("in a block a box sees its neighbours' cells as ghosts, and copies none of them") {
    const auto backend = test::chosen_backend();
    const Layout grid = layout({2, 2, 1}, 3);
    const auto operations = backend->make_operations(grid, 2, Storage::blocks);
    const Field u = operations->make_field();
    const auto number = [](const Index& c) { return c[0] + 10.0 * c[1] + 100.0 * c[2]; };
    operations->assign(u, cube(3), number);

    const std::vector<double> seen = operations->read(u, {{3, 0, 1}, {2, 3, 1}});  // beyond the upper x face
    REQUIRE(seen.size() == 4 * 6);
    CHECK(seen[0] == number({3, 0, 1}));  // ghosts of box 0 are cells of box 1
    CHECK(seen[5] == number({4, 2, 1}));
    CHECK(seen[6] == 0.0);  // ghosts of box 1 beyond the block

    const Region from{{0, 0, 0}, {2, 3, 3}}, to{{3, 0, 0}, {2, 3, 3}};
    const std::vector<BlockCopy> copies{BlockCopy::local(1, from, 0, to.lo),
                                        BlockCopy::local(0, from, 1, to.lo)};  // the second goes round
    const Items<BlockCopy> kept = operations->make_items(std::span(copies));
    CHECK(kept.count == 1);
    operations->copy_blocks(std::span(&u, 1), kept, std::span(&u, 1), {});
    const std::vector<double> after = operations->read(u, {{3, 0, 1}, {2, 3, 1}});
    CHECK(after[6] == number({0, 0, 1}));
    CHECK(after[11] == number({1, 2, 1}));
}

TEST_CASE("ghosts that boxes of a block have in common are written once") {
    const auto backend = test::chosen_backend();
    const Layout grid = layout({2, 2, 1}, 3);
    // The lower y face of box 0, and of the same ghosts those that box 1 has beyond its lower x-y edge.
    const Region face{{0, -2, 0}, {3, 2, 3}}, edge{{-2, -2, 0}, {2, 2, 3}}, inside{{0, 0, 0}, {2, 2, 3}};
    const std::vector<BlockCopy> packed{BlockCopy::pack(1, edge, 0), BlockCopy::pack(0, face, 12)};
    const std::vector<BlockCopy> unpacked{packed[0].reversed(), packed[1].reversed()};
    const std::vector<BlockCopy> copies{BlockCopy::local(2, inside, 1, edge.lo),
                                        BlockCopy::local(2, {{0, 1, 0}, {3, 2, 3}}, 0, face.lo)};
    const std::vector<BoundaryItem> outside{{1, edge, {0, -1, 0}}, {0, face, {0, -1, 0}}};
    const auto in_blocks = backend->make_operations(grid, 2, Storage::blocks);
    CHECK(in_blocks->make_items(std::span(packed)).cells == 30);  // messages bring both
    CHECK(in_blocks->make_items(std::span(unpacked)).cells == 18);
    CHECK(in_blocks->make_items(std::span(copies)).cells == 18);
    CHECK(in_blocks->make_items(std::span(outside)).cells == 18);
    const auto alone = backend->make_operations(grid, 2, Storage::boxes);
    CHECK(alone->make_items(std::span(unpacked)).cells == 30);
    CHECK(alone->make_items(std::span(copies)).cells == 30);
    CHECK(alone->make_items(std::span(outside)).cells == 30);
}
