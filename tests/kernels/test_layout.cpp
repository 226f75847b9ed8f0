#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <set>

#include "kernels/layout/layout.hpp"
#include "tests/boundaries.hpp"

using namespace keel;
using namespace keel::test;

TEST_CASE("most_cubic factors a number of boxes as close to a cube as it can be") {
    CHECK(most_cubic(16) == Index{4, 2, 2});
    CHECK(most_cubic(4096) == Index{16, 16, 16});
    CHECK_THROWS_AS(most_cubic(0), std::logic_error);
    for (int boxes = 1; boxes <= 150; ++boxes) {
        int smallest = boxes;
        for (int x = 1; x <= boxes; ++x)
            for (int y = 1; y <= x; ++y)
                for (int z = 1; z <= y; ++z)
                    if (x * y * z == boxes) smallest = std::min(smallest, x);
        const Index found = most_cubic(boxes);
        CHECK(product(found) == static_cast<std::size_t>(boxes));
        CHECK(found[0] == smallest);
        CHECK(found[0] >= found[1]);
        CHECK(found[1] >= found[2]);
    }
}

TEST_CASE("in two dimensions boxes are squares, most_cubic a square of them, and z says nothing") {
    CHECK(most_cubic(8, 2) == Index{4, 2, 1});
    CHECK(most_cubic(36, 2) == Index{6, 6, 1});
    CHECK(most_cubic(7, 2) == Index{7, 1, 1});
    const Boundaries walls{Boundary::dirichlet, Boundary::neumann, Boundary::dirichlet};
    const Domain domain({3, 2, 1}, walls, 2);
    const BoxFaces faces = faces_of(domain);
    CHECK(faces.interior == 7);
    CHECK(faces.outer == 10);
    CHECK(faces.dirichlet == 4);
    CHECK(faces.neumann == 6);
    CHECK_FALSE(
        Domain({3, 2, 1}, {Boundary::neumann, Boundary::periodic, Boundary::dirichlet}, 2).has_dirichlet());
    const Domain some({3, 2, 1}, walls, {0, 1, 3}, Boundary::dirichlet, 2);
    CHECK(faces_of(some).missing == 3);
    CHECK(components_of(some).size() == 1);
    const Layout layout(domain, 8, std::vector<int>(6, 0), 0);
    CHECK(layout.extent() == Index{8, 8, 1});
    CHECK(layout.cells() == Index{24, 16, 1});
    CHECK(layout.cell_count() == 6 * 64);
    CHECK(layout.coarsened().cells() == Index{12, 8, 1});
    CHECK(layout.spacing() == 1.0 / 24);
    CHECK(layout.first_cell(4) == Index{8, 8, 0});
    CHECK(layout.boundary_at(1, {3, 16, 0}) == Boundary::neumann);
    CHECK_FALSE(layout.boundary_at(0, {8, 3, 0}));
    CHECK_THROWS_AS(Domain({2, 2, 2}, walls, 2), std::logic_error);
    // Morton's order of a plane is that of a layer of cubes.
    CHECK(place(Domain({4, 4, 1}, {}, 2), 4, Placement::curve) == place({4, 4, 1}, 4, Placement::curve));
}

TEST_CASE("colours alternate unless a periodic direction has an odd number of cells") {
    const Boundaries x_walls{Boundary::dirichlet, {}, {}};
    CHECK(Layout({3, 2, 2}, 4, {}, std::vector<int>(12), 0).colours_alternate());
    CHECK(Layout({2, 2, 2}, 3, {}, std::vector<int>(8), 0).colours_alternate());
    CHECK_FALSE(Layout({3, 2, 2}, 3, {}, std::vector<int>(12), 0).colours_alternate());
    CHECK(Layout({3, 2, 2}, 3, x_walls, std::vector<int>(12), 0).colours_alternate());
    CHECK_FALSE(Layout({2, 2, 3}, 3, x_walls, std::vector<int>(12), 0).colours_alternate());
    CHECK(Layout(Domain({2, 2, 1}, {}, 2), 3, std::vector<int>(4), 0).colours_alternate());
}

TEST_CASE("every placement gives every rank its share of the boxes") {
    const auto placement =
        GENERATE(Placement::curve, Placement::lexicographic, Placement::round_robin, Placement::scattered);
    for (const Index boxes : {Index{1, 1, 1}, Index{2, 2, 2}, Index{3, 2, 1}, Index{5, 3, 2}})
        for (int ranks = 1; ranks <= static_cast<int>(product(boxes)) + 2; ++ranks) {  // also none for some
            const auto owners = place(boxes, ranks, placement);
            REQUIRE(owners.size() == product(boxes));
            std::vector<int> count(static_cast<std::size_t>(ranks));
            for (const int owner : owners) ++count.at(static_cast<std::size_t>(owner));
            const int least = static_cast<int>(product(boxes)) / ranks;
            CHECK(*std::min_element(count.begin(), count.end()) == least);
            CHECK(*std::max_element(count.begin(), count.end()) <= least + 1);
        }
}

