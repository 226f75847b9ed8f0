// Who takes part in timed messages, and that they end on any number of ranks.

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "comm/network/ping_pong.hpp"
#include "tests/chosen_backend.hpp"

using namespace keel;

TEST_CASE("pairs are at the distance asked for, disjoint and spread") {
    const std::vector<int> node_of{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2};
    const std::vector<int> socket_of{0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1};
    const RankPlaces ranks{node_of, socket_of};
    for (const Locality locality : {Locality::socket, Locality::node, Locality::off_node}) {
        const auto pairs = pairs_at(ranks, locality);
        CHECK(pairs.size() == (locality == Locality::off_node ? 4 : 6));
        std::set<int> taken;
        for (const Pair& pair : pairs) {
            CHECK(ranks.locality(pair.first, pair.second) == locality);
            CHECK(taken.insert(pair.first).second);
            CHECK(taken.insert(pair.second).second);
        }
        const auto few = few_of(pairs, 2);
        REQUIRE(few.size() == 2);
        CHECK(few[0] == pairs[0]);
        CHECK(few[1] == pairs[pairs.size() / 2]);
    }
    const std::vector<int> one(1);
    CHECK(pairs_at({one, {}}, Locality::socket).empty());
    CHECK(pairs_of_nodes({one, {}}, 4).empty());
    const std::vector<int> ragged{0, 1, 1, 2, 2, 2, 1};
    CHECK(pairs_of_nodes({ragged, {}}, 4) == std::vector<Pair>{{1, 3}, {2, 4}, {6, 5}});
    CHECK(pairs_of_nodes({ragged, {}}, 1) == std::vector<Pair>{{1, 3}});
    CHECK(fan_at({ragged, {}}, Locality::node) == std::vector<Pair>{{1, 2}, {1, 6}});
    CHECK(fan_at({ragged, {}}, Locality::off_node).size() == 6);  // a rank alone on its node
    CHECK(fan_at(ranks, Locality::off_node).size() == 8);
    CHECK(fan_at({one, {}}, Locality::node).empty());
    const std::vector<int> four{0, 0, 1, 1, 2, 2, 3};
    CHECK(pairs_of_nodes({four, {}}, 2) == std::vector<Pair>{{0, 2}, {1, 3}, {4, 6}});
}

TEST_CASE("a rank sends each message of a burst to another rank as long as there is one") {
    const std::vector<int> node_of{0, 0, 1, 1, 2, 2, 3, 3};
    const RankPlaces ranks{node_of, {}};
    const auto apart = pairs_at(ranks, Locality::off_node);
    REQUIRE(apart.size() == 4);
    for (const int count : {1, 2, 4}) {
        const auto messages = messages_among(apart, ranks, Locality::off_node, count);
        std::set<std::pair<int, int>> different;
        std::vector<int> sent(node_of.size()), received(node_of.size());
        for (const Pair& message : messages) {
            CHECK(ranks.locality(message.first, message.second) == Locality::off_node);
            different.insert({message.first, message.second});
            ++sent[static_cast<std::size_t>(message.first)];
            ++received[static_cast<std::size_t>(message.second)];
        }
        CHECK(different.size() == messages.size());
        CHECK(sent == std::vector<int>(node_of.size(), count));
        CHECK(received == sent);
    }
    // A rank with one neighbour on its node sends it all.
    const auto near = messages_among(pairs_at(ranks, Locality::node), ranks, Locality::node, 3);
    CHECK(near.size() == 24);
    CHECK(std::ranges::count(near, Pair{1, 0}) == 3);
}

TEST_CASE("round trips and bursts end, whoever takes part") {
    const Communicator comm = Communicator::world();
    std::vector<int> node_of(static_cast<std::size_t>(comm.size()));
    for (std::size_t rank = 0; rank < node_of.size(); ++rank) node_of[rank] = static_cast<int>(rank / 2);
    const RankPlaces ranks{node_of, {}};
    const auto apart = pairs_at(ranks, Locality::off_node);
    const auto pairs_take_part = [&](const std::vector<Pair>& pairs, bool takes_part) {
        CHECK(comm.sum(takes_part ? 1 : 0) == 2.0 * static_cast<double>(pairs.size()));
    };
    const auto trip = [&](const std::vector<Pair>& pairs, std::size_t bytes, std::span<const int> nodes) {
        PingPong pong(comm, pairs, bytes, nodes);
        pong.round_trips(3);
        pairs_take_part(pairs, pong.takes_part());
    };
    for (const std::size_t bytes : {0u, 1u, 100000u}) {
        for (const auto& pairs : {pairs_at(ranks, Locality::node), few_of(apart, 1), apart, {}})
            trip(pairs, bytes, {});
        for (const std::size_t each : {1u, 2u}) trip(pairs_of_nodes(ranks, each), bytes, node_of);
    }
    for (const Locality locality : {Locality::node, Locality::off_node}) {
        const auto pairs = pairs_at(ranks, locality);
        for (const Carrier carrier : values_of<Carrier>()) {
            if (carrier == Carrier::partitioned && !has_partitioned_messages()) continue;
            MessagesAtOnce burst(comm, virtual_topology(comm.size(), 2),
                                 messages_among(pairs, ranks, locality, 3), 100000, carrier);
            burst.exchanges(3);
            pairs_take_part(pairs, burst.takes_part());
        }
    }
}

TEST_CASE("messages leave from the memory of a device and arrive there") {
    const Communicator comm = Communicator::world();
    const auto backend = test::chosen_backend();
    DeviceBuffer device(*backend, 800, Wire::staged);
    const auto value = [](int rank, std::size_t n) {
        return static_cast<std::byte>(100 * rank + static_cast<int>(n));
    };
    const auto clear = [&] {
        if (device.staged()) std::ranges::fill(device.wire(), std::byte{77});
    };
    for (std::size_t n = 0; n < 400; ++n) device.wire()[n] = value(comm.rank(), n);
    device.to_device(400);
    clear();
    std::vector<Pair> pairs;
    for (int rank = 1; rank < comm.size(); rank += 2) pairs.push_back({rank - 1, rank});
    PingPong(comm, pairs, 400, {}, &device).round_trips(1);
    clear();
    device.to_host(400);
    int wrong = 0;
    for (std::size_t n = 0; n < 400; ++n)
        if (device.wire()[n] != value(comm.rank() / 2 * 2, n)) ++wrong;
    CHECK(wrong == 0);
}
