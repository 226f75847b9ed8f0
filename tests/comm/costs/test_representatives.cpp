// A few nodes that stand for all.

#include <catch2/catch.hpp>

#include "comm/costs/representatives.hpp"
#include "tests/comm/costs/golden_machines.hpp"

using namespace keel;

namespace {

constexpr Boundary p = Boundary::periodic;
constexpr Boundary d = Boundary::dirichlet;
constexpr int everybody = 1 << 20;

struct Case {
    Index boxes;
    Boundaries boundaries;
    Placement placement;
    int boxes_of_a_rank;
    int ranks_per_node;
    Neighbours neighbours;
    int parts;  // representatives
};

void check_equal(const Volume& few, const Volume& all) {
    CHECK(few.messages == all.messages);
    CHECK(few.bytes == all.bytes);
    CHECK(few.off_node_messages == all.off_node_messages);
    CHECK(few.off_node_bytes == all.off_node_bytes);
}

// Schemes in which the number of a node decides who sends: of messages of one size.
bool by_number(const SchemeRow& row) {
    return row.scheme.scheme == Scheme::three_step || row.scheme.scheme == Scheme::split;
}

}  // namespace

TEST_CASE("a few nodes send what all do") {
    const Model model{test::golden_machine(test::golden_models(), "lassen"), Memory::host};
    const Case cases[] = {{{8, 8, 8}, {p, p, p}, Placement::curve, 1, 4, Neighbours::all, 1},
                          {{8, 8, 8}, {p, p, p}, Placement::curve, 2, 2, Neighbours::faces, 1},
                          {{5, 6, 10}, {d, d, d}, Placement::lexicographic, 1, 1, Neighbours::faces, 8},
                          {{12, 5, 6}, {p, d, d}, Placement::lexicographic, 1, 4, Neighbours::all, 4},
                          {{12, 6, 5}, {p, d, p}, Placement::lexicographic, 2, 2, Neighbours::faces, 2},
                          {{16, 4, 4}, {d, p, d}, Placement::lexicographic, 1, 1, Neighbours::all, 2},
                          {{12, 10, 5}, {d, d, p}, Placement::lexicographic, 1, 24, Neighbours::all, 2}};
    for (const Case& c : cases) {
        const int ranks = static_cast<int>(product(c.boxes)) / c.boxes_of_a_rank;
        const Topology unknown = virtual_topology(ranks, c.ranks_per_node);
        // Every second case with sockets.
        const Topology topology =
            (&c - cases) % 2 == 0 ? unknown
                                  : unknown.on_sockets_of((c.ranks_per_node + 1) / 2, SocketSource::slices);
        const Layout layout(c.boxes, 4, c.boundaries, place(c.boxes, ranks, c.placement), 0);
        const Representatives nodes = Representatives::of(layout, topology, 0);
        INFO(c.boxes[0] << " x " << c.boxes[1] << " x " << c.boxes[2] << ", " << topology.describe());
        REQUIRE(nodes.parts().size() == static_cast<std::size_t>(c.parts));
        REQUIRE_FALSE(nodes.all());
        const auto& part = nodes.largest();
        REQUIRE(part.topology.nodes() < topology.nodes());
        REQUIRE(static_cast<std::size_t>(part.topology.ranks() * c.boxes_of_a_rank) ==
                product(part.layout.boxes()));
        const auto schemes = candidates({.message_cap = 400});
        const auto few = nodes.compare(1, c.neighbours, schemes, &model);
        const auto all =
            Representatives::themselves(layout, topology).compare(1, c.neighbours, schemes, &model);
        REQUIRE(few.size() == all.size());
        for (std::size_t row = 0; row < all.size(); ++row) {
            INFO(name(all[row].scheme));
            CHECK(few[row].all.off_node_messages == all[row].all.off_node_messages);
            CHECK(few[row].all.off_node_bytes == all[row].all.off_node_bytes);
            CHECK(few[row].pattern == all[row].pattern);
            CHECK(few[row].time->total() ==
                  Approx(all[row].time->total()).epsilon(by_number(all[row]) ? 0.05 : 1e-12).margin(0));
            if (by_number(all[row])) continue;
            check_equal(few[row].all, all[row].all);
            check_equal(few[row].most_sent, all[row].most_sent);
            check_equal(few[row].most_received, all[row].most_received);
        }
    }
}

