// The time of all-reduces and gathers, round by round.

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>

#include "comm/costs/collective_time.hpp"
#include "comm/ranks/topology.hpp"
#include "comm/reductions/rounds.hpp"
#include "tests/comm/costs/golden_machines.hpp"

using namespace keel;
using nlohmann::json;

namespace {

// Consecutive ranks on a node, consecutive ranks of a node on a socket.
struct Places {
    Places(int ranks, int ranks_per_node, int ranks_per_socket = 0)
        : topology(virtual_topology(ranks, ranks_per_node)) {
        if (ranks_per_socket > 0) topology = topology.on_sockets_of(ranks_per_socket, SocketSource::slices);
    }
    explicit Places(const Topology& given) : topology(given) {}
    double time(const Machine& machine, std::size_t words, AllReduceAlgorithm algorithm) const {
        return all_reduce_time(machine, topology, words, algorithm);
    }
    double time(const Machine& machine, std::size_t words, Pairing pairing,
                std::size_t most_ranks = 4096) const {
        if (pairing == Pairing::slices && !can_slice(topology, words)) pairing = Pairing::leaders;
        return sum_of(all_reduce_rounds(machine, topology, words, pairing, most_ranks));
    }

    Topology topology;
};

// Hopper's messages are Blue Waters', with no two ranks on a socket.
Machine machine_named(const std::string& name) {
    return test::golden_machine(test::golden_models(), name == "hopper" ? "blue_waters" : name);
}

// In the order of `pairings`.
const std::vector<std::string> golden_words{"doubling", "rabenseifner", "node_leader", "node_slices"};
constexpr Pairing pairings[] = {Pairing::doubling, Pairing::halving, Pairing::leaders, Pairing::slices};

}  // namespace

TEST_CASE("all-reduces take the golden times") {
    std::ifstream file(std::string(KEEL_SOURCE_DIR) + "/tests/golden/all_reduce_times.json");
    int compared = 0;
    const json golden = json::parse(file);
    for (const json& c : golden.at("cases")) {
        INFO(c.dump());
        const std::string word = c.at("algorithm");
        const auto found = std::ranges::find(golden_words, word) - golden_words.begin();
        REQUIRE(found < 4);
        const json& sockets = c.at("ranks_per_socket");
        const Places places(c.at("ranks"), c.at("ranks_per_node"),
                            sockets.is_null() ? 0 : sockets.get<int>());
        CHECK(places.time(machine_named(c.at("machine")), c.at("words"), pairings[found]) ==
              Approx(c.at("seconds").get<double>()).epsilon(1e-12).margin(0));
        ++compared;
    }
    CHECK(compared == 200);
}

TEST_CASE("all-reduces of few ranks take what their messages say") {
    const Machine machine = machine_named("blue_waters");
    const auto message = [&](Locality locality, double bytes) {
        return machine.message(Memory::host, locality, bytes).time(bytes);
    };
    for (const Pairing pairing : pairings) CHECK(Places(1, 1).time(machine, 170, pairing) == 0);
    // One rank a node: log2 P messages between nodes, and no node that anything could be done within.
    for (const std::size_t words : std::initializer_list<std::size_t>{1, 45, 306, 2000}) {
        const double bytes = 8.0 * static_cast<double>(words);
        const double six = Places(64, 1).time(machine, words, Pairing::doubling);
        CHECK(six == Approx(6 * message(Locality::off_node, bytes)).epsilon(1e-12));
        CHECK(Places(64, 1).time(machine, words, Pairing::leaders) == six);
        CHECK(Places(64, 1).time(machine, words, Pairing::slices) == six);
    }
    // One node: nothing leaves it, and the machine needs no network.
    Machine alone = machine;
    alone.injection_beta.reset();
    for (const Protocol protocol : {Protocol::short_, Protocol::eager, Protocol::rendezvous})
        alone.messages[0]->at(Locality::off_node, protocol).reset();
    CHECK(Places(8, 8).time(alone, 1, Pairing::doubling) ==
          Approx(3 * message(Locality::node, 8)).epsilon(1e-12));
    CHECK(Places(8, 8).time(alone, 16, Pairing::leaders) ==
          Approx(6 * message(Locality::node, 128)).epsilon(1e-12));
    CHECK(Places(8, 8, 8).time(alone, 16, Pairing::slices) ==
          Approx(2 * (message(Locality::socket, 64) + message(Locality::socket, 32) +
                      message(Locality::socket, 16)))
              .epsilon(1e-12));
    CHECK_THROWS_AS(Places(8, 4).time(alone, 1, Pairing::doubling), MissingParameter);
}