TEST_CASE("the order of the boxes tells who owns them: in runs, in turn, or scattered") {
    CHECK(place({3, 2, 1}, 3, Placement::lexicographic) == std::vector<int>{0, 0, 1, 1, 2, 2});
    CHECK(place({3, 2, 1}, 4, Placement::round_robin) == std::vector<int>{0, 1, 2, 3, 0, 1});
    const auto scattered = place({4, 4, 2}, 4, Placement::scattered);
    CHECK(scattered == place({4, 4, 2}, 4, Placement::scattered));
    CHECK(scattered != place({4, 4, 2}, 4, Placement::lexicographic));
    CHECK(scattered != place({4, 4, 2}, 4, Placement::round_robin));
}

TEST_CASE("the curve keeps the boxes of a rank together") {
    const auto owners = place({4, 4, 4}, 8, Placement::curve);
    const Layout layout({4, 4, 4}, 8, periodic, owners, 0);
    for (int box = 0; box < layout.box_count(); ++box) {  // every rank owns a cube of 2^3
        const Index p = layout.position(box);
        CHECK(layout.owner(box) == p[0] / 2 + 2 * (p[1] / 2) + 4 * (p[2] / 2));
    }
}

TEST_CASE("the local boxes of all ranks are all boxes, each once") {
    const auto owners = place(
        {3, 2, 2}, 5,
        GENERATE(Placement::curve, Placement::lexicographic, Placement::round_robin, Placement::scattered));
    std::vector<int> all;
    for (int rank = 0; rank < 5; ++rank) {
        const Layout layout({3, 2, 2}, 4, periodic, owners, rank);
        for (int q = 0; q < layout.local_count(); ++q) {
            const int box = layout.local()[static_cast<std::size_t>(q)];
            CHECK(layout.owner(box) == rank);
            CHECK(layout.local_index(box) == q);
            all.push_back(box);
        }
        CHECK(layout.local_cells() == static_cast<std::size_t>(layout.local_count()) * 64);
        for (int box = 0; box < layout.box_count(); ++box)
            if (layout.owner(box) != rank) CHECK_THROWS_AS(layout.local_index(box), std::logic_error);
    }
    std::sort(all.begin(), all.end());
    std::vector<int> expected(12);
    std::iota(expected.begin(), expected.end(), 0);
    CHECK(all == expected);
}

TEST_CASE("the neighbour at any offset is the box that holds the wrapped cell there") {
    const Boundaries wall_in_x{Boundary::neumann, Boundary::periodic, Boundary::periodic};
    const Boundaries walls{Boundary::dirichlet, Boundary::neumann, Boundary::dirichlet};
    for (const Boundaries& boundaries : {periodic, mixed, wall_in_x, walls})
        for (const Index boxes : {Index{1, 1, 1}, Index{2, 1, 4}, Index{3, 5, 2}}) {
            const Layout layout(boxes, 2, boundaries, std::vector<int>(product(boxes), 0), 0);
            for (int box = 0; box < layout.box_count(); ++box)
                for (int code = 0; code < 7 * 7 * 7; ++code) {
                    const Index offset{code % 7 - 3, code / 7 % 7 - 3, code / 49 - 3};
                    Index at = layout.position(box) + offset;
                    bool inside = true;
                    for (std::size_t d = 0; d < 3; ++d) {
                        if (boundaries[d] == Boundary::periodic) at[d] = (at[d] + 12 * boxes[d]) % boxes[d];
                        inside = inside && at[d] >= 0 && at[d] < boxes[d];
                    }
                    const auto neighbour = layout.neighbour(box, offset);
                    REQUIRE(neighbour.has_value() == inside);
                    if (inside) REQUIRE(layout.position(*neighbour) == at);
                }
        }
}

TEST_CASE("a coarsened layout has the same boxes at half the width and twice the spacing") {
    const Layout fine({3, 2, 1}, 6, mixed, std::vector<int>(6, 0), 0);
    const Layout coarse = fine.coarsened();
    CHECK(coarse.width() == 3);
    CHECK(coarse.cells() == Index{9, 6, 3});
    CHECK(fine.spacing() == 1.0 / 18);
    CHECK(coarse.spacing() == 2 * fine.spacing());
    CHECK(coarse.first_cell(5) == Index{6, 3, 0});
    CHECK(coarse.cell_count() == 9 * 6 * 3);
    CHECK(coarse.boundaries() == mixed);
    CHECK_THROWS_AS(coarse.coarsened(), std::logic_error);
    CHECK_THROWS_AS(Layout({3, 2, 1}, 6, mixed, std::vector<int>(5, 0), 0), std::logic_error);
}