TEST_CASE("one scheme's plans of a few nodes tell of any number of fields") {
    const Layout layout({8, 8, 8}, 4, {p, p, d}, place({8, 8, 8}, 512, Placement::curve), 0);
    const Topology topology = virtual_topology(512, 8);
    const Model model{test::golden_machine(test::golden_models(), "lassen"), Memory::host};
    const Representatives nodes = Representatives::of(layout, topology, 0);
    const SchemeOptions scheme{.scheme = Scheme::two_step};
    std::vector<Plan> plans;
    for (const auto& part : nodes.parts())
        plans.push_back(make_plan(ghost_pattern(part.layout, 2, Neighbours::all), part.topology, scheme, {}));
    const Plan whole = make_plan(ghost_pattern(layout, 2, Neighbours::all), topology, scheme, {});
    for (const std::size_t columns : std::initializer_list<std::size_t>{1, 3}) {
        const Setup setup{topology, &model};
        const SchemeRow all = summary(scheme, shares_of(whole, columns, setup), setup);
        const SchemeRow few = nodes.summary(scheme, plans, columns, &model);
        check_equal(few.all, all.all);
        check_equal(few.most_sent, all.most_sent);
        CHECK(few.time->total() == Approx(all.time->total()).epsilon(1e-12).margin(0));
    }
}

TEST_CASE("where nodes do not tile the boxes, or are few, all stand for themselves") {
    const auto stands_for_itself = [](const Index& boxes, int ranks, const Topology& topology,
                                      Placement placement, int most_ranks) {
        const Layout layout(boxes, 4, {p, p, p}, place(boxes, ranks, placement), 0);
        const Representatives nodes = Representatives::of(layout, topology, most_ranks);
        return nodes.all() && nodes.largest().topology.ranks() == topology.ranks();
    };
    const Index boxes{8, 8, 8};
    const Topology fours = virtual_topology(512, 4);
    CHECK_FALSE(stands_for_itself(boxes, 512, fours, Placement::curve, 0));
    CHECK(stands_for_itself(boxes, 512, fours, Placement::curve, everybody));
    CHECK(stands_for_itself(boxes, 512, fours, Placement::scattered, 0));
    CHECK(stands_for_itself(boxes, 512, virtual_topology(512, 3), Placement::lexicographic, 0));
    CHECK(stands_for_itself({6, 8, 8}, 384, virtual_topology(384, 4), Placement::lexicographic, 0));
    // A union of boxes has nodes with other neighbours than a grid has.
    std::vector<int> present;
    for (int box = 256; box < 512; ++box) present.push_back(box);
    const Layout half(Domain({8, 8, 8}, {p, p, p}, present, d), 4, place({8, 8, 4}, 256, Placement::curve),
                      0);
    CHECK(Representatives::of(half, virtual_topology(256, 4), 0).all());
    // Tiles whose ranks are on other sockets.
    std::vector<int> sockets(512, 0);
    CHECK_FALSE(
        stands_for_itself(boxes, 512, fours.on_sockets(sockets, SocketSource::map), Placement::curve, 0));
    sockets[5] = 1;
    CHECK(stands_for_itself(boxes, 512, fours.on_sockets(sockets, SocketSource::map), Placement::curve, 0));
    // Tiles of one shape whose ranks sit in another order.
    std::vector<int> labels(512);
    for (int rank = 0; rank < 512; ++rank)
        labels[static_cast<std::size_t>(rank)] = rank / 2 % 2 + rank / 4 * 2;
    std::swap(labels[0], labels[2]);
    CHECK(stands_for_itself(boxes, 512, {labels, NodeSource::map}, Placement::lexicographic, 0));
}
