// Plans for any number of virtual ranks: no message is sent here.

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "comm/plans/schemes.hpp"
#include "tests/boundaries.hpp"

using namespace keel;
using namespace keel::test;

namespace {

template <class Action>
void for_each_cell(const Region& region, const Action& action) {
    for (int k = 0; k < region.size[2]; ++k)
        for (int j = 0; j < region.size[1]; ++j)
            for (int i = 0; i < region.size[0]; ++i) action(Index{i, j, k});
}

// The values of each message that a rank sends.
std::vector<std::size_t> sent_by(const GhostPattern& pattern) {
    const int rank = pattern.layout().rank();
    const Topology nodes = virtual_topology(pattern.layout().box_count(), 1);
    std::vector<std::size_t> sent;
    make_plan(pattern, nodes, {}, rank).for_each_phase([&](const PhaseMessages& phase) {
        for (const Message& message : phase.messages)
            if (message.source == rank) sent.push_back(message.values());
    });
    return sent;
}

}  // namespace

TEST_CASE(
    "a box among boxes of other ranks has one message a neighbour, as large as its share of the ghosts") {
    const int depth = GENERATE(1, 2, 3);
    constexpr int n = 4;
    const auto each_sends = [&](const Index& boxes, Neighbours neighbours, std::size_t messages, int values) {
        const int ranks = static_cast<int>(product(boxes));
        for (int rank = 0; rank < ranks; ++rank) {
            const Layout layout(boxes, n, periodic, place(boxes, ranks, Placement::curve), rank);
            const auto sent = sent_by(ghost_pattern(layout, depth, neighbours));
            CHECK(sent.size() == messages);
            CHECK(std::accumulate(sent.begin(), sent.end(), std::size_t{0}) ==
                  static_cast<std::size_t>(values));
        }
    };
    const int around = n + 2 * depth;
    each_sends({3, 3, 3}, Neighbours::faces, 6, 6 * n * n * depth);
    each_sends({3, 3, 3}, Neighbours::all, 26, around * around * around - n * n * n);
    // With two boxes in a periodic direction both sides are the same neighbour: still one message, and what
    // both sides need, where the ghosts are deeper than half a box, goes once.
    const int layers = std::min(2 * depth, n);
    each_sends({2, 2, 2}, Neighbours::all, 7,
               3 * n * n * layers + 3 * n * layers * layers + layers * layers * layers);
    // With one there is no message at all.
    each_sends({1, 1, 1}, Neighbours::all, 0, 0);
    CHECK(ghost_pattern({{1, 1, 1}, n, periodic, {0}, 0}, depth, Neighbours::all).copies().size() == 26);
}

TEST_CASE("a rank sends a cell once to each rank that needs it, however many of its boxes do") {
    // Rank 0 owns one box, rank 1 the three around one of its edges: the cells on that edge are needed by all
    // three.
    const Layout layout({2, 2, 1}, 4, dirichlet, {0, 1, 1, 1}, 0);
    const GhostPattern pattern = ghost_pattern(layout, 1, Neighbours::all);
    CHECK(pattern.sends().size() == 3);
    CHECK(sent_by(pattern) == std::vector<std::size_t>{2 * 16 - 4});
}

TEST_CASE("ghosts deeper than a box are refused") {
    const Layout layout({2, 2, 2}, 2, periodic, std::vector<int>(8, 0), 0);
    CHECK_THROWS_AS(ghost_pattern(layout, 3, Neighbours::faces), std::logic_error);
    CHECK_THROWS_AS(ghost_pattern(layout, 0, Neighbours::faces), std::logic_error);
}

TEST_CASE("ghosts that another box of a union has as its cells are not outside the domain") {
    // Next to the four boxes of a block in x there is one box; the three beside it are missing.
    constexpr int width = 4;
    const Domain domain({2, 2, 2}, dirichlet, {0, 2, 4, 6, 7}, Boundary::dirichlet);
    const Layout layout(domain, width, {0, 0, 0, 0, 1}, 0);
    int found = 0;
    for (const BoundaryItem& item : boundary_ghosts(layout)) {
        const Index at =
            layout.first_cell(layout.local()[static_cast<std::size_t>(item.box)]) + item.cells.lo;
        const bool in_present =
            at[0] == width && at[1] >= width && at[2] >= width && at[1] < 2 * width && at[2] < 2 * width;
        CHECK_FALSE(in_present);
        ++found;
    }
    CHECK(found > 0);
}

