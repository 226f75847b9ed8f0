// The time of plans, message by message.

#include <catch2/catch.hpp>
#include <fstream>

#include "comm/costs/plan_time.hpp"
#include "comm/plans/schemes.hpp"
#include "tests/comm/costs/golden_machines.hpp"
#include "tests/comm/costs/time_by_messages.hpp"

using namespace keel;
using nlohmann::json;
using test::phase_time;
using test::plan_time;
using test::SizedMessage;

namespace {

std::vector<SizedMessage> sized(const json& messages, double columns) {
    std::vector<SizedMessage> list;
    for (const json& m : messages) list.push_back({m.at(0), m.at(1), columns * m.at(2).get<double>()});
    return list;
}

json golden_file(const std::string& name) {
    std::ifstream file(std::string(KEEL_SOURCE_DIR) + "/tests/golden/" + name);
    return json::parse(file);
}

}  // namespace

TEST_CASE("the phases of plans take the golden times") {
    const json golden = golden_file("plan_times.json");
    const json machines = test::golden_models();
    int compared = 0;
    for (const json& c : golden.at("cases")) {
        const std::vector<int> node_of = c.at("node_of_rank");
        std::vector<int> parity;
        for (std::size_t rank = 0; rank < node_of.size(); ++rank)
            parity.push_back(static_cast<int>(rank % 2));
        for (const auto& [plan, expected] : c.at("plans").items())
            for (const std::string name : {"blue_waters", "lassen"})
                for (const bool sockets : {false, true}) {
                    const Machine machine = test::golden_machine(machines, name);
                    const RankPlaces ranks{node_of,
                                           sockets ? std::span<const int>(parity) : std::span<const int>()};
                    const json& times = expected.at("times").at(name + (sockets ? "_sockets" : ""));
                    double total = 0;
                    for (const char* phase : {"local_S", "global", "local_R"}) {
                        INFO(plan << " " << phase << " on " << name);
                        const auto messages = sized(expected.at("phases").at(phase), c.at("columns"));
                        const double time = phase_time(machine, Memory::host, ranks, messages);
                        CHECK(time == Approx(times.at(phase).get<double>()).epsilon(1e-12).margin(0));
                        total += time;
                        ++compared;
                    }
                    CHECK(total == Approx(times.at("total").get<double>()).epsilon(1e-12).margin(0));
                }
    }
    CHECK(compared == 18 * 4 * 2 * 2 * 3);
}

TEST_CASE("what overlaps between nodes is charged to the process that does both") {
    const Machine machine = test::golden_machine(test::golden_models(), "lassen");
    const std::vector<int> labels{0, 0, 0, 1, 1};
    const Topology topology(labels, NodeSource::map);
    const RankPlaces ranks{topology.node_of(), {}};
    const auto time = [&](std::vector<Request> requests) {
        return plan_time(machine, Memory::host, ranks,
                         make_plan(ListedPattern(std::move(requests)), topology, {}, {}), 1);
    };
    const double on_node = machine.message(Memory::host, Locality::node, 8).alpha +
                           machine.message(Memory::host, Locality::node, 8).beta * 8;
    const Request inside{{0, 1, 0}, 1};  // 0 -> 1, on a node
    const Request across{{2, 1, 0}, 3};  // 2 -> 3, between nodes: other processes
    const Request by_the_same{{0, 1, 0}, 3};
    const PlanTime apart = time({inside, across});
    CHECK(apart.local == Approx(on_node).epsilon(1e-12));
    CHECK(apart.total() == apart.between_nodes());
    const PlanTime together = time({inside, by_the_same});
    CHECK(together.between_nodes() == apart.between_nodes());
    CHECK(together.total() == Approx(on_node + apart.between_nodes()).epsilon(1e-12));
}

TEST_CASE("receives count like sends, and a node's bytes bound its ranks") {
    const Machine machine = test::golden_machine(test::golden_models(), "lassen");
    const std::vector<int> node_of{0, 0, 0, 0, 1, 2};
    const RankPlaces ranks{node_of, {}};
    const auto time = [&](const std::vector<SizedMessage>& messages) {
        return phase_time(machine, Memory::host, ranks, messages);
    };
    CHECK(time({}) == 0);
    const std::vector<SizedMessage> scatter{{4, 0, 8}, {4, 1, 8}, {4, 2, 8}};
    std::vector<SizedMessage> gather;
    for (const SizedMessage& m : scatter) gather.push_back({m.target, m.source, m.bytes});
    const Postal tiny = machine.message(Memory::host, Locality::off_node, 8);
    CHECK(time(scatter) == Approx(3 * tiny.time(8)).epsilon(1e-14));
    CHECK(time(gather) == time(scatter));

    // Four ranks at full speed need more than the node can inject, one does not.
    const Postal large = machine.message(Memory::host, Locality::off_node, 1e6);
    CHECK(time({{0, 4, 1e6}}) == Approx(large.time(1e6)).epsilon(1e-14));
    const std::vector<SizedMessage> all{{0, 4, 1e6}, {1, 5, 1e6}, {2, 4, 1e6}, {3, 5, 1e6}};
    CHECK(time(all) ==
          Approx(std::max(large.alpha + 4e6 * machine.injection(), 2 * large.time(1e6))).epsilon(1e-14));
    const std::vector<SizedMessage> spread{{0, 4, 1e6}, {1, 4, 1e6}, {2, 5, 1e6}, {3, 5, 1e6}, {4, 5, 8}};
    CHECK(time(spread) >= large.alpha + 4e6 * machine.injection());

    // Within and between nodes in one phase: a process does both, the floor is for one.
    const Postal inside = machine.message(Memory::host, Locality::node, 1e6);
    CHECK(time({{0, 1, 1e6}, {0, 4, 1e6}}) == Approx(inside.time(1e6) + large.time(1e6)).epsilon(1e-14));
}

