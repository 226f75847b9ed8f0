// The papers' closed forms against golden values, and beside the times of plans.

#include <catch2/catch.hpp>
#include <numeric>

#include "comm/costs/closed/closed_forms.hpp"
#include "comm/costs/closed/comparison.hpp"
#include "tests/comm/costs/golden_machines.hpp"

using namespace keel;
using nlohmann::json;

namespace {

void same(double ours, const json& golden) {
    CHECK(ours == Approx(golden.get<double>()).epsilon(1e-12).margin(0));
}

PatternCounts counts_of(const json& counts) {
    return {.messages = counts.at("m"),
            .bytes = counts.at("s"),
            .bytes_per_rank = counts.at("s_proc"),
            .bytes_per_node = counts.at("s_node"),
            .bytes_per_node_sent = counts.at("s_node"),  // as the program has it
            .nodes_per_rank = counts.at("m_proc2node"),
            .nodes_per_node = counts.at("m_node2node"),
            .bytes_per_node_pair = counts.at("s_node2node")};
}

}  // namespace

TEST_CASE("the closed forms have the golden values") {
    const json golden = test::golden_models();
    for (const json& point : golden.at("models")) {
        const json& in = point.at("input");
        const json& want = point.at("expect");
        const Machine machine = test::golden_machine(golden, in.at("machine"));
        const PatternCounts n = counts_of(in.at("counts"));
        const double t = in.at("t");
        const Network net = network(machine, Memory::host, in.at("msg_bytes"), in.at("ppn"));
        INFO(machine.name << ", t = " << t);
        same(net.off_node.alpha, want.at("alpha"));
        same(net.off_node.beta, want.at("beta"));
        same(net.on_node.alpha, want.at("alpha_l"));
        same(net.on_node.beta, want.at("beta_l"));
        same(net.injection_beta, want.at("betaN"));

        same(on_node_time(net, n.messages, n.bytes), want.at("eq_2_4"));
        same(standard_time(net, n, t), want.at("eq_003_4"));
        same(two_step_time(net, n, t), want.at("eq_2_6_4_9"));
        same(three_step_time(net, n, t), want.at("eq_003_6"));
    }
}

// Every rank of a node sends a message to a rank of the next node, and all lie on a ring: nothing is a
// duplicate, nothing is passed on but by the node-aware schemes, and no rank does more than another.
TEST_CASE("where messages are even, the closed form of the standard scheme is the time of its plan") {
    constexpr int ranks = 32;
    const Topology topology = virtual_topology(ranks, 4);
    std::vector<Request> requests;
    for (int rank = 0; rank < ranks; ++rank) requests.push_back({{rank, 1000, 0}, (rank + 4) % ranks});
    for (const std::string name : {"blue_waters", "lassen"}) {
        const Model model{test::golden_machine(test::golden_models(), name), Memory::host};
        const auto rows = compare(ListedPattern(requests), candidates_without_axes({}), {topology, &model});
        REQUIRE(rows.front().closed_form);
        CHECK(*rows.front().closed_form == Approx(rows.front().time->total()).epsilon(1e-12));
    }
}

// A rank has a long item that all ranks of the next node need: it leaves the node as often, at the rate of the rank or of the
// node, whichever is less, and no rank receives more than one.
TEST_CASE("the closed form of the standard scheme counts what it sends twice, from a rank and from a node") {
    constexpr int ranks_per_node = 4;
    constexpr int values = 100'000;
    const Topology topology = virtual_topology(2 * ranks_per_node, ranks_per_node);
    std::vector<Request> requests;
    for (int owner = 0; owner < ranks_per_node; ++owner)
        for (int rank = ranks_per_node; rank < 2 * ranks_per_node; ++rank)
            requests.push_back({{owner, values, 0}, rank});
    constexpr double bytes = 8.0 * values;
    const PatternCounts n = counts(requests, topology);
    CHECK(n.bytes == ranks_per_node * bytes);
    CHECK(n.bytes_per_node == ranks_per_node * bytes);
    CHECK(n.bytes_per_node_sent == ranks_per_node * ranks_per_node * bytes);
    const Machine machine = test::golden_machine(test::golden_models(), "blue_waters");
    const Network net = network(machine, Memory::host, bytes, ranks_per_node);
    CHECK(n.bytes_per_node_sent * net.injection_beta > n.bytes * net.off_node.beta);
    const Model model{machine, Memory::host};
    const SchemeRow row =
        compare(ListedPattern(requests), candidates_without_axes({}), {topology, &model}).front();
    CHECK(*row.closed_form ==
          Approx(ranks_per_node * net.off_node.alpha + n.bytes_per_node_sent * net.injection_beta));
    CHECK(*row.closed_form == Approx(row.time->total()).epsilon(1e-12));
}

