// Plans for any number of virtual ranks: no message is sent here.

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "comm/plans/schemes.hpp"
#include "tests/boundaries.hpp"

using namespace keel;
using namespace keel::test;

namespace {

std::vector<GhostPattern> patterns(Index boxes, int width, const Boundaries& boundaries, int ranks,
                                   Placement placement, int depth, Neighbours neighbours) {
    const auto owners = place(boxes, ranks, placement);
    std::vector<GhostPattern> all;
    for (int rank = 0; rank < ranks; ++rank)
        all.push_back(ghost_pattern(Layout(boxes, width, boundaries, owners, rank), depth, neighbours));
    return all;
}

template <class Action>
void for_each_cell(const Region& region, const Action& action) {
    for (int k = 0; k < region.size[2]; ++k)
        for (int j = 0; j < region.size[1]; ++j)
            for (int i = 0; i < region.size[0]; ++i) action(Index{i, j, k});
}

}  // namespace

TEST_CASE("what a rank sends is what the other receives, item by item") {
    const auto placement =
        GENERATE(Placement::curve, Placement::lexicographic, Placement::round_robin, Placement::scattered);
    const auto neighbours = GENERATE(Neighbours::faces, Neighbours::all);
    const auto agree = [&](Index boxes, int ranks, int depth, const Boundaries& boundaries) {
        std::map<std::pair<int, int>, std::vector<GhostRegion>> sent;  // by sender and receiver
        std::map<std::pair<int, int>, std::vector<GhostRegion>> received;
        int misplaced = 0;
        for (const GhostPattern& pattern :
             patterns(boxes, 4, boundaries, ranks, placement, depth, neighbours)) {
            const int rank = pattern.layout().rank();
            for (const GhostRegion& ghosts : pattern.sends()) {
                sent[{ghosts.owner, ghosts.receiver}].push_back(ghosts);
                misplaced += ghosts.owner != rank || ghosts.receiver == rank ? 1 : 0;
            }
            for (const GhostRegion& ghosts : pattern.receives()) {
                received[{ghosts.owner, ghosts.receiver}].push_back(ghosts);
                misplaced += ghosts.owner == rank || ghosts.receiver != rank ? 1 : 0;
            }
            for (const GhostRegion& ghosts : pattern.copies())
                misplaced += ghosts.owner != rank || ghosts.receiver != rank ? 1 : 0;
        }
        CHECK(misplaced == 0);
        CHECK(sent.empty() == (ranks == 1));
        return sent == received;
    };
    for (const Boundaries& boundaries : {periodic, mixed, dirichlet})
        for (const int depth : {1, 2, 3})
            for (const int ranks : {1, 2, 3, 5, 8, 12}) CHECK(agree({3, 2, 2}, ranks, depth, boundaries));
    for (const int ranks : {27, 64}) CHECK(agree({4, 4, 4}, ranks, 2, mixed));
    CHECK(agree({3, 3, 3}, 27, 1, periodic));
}

TEST_CASE("every ghost cell inside the domain is filled once, from the right cell") {
    const Index boxes = GENERATE(Index{1, 1, 1}, Index{2, 1, 3}, Index{3, 2, 2});
    const auto neighbours = GENERATE(Neighbours::faces, Neighbours::all);
    const int depth = GENERATE(1, 2, 3);
    const auto placement = GENERATE(Placement::curve, Placement::scattered);
    constexpr int width = 3;
    const int span = width + 2 * depth;
    const Index all{span, span, span};
    const Index low{-depth, -depth, -depth};
    for (const Boundaries& boundaries : {periodic, mixed, dirichlet})
        for (const int ranks : {1, 3, 8}) {
            const Layout layout(boxes, width, boundaries, place(boxes, ranks, placement), 0);
            const Index n = layout.cells();
            const auto at = [&](int box, const Index& c) {  // c from -depth on
                const Index p = c + -low;
                return static_cast<std::size_t>(((box * span + p[2]) * span + p[1]) * span + p[0]);
            };
            std::vector<int> filled(product(boxes) * product(all));
            int wrong = 0;
            for (const GhostPattern& pattern :
                 patterns(boxes, width, boundaries, ranks, placement, depth, neighbours))
                for (const auto& regions : {pattern.receives(), pattern.copies()})
                    for (const GhostRegion& ghosts : regions) {
                        wrong += ghosts.receiver == pattern.layout().rank() ? 0 : 1;
                        wrong += layout.owner(ghosts.from) == ghosts.owner ? 0 : 1;
                        wrong += layout.owner(ghosts.to) == ghosts.receiver ? 0 : 1;
                        REQUIRE(ghosts.source.size == ghosts.target.size);
                        for_each_cell(ghosts.target, [&](const Index& c) {
                            const Index ghost = ghosts.target.lo + c;
                            const Index source = ghosts.source.lo + c;
                            const Index wanted = layout.first_cell(ghosts.to) + ghost;
                            const Index given = layout.first_cell(ghosts.from) + source;
                            for (std::size_t d = 0; d < 3; ++d) {
                                wrong += source[d] < 0 || source[d] >= width ? 1 : 0;  // own cells only
                                wrong += (wanted[d] + 4 * n[d]) % n[d] != given[d] ? 1 : 0;
                            }
                            ++filled.at(at(ghosts.to, ghost));
                        });
                    }
            CHECK(wrong == 0);
            int miscounted = 0;
            for (int box = 0; box < layout.box_count(); ++box)
                for_each_cell({low, all}, [&](const Index& offset) {
                    const Index c = low + offset;
                    int outside_box = 0;
                    bool inside_domain = true;
                    for (std::size_t d = 0; d < 3; ++d) {
                        outside_box += c[d] < 0 || c[d] >= width ? 1 : 0;
                        const int global = layout.first_cell(box)[d] + c[d];
                        if (boundaries[d] != Boundary::periodic && (global < 0 || global >= n[d]))
                            inside_domain = false;
                    }
                    const bool wanted = inside_domain && outside_box > 0 &&
                                        (neighbours == Neighbours::all || outside_box == 1);
                    miscounted += filled[at(box, c)] == (wanted ? 1 : 0) ? 0 : 1;
                });
            CHECK(miscounted == 0);
        }
}