TEST_CASE("of several messages each takes the overhead, and all together the longest latency") {
    const Machine whole = test::golden_machine(test::golden_models(), "lassen");
    Machine machine = whole;
    const auto set = [&](Locality locality, double overhead) {
        machine.messages[0]->at(locality, Protocol::short_)->overhead = overhead;
    };
    set(Locality::off_node, 2e-7);
    set(Locality::node, 1e-7);
    const std::vector<int> node_of{0, 0, 1, 2, 3};
    const RankPlaces ranks{node_of, {}};
    const auto time = [&](const Machine& on, const std::vector<SizedMessage>& messages) {
        return phase_time(on, Memory::host, ranks, messages);
    };
    const Postal far = machine.message(Memory::host, Locality::off_node, 8);
    const Postal near = machine.message(Memory::host, Locality::node, 8);
    // One message takes all of alpha, whatever part of it is overhead.
    CHECK(time(machine, {{0, 2, 8}}) == Approx(far.time(8)).epsilon(1e-14));
    const std::vector<SizedMessage> three{{0, 2, 8}, {0, 3, 8}, {0, 4, 8}};
    CHECK(time(machine, three) == Approx(far.alpha + 2 * 2e-7 + 3 * far.beta * 8).epsilon(1e-14));
    CHECK(time(whole, three) == Approx(3 * far.time(8)).epsilon(1e-14));
    // Known concurrency decides, whether overheads are known or not.
    for (const auto& [concurrency, alphas] :
         {std::pair(0.0, 3.0), std::pair(0.5, 2.0), std::pair(1.0, 1.0)}) {
        Machine known = whole;
        known.concurrency = machine.concurrency = concurrency;
        CHECK(time(known, three) == Approx(alphas * far.alpha + 3 * far.beta * 8).epsilon(1e-14));
        const double further = std::max(2e-7, (1 - concurrency) * far.alpha);
        CHECK(time(machine, three) == Approx(far.alpha + 2 * further + 3 * far.beta * 8).epsilon(1e-14));
    }
    machine.concurrency.reset();
    CHECK(time(machine, {{0, 1, 8}, {0, 2, 8}}) ==
          Approx(1e-7 + far.alpha + 8 * (near.beta + far.beta)).epsilon(1e-14));
    set(Locality::off_node, far.alpha);
    set(Locality::node, near.alpha);
    CHECK(time(machine, three) == time(whole, three));
    // A transport differs from isend by its overhead and latency, where those of both are known.
    Machine carried = machine;
    const auto alpha_by = [&](Carrier carrier, Locality locality) {
        Load load;
        load.add(carried, Memory::host, locality, 0, carrier);
        return load.overhead + load.latency;
    };
    const auto at = static_cast<std::size_t>(Locality::off_node);
    carried.transports[static_cast<std::size_t>(Carrier::put)][at] = {3e-7, 9e-7};
    CHECK(alpha_by(Carrier::put, Locality::off_node) == Approx(far.alpha).epsilon(1e-14));
    carried.transports[static_cast<std::size_t>(Carrier::isend)][at] = {2e-7, 5e-7};
    CHECK(alpha_by(Carrier::put, Locality::off_node) == Approx(far.alpha + 5e-7).epsilon(1e-14));
    CHECK(alpha_by(Carrier::put, Locality::node) == Approx(near.alpha).epsilon(1e-14));
    carried.transports[static_cast<std::size_t>(Carrier::isend)][at] = {2e-7, 1};
    CHECK(alpha_by(Carrier::put, Locality::off_node) == 0);
    // Messages within a node and between nodes at once share the latency, too.
    Load both, one;
    set(Locality::off_node, 2e-7);
    both.add(machine, Memory::host, Locality::off_node, 8);
    one.add(machine, Memory::host, Locality::off_node, 8);
    both += one;
    CHECK(both.latency == one.latency);
    CHECK(both.overhead == 2 * one.overhead);
}

TEST_CASE("only what a plan needs must be known of a machine") {
    Machine machine = test::golden_machine(test::golden_models(), "lassen");
    machine.injection_beta.reset();
    machine.messages[0]->at(Locality::off_node, Protocol::rendezvous).reset();
    const std::vector<int> node_of{0, 0, 1};
    const RankPlaces ranks{node_of, {}};
    const auto time = [&](double bytes, int target) {
        const std::vector<SizedMessage> one{{0, target, bytes}};
        return phase_time(machine, Memory::host, ranks, one);
    };
    CHECK(time(1e6, 1) > 0);
    CHECK_THROWS_WITH(time(8, 2), Catch::Contains("machine.injection"));
    CHECK_THROWS_WITH(time(1e6, 2), Catch::Contains("host.off_node.rendezvous"));
}
