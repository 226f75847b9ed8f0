// Who takes part in timed messages, and that they end on any number of ranks.

#include <catch2/catch.hpp>
#include <set>

#include "comm/network/ping_pong.hpp"

using namespace keel;

TEST_CASE("pairs are at the distance asked for, disjoint and spread") {
    const std::vector<int> node_of{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2};
    const std::vector<int> socket_of{0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1};
    const RankPlaces ranks{node_of, socket_of};
    for (const Locality locality : {Locality::socket, Locality::node, Locality::off_node}) {
        const auto pairs = pairs_at(ranks, locality, 100);
        CHECK(pairs.size() == (locality == Locality::off_node ? 4 : 6));
        std::set<int> taken;
        for (const Pair& pair : pairs) {
            CHECK(ranks.locality(pair.first, pair.second) == locality);
            CHECK(taken.insert(pair.first).second);
            CHECK(taken.insert(pair.second).second);
        }
        const auto few = pairs_at(ranks, locality, 2);
        REQUIRE(few.size() == 2);
        CHECK(few[0] == pairs[0]);
        CHECK(few[1] == pairs[pairs.size() / 2]);
    }
    const std::vector<int> one(1);
    CHECK(pairs_at({one, {}}, Locality::socket, 4).empty());
    CHECK(pairs_of_nodes({one, {}}).empty());
    const std::vector<int> ragged{0, 1, 1, 2, 2, 2, 1};
    CHECK(pairs_of_nodes({ragged, {}}) == std::vector<Pair>{{1, 3}, {2, 4}, {6, 5}});
}

TEST_CASE("round trips end, whoever takes part") {
    const Communicator comm = Communicator::world();
    std::vector<int> node_of(static_cast<std::size_t>(comm.size()));
    for (std::size_t rank = 0; rank < node_of.size(); ++rank) node_of[rank] = static_cast<int>(rank / 2);
    const RankPlaces ranks{node_of, {}};
    for (const auto& pairs : {pairs_at(ranks, Locality::node, 2), pairs_at(ranks, Locality::off_node, 9),
                              pairs_of_nodes(ranks), std::vector<Pair>{}})
        for (const std::size_t bytes : {0u, 1u, 100000u})
            for (const int messages : {1, 3}) {
                PingPong pong(comm, pairs, bytes, messages);
                pong.round_trips(3);
                CHECK(comm.sum(pong.takes_part() ? 1 : 0) == 2.0 * static_cast<double>(pairs.size()));
            }
}