namespace {

struct Sent {
    std::size_t messages = 0;
    std::size_t values = 0;
    std::vector<std::size_t> values_of;  // each message
};

Sent sent_by(const GhostPattern& pattern, int ranks) {
    const int rank = pattern.layout().rank();
    Sent sent;
    make_plan(pattern, virtual_topology(ranks, 1), {}, rank).for_each_phase([&](const PhaseMessages& phase) {
        for (const Message& message : phase.messages)
            if (message.source == rank) {
                ++sent.messages;
                sent.values += message.values();
                sent.values_of.push_back(message.values());
            }
    });
    return sent;
}

}  // namespace

TEST_CASE(
    "a box among boxes of other ranks has one message a neighbour, as large as its share of the ghosts") {
    const int depth = GENERATE(1, 2, 3);
    constexpr int n = 4;
    const std::size_t shell = product({n + 2 * depth, n + 2 * depth, n + 2 * depth}) - n * n * n;
    for (const GhostPattern& pattern :
         patterns({3, 3, 3}, n, periodic, 27, Placement::curve, depth, Neighbours::faces)) {
        const Sent sent = sent_by(pattern, 27);
        CHECK(sent.messages == 6);
        for (const std::size_t values : sent.values_of)
            CHECK(values == static_cast<std::size_t>(n * n * depth));
    }
    for (const GhostPattern& pattern :
         patterns({3, 3, 3}, n, periodic, 27, Placement::curve, depth, Neighbours::all)) {
        const Sent sent = sent_by(pattern, 27);
        CHECK(sent.messages == 26);
        CHECK(sent.values == shell);
    }
    // With two boxes in a periodic direction both sides are the same neighbour: still one message, and what
    // both sides need, where the ghosts are deeper than half a box, goes once.
    const auto layers = static_cast<std::size_t>(std::min(2 * depth, n));
    for (const GhostPattern& pattern :
         patterns({2, 2, 2}, n, periodic, 8, Placement::curve, depth, Neighbours::all)) {
        const Sent sent = sent_by(pattern, 8);
        CHECK(sent.messages == 7);
        CHECK(sent.values == 3 * n * n * layers + 3 * n * layers * layers + layers * layers * layers);
    }
    // With one there is no message at all.
    const auto alone = patterns({1, 1, 1}, n, periodic, 1, Placement::curve, depth, Neighbours::all);
    CHECK(sent_by(alone[0], 1).messages == 0);
    CHECK(alone[0].copies().size() == 26);
}

TEST_CASE("a rank sends a cell once to each rank that needs it, however many of its boxes do") {
    // Rank 0 owns one box, rank 1 the three around one of its edges: the cells on that edge are needed by all
    // three.
    const Layout layout({2, 2, 1}, 4, dirichlet, {0, 1, 1, 1}, 0);
    const GhostPattern pattern = ghost_pattern(layout, 1, Neighbours::all);
    CHECK(pattern.sends().size() == 3);
    CHECK(sent_by(pattern, 2).values == 2 * 16 - 4);
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

TEST_CASE("a plan's traffic is that of the messages a rank sends") {
    const int ranks = GENERATE(1, 2, 3, 8);
    const int ranks_per_node = GENERATE(1, 2, 3, 100);
    const auto all = patterns({4, 2, 2}, 4, periodic, ranks, Placement::curve, 1, Neighbours::all);
    const Topology topology = virtual_topology(ranks, ranks_per_node);
    for (const GhostPattern& pattern : all)
        for (const Scheme scheme :
             {Scheme::standard, Scheme::two_step, Scheme::three_step, Scheme::split, Scheme::staged_axes}) {
            const int rank = pattern.layout().rank();
            const Plan plan = make_plan(pattern, topology, {.scheme = scheme, .message_cap = 256}, rank);
            for (const std::size_t fields : {1U, 3U}) {
                Traffic expected;
                plan.for_each_phase([&](const PhaseMessages& phase) {
                    for (const Message& message : phase.messages) {
                        if (message.source != rank) continue;
                        long bytes = 0;
                        for (const Item& item : message.items)
                            bytes += static_cast<long>(8 * fields) * item.values;
                        const bool off_node = message.target / ranks_per_node != rank / ranks_per_node;
                        expected += {1, bytes, off_node ? 1 : 0, off_node ? bytes : 0};
                    }
                });
                CHECK(plan.traffic(rank, topology, fields) == expected);
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
