// Schemes side by side.

#include <catch2/catch.hpp>
#include <fstream>

#include "comm/costs/representatives.hpp"
#include "tests/boundaries.hpp"
#include "tests/comm/costs/golden_machines.hpp"
#include "tests/comm/costs/stage_totals.hpp"
#include "tests/comm/costs/time_by_messages.hpp"
#include "tests/comm/random_case.hpp"

using namespace keel;
using namespace keel::test;
using test::PhaseTotals;
using test::totals;

namespace {

double sum_of(const std::vector<PhaseTotals>& stages, long PhaseTotals::*number) {
    long sum = 0;
    for (const PhaseTotals& stage : stages) sum += stage.*number;
    return static_cast<double>(sum);
}

}  // namespace

TEST_CASE("a summary has the totals and the time of the whole plan") {
    const Model model{test::golden_machine(test::golden_models(), "lassen"), Memory::host};
    for (unsigned seed = 0; seed < 200; ++seed) {
        const test::RandomCase c = test::random_case(seed);
        const Topology topology(c.labels, NodeSource::map);
        const ListedPattern pattern(c.requests);
        for (const SchemeOptions& scheme : candidates({.message_cap = c.message_cap, .columns = 3})) {
            if (scheme.scheme == Scheme::staged_axes) continue;
            INFO("seed " << seed << ", " << name(scheme));
            const Plan plan = make_plan(pattern, topology, scheme, {});
            const Setup setup{topology, &model};
            const SchemeRow row = summary(scheme, shares_of(plan, 3, setup), setup);
            std::vector<PhaseTotals> stages;
            plan.for_each_phase(
                [&](const PhaseMessages& phase) { stages.push_back(totals(phase.messages, topology, 3)); });
            CHECK(row.all.messages == sum_of(stages, &PhaseTotals::messages));
            CHECK(row.all.bytes == sum_of(stages, &PhaseTotals::bytes));
            const PhaseTotals global = totals(plan.messages(Phase::global), topology, 3);
            CHECK(row.all.off_node_messages == static_cast<double>(global.messages));
            CHECK(row.all.off_node_bytes == static_cast<double>(global.bytes));
            CHECK(row.most_sent.off_node_messages == static_cast<double>(global.max_send_messages));
            CHECK(row.most_received.off_node_messages == static_cast<double>(global.max_receive_messages));
            CHECK(row.most_sent.off_node_bytes == static_cast<double>(global.max_send_bytes));
            CHECK(row.most_received.off_node_bytes == static_cast<double>(global.max_receive_bytes));

            const RankPlaces ranks{topology.node_of(), {}};
            const PlanTime time = test::plan_time(model.machine, Memory::host, ranks, plan, 3);
            REQUIRE(row.time);
            CHECK(row.time->local == Approx(time.local).epsilon(1e-13).margin(0));
            CHECK(row.time->total() == Approx(time.total()).epsilon(1e-13).margin(0));
        }
    }
}

TEST_CASE("exchanges of ranks on sockets take the golden times") {
    std::ifstream file(std::string(KEEL_SOURCE_DIR) + "/tests/golden/plan_times_sockets.json");
    const auto golden = nlohmann::json::parse(file);
    CHECK(golden.at("cases").size() == 48);
    int with_sockets = 0;
    for (const auto& c : golden.at("cases")) {
        INFO(c.dump());
        const auto boxes = c.at("ranks").get<std::array<int, 3>>();
        const int ranks = boxes[0] * boxes[1] * boxes[2];
        const Layout layout({boxes[0], boxes[1], boxes[2]}, c.at("box"), {},
                            place({boxes[0], boxes[1], boxes[2]}, ranks, Placement::lexicographic), 0);
        const Topology nodes = virtual_topology(ranks, c.at("ranks_per_node"));
        const Model model{test::golden_machine(test::golden_models(), c.at("machine")), Memory::host};
        const std::vector<SchemeOptions> standard{{.columns = c.at("fields")}};
        const double seconds = c.at("seconds");
        const auto row = [&](const Topology& topology) {
            return Representatives::themselves(layout, topology)
                .compare(1, Neighbours::faces, standard, &model)
                .front();
        };
        const SchemeRow unknown = row(nodes);
        REQUIRE(unknown.near);
        CHECK(unknown.near->total() <= unknown.time->total());
        CHECK(unknown.seconds() ==
              Approx((unknown.near->total() + unknown.time->total()) / 2).epsilon(1e-14));
        // All of a node on one socket.
        const SchemeRow one = row(nodes.on_sockets_of(ranks, SocketSource::slices));
        CHECK(one.time->total() == Approx(unknown.near->total()).epsilon(1e-14));
        if (c.at("ranks_per_socket").is_null()) {
            CHECK(unknown.time->total() == Approx(seconds).epsilon(1e-12).margin(0));
        } else {
            ++with_sockets;
            const SchemeRow known = row(nodes.on_sockets_of(c.at("ranks_per_socket"), SocketSource::machine));
            CHECK_FALSE(known.near);
            CHECK(known.time->total() == Approx(seconds).epsilon(1e-12).margin(0));
            CHECK(known.seconds() == known.time->total());
        }
    }
    CHECK(with_sockets > 24);
}

