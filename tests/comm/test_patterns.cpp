// Plans for any number of imaginary ranks: no message is sent here.

#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <tuple>

#include "comm/ghosts.hpp"
#include "comm/plan.hpp"

using namespace keel;

namespace {

constexpr Boundaries periodic{};
constexpr Boundaries mixed{Boundary::periodic, Boundary::dirichlet, Boundary::neumann};

std::vector<Pattern> patterns(Index boxes, int width, const Boundaries& boundaries, int ranks,
                              Placement placement, int depth, Neighbours neighbours) {
    const auto owners = place(boxes, ranks, placement);
    std::vector<Pattern> all;
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
    const int ranks = GENERATE(1, 2, 3, 5, 8, 12);
    const auto placement =
        GENERATE(Placement::curve, Placement::lexicographic, Placement::round_robin, Placement::scattered);
    const auto neighbours = GENERATE(Neighbours::faces, Neighbours::all);
    for (const Boundaries& boundaries : {periodic, mixed}) {
        const auto all = patterns({3, 2, 2}, 4, boundaries, ranks, placement, 2, neighbours);
        for (int p = 0; p < ranks; ++p)
            for (int q = 0; q < ranks; ++q) {
                std::vector<Need> sent;
                std::vector<Need> received;
                for (const Need& need : all[static_cast<std::size_t>(p)].sends)
                    if (need.receiver == q) sent.push_back(need);
                for (const Need& need : all[static_cast<std::size_t>(q)].receives)
                    if (need.owner == p) received.push_back(need);
                CHECK(sent == received);
                if (p == q) CHECK(sent.empty());
            }
    }
}

TEST_CASE("every ghost cell inside the domain is filled once, from the right cell") {
    const Index boxes = GENERATE(Index{1, 1, 1}, Index{2, 1, 3}, Index{3, 2, 2});
    const auto neighbours = GENERATE(Neighbours::faces, Neighbours::all);
    const int depth = GENERATE(1, 2, 3);
    const int ranks = GENERATE(1, 3);
    if (ranks > static_cast<int>(product(boxes))) return;
    constexpr int width = 3;
    for (const Boundaries& boundaries : {periodic, mixed}) {
        const Layout layout(boxes, width, boundaries, place(boxes, ranks, Placement::curve), 0);
        const Index n = layout.cells();
        std::map<std::tuple<int, int, int, int>, int> filled;  // by box and ghost cell
        for (const Pattern& pattern :
             patterns(boxes, width, boundaries, ranks, Placement::curve, depth, neighbours))
            for (const auto* needs : {&pattern.receives, &pattern.copies})
                for (const Need& need : *needs) {
                    CHECK(need.receiver == pattern.rank);
                    CHECK(layout.owner(need.from) == need.owner);
                    CHECK(layout.owner(need.to) == need.receiver);
                    REQUIRE(need.source.size == need.target.size);
                    for_each_cell(need.target, [&](const Index& c) {
                        const Index ghost = need.target.lo + c;
                        const Index source = need.source.lo + c;
                        const Index wanted = layout.first_cell(need.to) + ghost;
                        const Index given = layout.first_cell(need.from) + source;
                        int wrong = 0;
                        for (std::size_t d = 0; d < 3; ++d) {
                            wrong += source[d] < 0 || source[d] >= width ? 1 : 0;  // own cells only
                            wrong += (wanted[d] + 4 * n[d]) % n[d] != given[d] ? 1 : 0;
                        }
                        REQUIRE(wrong == 0);
                        ++filled[{need.to, ghost[0], ghost[1], ghost[2]}];
                    });
                }
        for (int box = 0; box < layout.box_count(); ++box)
            for_each_cell({{}, {width + 2 * depth, width + 2 * depth, width + 2 * depth}}, [&](Index c) {
                c = c + Index{-depth, -depth, -depth};
                int outside_box = 0;
                bool inside_domain = true;
                for (std::size_t d = 0; d < 3; ++d) {
                    outside_box += c[d] < 0 || c[d] >= width ? 1 : 0;
                    const int global = layout.first_cell(box)[d] + c[d];
                    if (boundaries[d] != Boundary::periodic && (global < 0 || global >= n[d]))
                        inside_domain = false;
                }
                const bool wanted =
                    inside_domain && outside_box > 0 && (neighbours == Neighbours::all || outside_box == 1);
                const auto found = filled.find({box, c[0], c[1], c[2]});
                REQUIRE((found == filled.end() ? 0 : found->second) == (wanted ? 1 : 0));
            });
    }
}

TEST_CASE("ghosts deeper than a box are refused") {
    const Layout layout({2, 2, 2}, 2, periodic, std::vector<int>(8, 0), 0);
    CHECK_THROWS_AS(ghost_pattern(layout, 3, Neighbours::faces), std::logic_error);
    CHECK_THROWS_AS(ghost_pattern(layout, 0, Neighbours::faces), std::logic_error);
}

TEST_CASE("the ghosts outside the domain are those that no neighbour fills") {
    const Layout layout({2, 1, 1}, 3, mixed, {0, 0}, 0);
    std::set<std::tuple<int, int, int, int>> outside;
    for (const BoundaryItem& item : boundary_ghosts(layout)) {
        for (std::size_t d = 0; d < 3; ++d)
            if (mixed[d] == Boundary::periodic) CHECK(item.outward[d] == 0);
        for_each_cell(item.cells, [&](const Index& c) {
            const Index g = item.cells.lo + c;
            CHECK(outside.insert({item.box, g[0], g[1], g[2]}).second);
        });
    }
    // 5^3 cells with ghosts, of which 5 x 3 x 3 lie inside the domain in y and z.
    CHECK(outside.size() == 2 * (125 - 45));
    CHECK(boundary_ghosts(Layout({2, 1, 1}, 3, periodic, {0, 0}, 0)).empty());
}

TEST_CASE("the standard plan has one message per peer, and its traffic is that of the messages") {
    const int ranks = GENERATE(2, 3, 8);
    const auto all = patterns({4, 2, 2}, 4, periodic, ranks, Placement::curve, 1, Neighbours::all);
    const Topology topology = virtual_topology(ranks, 2);
    for (const Pattern& pattern : all) {
        const Plan plan = plan_standard(pattern);
        for (const auto* messages : {&plan.sends, &plan.receives}) {
            std::size_t offset = 0;
            int last_peer = -1;
            for (const Message& message : *messages) {
                CHECK(message.peer > last_peer);
                CHECK(message.offset == offset);
                std::size_t values = 0;
                for (const Need& need : message.needs) values += need.source.cells();
                CHECK(message.values == values);
                CHECK(values > 0);
                offset += values;
                last_peer = message.peer;
            }
        }
        const Traffic traffic = plan.traffic(topology, 3);
        long off_node = 0;
        for (const Message& message : plan.sends) off_node += message.peer / 2 != plan.rank / 2 ? 1 : 0;
        CHECK(traffic.messages == static_cast<long>(plan.sends.size()));
        CHECK(traffic.bytes == static_cast<long>(3 * 8 * plan.send_values()));
        CHECK(traffic.off_node_messages == off_node);
        if (off_node == 0) CHECK(traffic.off_node_bytes == 0);
    }
}

TEST_CASE("virtual nodes are slices of the ranks, the last one possibly smaller") {
    const Topology topology = virtual_topology(8, 3);
    CHECK(topology.node_of == std::vector<int>{0, 0, 0, 1, 1, 1, 2, 2});
    CHECK(topology.nodes() == 3);
    CHECK(topology.same_node(3, 5));
    CHECK_FALSE(topology.same_node(2, 3));
    CHECK(topology.describe() == "3 nodes, 2 to 3 ranks per node (virtual: comm.ranks_per_node)");
    CHECK(virtual_topology(2, 1).describe() == "2 nodes, 1 rank per node (virtual: comm.ranks_per_node)");
}