TEST_CASE("a closed form goes by the scheme's mean message, by the columns, and by the ranks of a node") {
    const Machine machine = test::golden_machine(test::golden_models(), "lassen");
    const PatternCounts n{.messages = 10,
                          .bytes = 4000,
                          .bytes_per_rank = 3000,
                          .bytes_per_node = 9000,
                          .bytes_per_node_sent = 12000,
                          .nodes_per_rank = 2,
                          .nodes_per_node = 3,
                          .bytes_per_node_pair = 5000};
    const auto time = [&](Scheme scheme) {
        return closed_form_time({.scheme = scheme, .columns = 2}, n, machine, Memory::host, 4);
    };
    CHECK(time(Scheme::standard) == standard_time(network(machine, Memory::host, 800, 4), n, 2));
    CHECK(time(Scheme::two_step) == two_step_time(network(machine, Memory::host, 3000, 4), n, 2));
    CHECK(time(Scheme::three_step) == three_step_time(network(machine, Memory::host, 10000, 4), n, 2));
    CHECK(network(machine, Memory::host, 10000, 1).on_node == Postal());
}

TEST_CASE("what has no closed form, and what does not cross between nodes, gets none") {
    const Machine machine = test::golden_machine(test::golden_models(), "lassen");
    const PatternCounts some{.messages = 1,
                             .bytes = 8,
                             .bytes_per_rank = 8,
                             .bytes_per_node = 8,
                             .bytes_per_node_sent = 8,
                             .nodes_per_rank = 1,
                             .nodes_per_node = 1,
                             .bytes_per_node_pair = 8};
    for (const SchemeOptions& scheme : candidates({})) {
        const bool none = scheme.scheme == Scheme::split || scheme.scheme == Scheme::staged_axes;
        INFO(name(scheme));
        CHECK(closed_form_time(scheme, some, machine, Memory::host, 4).has_value() == !none);
        CHECK_FALSE(closed_form_time(scheme, {}, machine, Memory::host, 4));
    }
    const Model model{machine, Memory::host};
    const Topology one_node = virtual_topology(8, 8);
    const ListedPattern pattern({{{0, 1, 0}, 1}});
    CHECK_FALSE(compare(pattern, candidates_without_axes({}), {one_node, &model}).front().closed_form);
    CHECK_FALSE(compare(pattern, candidates_without_axes({}), {virtual_topology(8, 1)}).front().closed_form);
}

TEST_CASE("a closed form that needs an unknown parameter says which") {
    Machine machine = test::golden_machine(test::golden_models(), "blue_waters");
    CHECK_THROWS_WITH(network(machine, Memory::device, 8, 2), Catch::Contains("[device]"));
    machine.messages[0]->at(Locality::off_node, Protocol::eager).reset();
    CHECK_NOTHROW(network(machine, Memory::host, 100, 2));
    CHECK_THROWS_WITH(network(machine, Memory::host, 1000, 2), Catch::Contains("host.off_node.eager"));
    machine.injection_beta.reset();
    CHECK_THROWS_WITH(network(machine, Memory::host, 100, 2), Catch::Contains("machine.injection"));
}