TEST_CASE("the ghosts outside the domain are those that no neighbour fills") {
    constexpr int width = 3;
    const int depth = GENERATE(1, 2, 3);
    const Index boxes = GENERATE(Index{1, 1, 1}, Index{2, 1, 1}, Index{3, 2, 2});
    const int ranks = GENERATE(1, 3);
    const Boundaries neumann_x{Boundary::neumann, Boundary::periodic, Boundary::periodic};
    for (const Boundaries& boundaries : {periodic, mixed, dirichlet, neumann_x})
        for (int rank = 0; rank < ranks; ++rank) {
            const Layout layout(boxes, width, boundaries, place(boxes, ranks, Placement::round_robin), rank);
            std::map<std::tuple<int, int, int, int>, Index> outside;  // by ghost, the cell that it leads to
            for (const BoundaryItem& item : boundary_ghosts(layout, depth))
                for_each_cell(item.cells, [&](const Index& c) {
                    const Index g = item.cells.lo + c;
                    CHECK(outside.insert({{item.box, g[0], g[1], g[2]}, item.outward}).second);
                });
            std::size_t expected = 0;
            for (int q = 0; q < layout.local_count(); ++q)
                for_each_cell({{}, cube(width, depth).size}, [&](const Index& offset) {
                    const Index c = offset + Index{-depth, -depth, -depth};
                    const Index first = layout.first_cell(layout.local()[static_cast<std::size_t>(q)]);
                    Index outward{};
                    for (std::size_t d = 0; d < 3; ++d) {
                        if (boundaries[d] == Boundary::periodic) continue;
                        if (first[d] + c[d] < 0) outward[d] = -1;
                        if (first[d] + c[d] >= layout.cells()[d]) outward[d] = 1;
                    }
                    if (outward == Index{}) return;
                    ++expected;
                    const auto found = outside.find({q, c[0], c[1], c[2]});
                    REQUIRE(found != outside.end());
                    REQUIRE(found->second == outward);
                });
            CHECK(outside.size() == expected);
        }
}

TEST_CASE("the items of a box are its cells, cut so that every source is a union of them") {
    const int width = GENERATE(1, 2, 3, 4, 7, 8);
    const int longest = GENERATE(1, 2, 3, 100);
    for (int depth = 1; depth <= width; ++depth) {
        const Layout layout({2, 1, 1}, width, periodic, {0, 1}, 0);
        const GhostPattern pattern(layout, depth, Neighbours::all, longest);
        std::vector<int> covered(product(cube(width).size));
        Item last{-1, 1, 0};
        for (const Item& item : pattern.items(1, cube(width))) {
            CHECK(last < item);
            last = item;
            CHECK(item.owner == 1);
            CHECK(pattern.box(item) == 1);
            const Region cells = pattern.region(item);
            CHECK(cells.cells() == static_cast<std::size_t>(item.values));
            for (const int length : cells.size) CHECK((length >= 1 && length <= longest));
            for_each_cell(cells, [&](const Index& c) {
                const Index at = cells.lo + c;
                ++covered.at(static_cast<std::size_t>(at[0] + width * (at[1] + width * at[2])));
            });
        }
        CHECK(std::all_of(covered.begin(), covered.end(), [](int times) { return times == 1; }));
        for (const GhostRegion& ghosts : pattern.receives()) {
            std::size_t cells = 0;
            for (const Item& item : pattern.items(ghosts.from, ghosts.source)) {
                const Region part = pattern.region(item);
                for (std::size_t d = 0; d < 3; ++d)
                    CHECK((part.lo[d] >= ghosts.source.lo[d] &&
                           part.lo[d] + part.size[d] <= ghosts.source.lo[d] + ghosts.source.size[d]));
                cells += part.cells();
            }
            CHECK(cells == ghosts.source.cells());
        }
    }
}

TEST_CASE("virtual nodes are slices of the ranks, the last one possibly smaller") {
    const Topology topology = virtual_topology(8, 3);
    CHECK(topology.node_of() == std::vector<int>{0, 0, 0, 1, 1, 1, 2, 2});
    CHECK(topology.nodes() == 3);
    CHECK(topology.same_node(3, 5));
    CHECK_FALSE(topology.same_node(2, 3));
    CHECK(topology.describe() == "3 nodes, 2 to 3 ranks per node (virtual: comm.ranks_per_node)");
    CHECK(virtual_topology(2, 1).describe() == "2 nodes, 1 rank per node (virtual: comm.ranks_per_node)");
    CHECK(virtual_topology(4, 8).describe() == "1 node, 4 ranks per node (virtual: comm.ranks_per_node)");
    CHECK(Topology(std::vector{7}, NodeSource::detected).describe() == "1 node, 1 rank per node (detected)");
    CHECK(topology.source() == NodeSource::slices);
    CHECK(topology.ranks() == 8);
}