TEST_CASE(
    "axes across faces wait once, as each message is its source's own; with corners they follow each other") {
    const Model model{test::golden_machine(test::golden_models(), "lassen"), Memory::host};
    const Layout layout({4, 4, 4}, 8, {}, place({4, 4, 4}, 64, Placement::lexicographic), 0);
    const std::vector<SchemeOptions> both{{}, {.scheme = Scheme::staged_axes}};
    const auto times = [&](Neighbours neighbours) {
        std::vector<PlanTime> found;
        for (const SchemeRow& row : Representatives::themselves(layout, virtual_topology(64, 16))
                                        .compare(1, neighbours, both, &model))
            found.push_back(*row.time);
        return found;
    };
    const auto across_faces = times(Neighbours::faces);
    CHECK(across_faces[1].total() == Approx(across_faces[0].total()).epsilon(1e-13));
    CHECK(across_faces[1].stages[1] == 0);
    const auto with_corners = times(Neighbours::all);
    for (const double stage : with_corners[1].stages) CHECK(stage > 0);
}

TEST_CASE("where a machine knows nothing of sockets, messages within them are those within a node") {
    Model model{test::golden_machine(test::golden_models(), "lassen"), Memory::host};
    const Layout layout({4, 4, 4}, 8, {}, place({4, 4, 4}, 64, Placement::curve), 0);
    const auto rows = [&](const Topology& topology) {
        return Representatives::themselves(layout, topology)
            .compare(1, Neighbours::all, candidates({}), &model);
    };
    const Topology nodes = virtual_topology(64, 16);
    const Topology sockets = nodes.on_sockets_of(8, SocketSource::slices);
    CHECK(rows(sockets).front().time->total() < rows(nodes).front().time->total());
    auto& costs = *model.machine.messages[static_cast<std::size_t>(Memory::host)];
    costs.costs[static_cast<std::size_t>(Locality::socket)] = {};
    const auto with = rows(sockets);
    const auto without = rows(nodes);
    for (std::size_t n = 0; n < with.size(); ++n) {
        CHECK_FALSE(without[n].near);
        CHECK(with[n].time->total() == without[n].time->total());
    }
}

TEST_CASE("1024 virtual ranks are compared") {
    constexpr int ranks = 1024;
    const Topology topology = virtual_topology(ranks, 16);
    const Layout layout({16, 8, 8}, 8, periodic, place({16, 8, 8}, ranks, Placement::curve), 0);
    const Model model{test::golden_machine(test::golden_models(), "lassen"), Memory::host};
    const auto rows =
        Representatives::themselves(layout, topology).compare(1, Neighbours::all, candidates({}), &model);
    // A node has 4 x 2 x 2 boxes; of a box's 26 neighbours 15 to 19 are elsewhere.
    CHECK(rows.front().all.messages == 26 * ranks);
    CHECK(rows.front().all.off_node_messages == 17 * ranks);
    CHECK(rows.front().most_sent.off_node_messages == 19);
    // A node has 26 around it; its 16 ranks share the messages to them.
    CHECK(rows[3].all.off_node_messages == 26 * ranks / 16);
    CHECK(rows[3].most_sent.off_node_messages == 2);
    CHECK(&fastest(rows) == &rows.back());
}

TEST_CASE("a model is refused if a parameter that a plan may need is not known") {
    Model model{test::golden_machine(test::golden_models(), "lassen"), Memory::host};
    const Topology one_node = virtual_topology(4, 4);
    const Topology two_nodes = virtual_topology(4, 2);
    const Topology single_ranks = virtual_topology(4, 1);
    CHECK_NOTHROW(require_known(model, two_nodes));
    model.machine.messages[0]->at(Locality::off_node, Protocol::eager).reset();
    CHECK_NOTHROW(require_known(model, one_node));
    CHECK_THROWS_WITH(require_known(model, two_nodes), Catch::Contains("host.off_node.eager"));
    model = {test::golden_machine(test::golden_models(), "lassen"), Memory::host};
    model.machine.injection_beta.reset();
    CHECK_NOTHROW(require_known(model, one_node));
    CHECK_THROWS_WITH(require_known(model, two_nodes),
                      Catch::Contains("machine.injection") && Catch::Contains("on two nodes or more"));
    model = {test::golden_machine(test::golden_models(), "lassen"), Memory::host};
    model.machine.messages[0]->at(Locality::node, Protocol::short_).reset();
    CHECK_NOTHROW(require_known(model, single_ranks));
    CHECK_THROWS_WITH(require_known(model, one_node),
                      Catch::Contains("host.node.short") && Catch::Contains("two ranks or more on a node"));
    model.memory = Memory::managed;  // run.mode = network does not measure it
    model.machine.messages[2].reset();
    CHECK_THROWS_WITH(require_known(model, one_node),
                      Catch::Contains("[managed]") && Catch::EndsWith("file"));
    model.memory = Memory::host;
    model.machine.messages[0].reset();
    CHECK_THROWS_WITH(require_known(model, one_node), Catch::Contains("[host]"));
}