TEST_CASE("MPICH halves what is longer than 2 KiB and has a word a rank, and doubles all else") {
    const Machine machine = machine_named("blue_waters");
    const auto is = [&](int ranks, std::size_t words, Pairing pairing) {
        const Places places(ranks, 16);
        for (const auto algorithm : {AllReduceAlgorithm::mpi, AllReduceAlgorithm::rabenseifner})
            if (places.time(machine, words, algorithm) != places.time(machine, words, pairing)) return false;
        return true;
    };
    CHECK(is(64, 256, Pairing::doubling));  // 2048 bytes
    CHECK(is(64, 257, Pairing::halving));
    CHECK(is(256, 306, Pairing::halving));
    CHECK(is(511, 306, Pairing::halving));
    CHECK(is(512, 306, Pairing::doubling));
    CHECK(is(4096, 306, Pairing::doubling));
}

TEST_CASE("the fastest all-reduce is one of the others, and another for few words than for many") {
    using enum AllReduceAlgorithm;
    const Machine machine = machine_named("lassen");
    const Places places(256, 16);
    std::vector<AllReduceAlgorithm> taken;
    for (std::size_t words = 1; words <= 1 << 16; words *= 4) {
        const AllReduceAlgorithm fastest = fastest_all_reduce(machine, places.topology, words);
        const double time = places.time(machine, words, automatic);
        CHECK(time == places.time(machine, words, fastest));
        for (const AllReduceAlgorithm other : {recursive_doubling, mpi, node_aware})
            CHECK(time <= places.time(machine, words, other));
        if (std::ranges::find(taken, fastest) == taken.end()) taken.push_back(fastest);
    }
    CHECK(taken.size() >= 2);
}

TEST_CASE("rounds that more nodes add are counted") {
    const Machine machine = machine_named("lassen");
    for (const Pairing pairing : pairings)
        for (const int per_node : {1, 8})
            for (const int per_socket : {0, 4})
                for (const std::size_t words : std::initializer_list<std::size_t>{1, 40}) {
                    const Places places(1024, per_node, per_node > 1 ? per_socket : 0);
                    INFO(static_cast<int>(pairing) << ", " << per_node << " a node, " << words << " words");
                    CHECK(places.time(machine, words, pairing, 64) ==
                          Approx(places.time(machine, words, pairing, 1024)).epsilon(1e-12).margin(0));
                }
    // Nodes that are not filled in turn are all gone through.
    std::vector<int> nodes(1024);
    for (std::size_t rank = 0; rank < nodes.size(); ++rank) nodes[rank] = static_cast<int>(rank % 128);
    const Places in_turn(Topology(nodes, NodeSource::map));
    CHECK(in_turn.time(machine, 1, Pairing::doubling, 64) ==
          in_turn.time(machine, 1, Pairing::doubling, 1024));
}

TEST_CASE("gathering takes what the messages of its doublings say") {
    const Machine machine = machine_named("blue_waters");
    const auto message = [&](Locality locality, std::size_t words) {
        const auto bytes = static_cast<double>(8 * words);
        return machine.message(Memory::host, locality, bytes).time(bytes);
    };
    const auto far = [&](std::size_t words) { return message(Locality::off_node, words); };
    // 5 ranks, each on a node: one, two, and the one that is left.
    const Places alone(5, 1);
    const RankPlaces places{alone.topology.node_of(), {}};
    CHECK(all_gather_time(machine, places, 3) == Approx(far(3) + far(6) + far(3)).epsilon(1e-12));
    CHECK(gather_time(machine, places, 3) == Approx(far(3) + far(6) + far(3)).epsilon(1e-12));
    // 4 ranks on two nodes: a round within nodes goes up the tree, and the next one between them.
    const Places pairs(4, 2);
    const RankPlaces two_nodes{pairs.topology.node_of(), {}};
    CHECK(gather_time(machine, two_nodes, 7) == Approx(message(Locality::node, 7) + far(14)).epsilon(1e-12));
    CHECK(all_gather_time(machine, two_nodes, 7) >= gather_time(machine, two_nodes, 7));
    const Places one(1, 1);
    CHECK(all_gather_time(machine, {one.topology.node_of(), {}}, 7) == 0);
}