TEST_CASE("nodes are numbered by their smallest rank, whatever their labels, and may hold any ranks") {
    const Topology topology(std::vector{9, -4, 9, 9, 5, -4, 9}, NodeSource::map);
    CHECK(topology.node_of() == std::vector{0, 1, 0, 0, 2, 1, 0});
    CHECK(topology.describe() == "3 nodes, 1 to 4 ranks per node (virtual: comm.node_map)");
    CHECK(topology.map() == "0: 0, 2-3, 6; 1: 1, 5; 2: 4");
    CHECK(topology.size(0) == 4);
    const std::vector<int> local{0, 0, 1, 2, 0, 1, 3};
    for (int rank = 0; rank < 7; ++rank) {
        CHECK(topology.local_rank(rank) == local[static_cast<std::size_t>(rank)]);
        CHECK(topology.ranks_on(topology.node(rank))[static_cast<std::size_t>(topology.local_rank(rank))] ==
              rank);
    }
}

TEST_CASE("sockets are numbered within each node, and go with the ranks") {
    CHECK_FALSE(virtual_topology(8, 4).knows_sockets());
    CHECK_FALSE(virtual_topology(8, 4).shares_sockets());
    const Topology slices = virtual_topology(8, 5).on_sockets_of(2, SocketSource::slices);
    CHECK(slices.socket_of() == std::vector{0, 0, 1, 1, 2, 0, 0, 1});
    CHECK(slices.shares_sockets());
    CHECK(slices.describe() ==
          "2 nodes, 3 to 5 ranks per node (virtual: comm.ranks_per_node), 1 to 2 ranks per socket "
          "(virtual: comm.ranks_per_socket)");
    CHECK(slices.places().locality(0, 1) == Locality::socket);
    CHECK(slices.places().locality(1, 2) == Locality::node);
    CHECK(slices.places().locality(1, 5) == Locality::off_node);
    CHECK_FALSE(virtual_topology(8, 5).on_sockets_of(1, SocketSource::slices).shares_sockets());

    const Topology nodes(std::vector{9, -4, 9, 9, 5, -4, 9}, NodeSource::map);
    const Topology labelled = nodes.on_sockets(std::vector{7, 7, 1, 7, 1, 1, 1}, SocketSource::map);
    CHECK(labelled.socket_of() == std::vector{0, 0, 1, 0, 0, 1, 1});
    const Topology some = labelled.among(std::vector{6, 5, 3, 2});
    CHECK(some.knows_sockets());
    CHECK(some.node_of() == std::vector{0, 1, 0, 0});
    CHECK(some.socket_of() == std::vector{0, 0, 1, 0});
    CHECK_FALSE(nodes.among(std::vector{6, 5}).knows_sockets());
}

TEST_CASE("the line that says which ranks are on which node is short, or there is none") {
    CHECK(virtual_topology(16, 2).map() ==
          "0: 0-1; 1: 2-3; 2: 4-5; 3: 6-7; 4: 8-9; 5: 10-11; 6: 12-13; 7: 14-15");
    CHECK(virtual_topology(18, 2).map().empty());
    CHECK(virtual_topology(4, 4).map().empty());
    std::vector<int> dealt_out;
    for (int rank = 0; rank < 1024; ++rank) dealt_out.push_back(rank % 8);
    CHECK(Topology(dealt_out, NodeSource::map).map().empty());
}

TEST_CASE("a rank alone on its node is told where other nodes have more, or where no node has") {
    const auto warnings = [](const std::vector<int>& labels) {
        return Topology(labels, NodeSource::map).warnings();
    };
    CHECK(warnings({0}).empty());
    CHECK(warnings({0, 0}).empty());
    CHECK_THAT(warnings({0, 1}).at(0), Catch::StartsWith("every rank is a node of its own"));
    CHECK(warnings({0, 0, 1}).at(0) == "1 node has one rank only");
    CHECK(warnings({0, 0, 1, 2}).at(0) == "2 nodes have one rank only");
}
