// Plans of patterns that no rank knows as a whole, on the ranks that there are.

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "comm/costs/comparison.hpp"
#include "comm/plans/negotiation.hpp"
#include "comm/ranks/sparse_alltoallv.hpp"
#include "tests/comm/costs/golden_machines.hpp"
#include "tests/comm/random_case.hpp"

using namespace keel;

namespace {

std::vector<SchemeOptions> all_options(std::size_t message_cap) {
    return candidates_without_axes({.message_cap = message_cap, .columns = 3, .ranks_per_device = 2});
}

// The items that a rank would say it needs, duplicates and its own items included.
std::vector<Item> needs_of(const test::RandomCase& c, int rank) {
    std::vector<Item> items;
    for (const Request& r : c.requests)
        if (r.rank == rank) items.push_back(r.item);
    return items;
}

}  // namespace

TEST_CASE("ranks that each know only their own needs agree on the plan of who knows all") {
    const Communicator comm = Communicator::world();
    int differ = 0;
    int differ_again = 0;  // when plans are agreed on one after the other
    std::size_t messages = 0;
    for (unsigned seed = 0; seed < 40; ++seed) {
        const test::RandomCase c = test::random_case(seed, comm.size());
        const Topology topology = c.topology();
        const ListedPattern pattern(c.requests);
        Negotiator negotiator(comm, topology);
        for (const SchemeOptions& options : all_options(c.message_cap)) {
            const Plan negotiated = Negotiator(comm, topology).plan(needs_of(c, comm.rank()), options);
            differ += negotiated == make_plan(pattern, topology, options, comm.rank()) ? 0 : 1;
            differ_again += negotiator.plan(needs_of(c, comm.rank()), options) == negotiated ? 0 : 1;
            negotiated.for_each_phase([&](const PhaseMessages& phase) { messages += phase.messages.size(); });
        }
    }
    CHECK(differ == 0);
    CHECK(differ_again == 0);
    CHECK(comm.max(static_cast<double>(messages)) >= (comm.size() > 1 ? 100 : 0));
}

TEST_CASE("nodes that each know only their own ranks' parts agree on the times of who knows all") {
    const Communicator comm = Communicator::world();
    const Model model{test::golden_machine(test::golden_models(), "blue_waters"), Memory::host};
    int differ = 0;
    double seconds = 0;
    for (unsigned seed = 0; seed < 40; ++seed) {
        const test::RandomCase c = test::random_case(seed, comm.size());
        const Topology topology = c.topology();
        const Setup setup{topology, &model};
        const std::vector<SchemeOptions> schemes = all_options(c.message_cap);
        std::vector<Share> mine;
        for (const SchemeOptions& scheme : schemes)
            mine.push_back(share_of(make_plan(ListedPattern(c.requests), topology, scheme, comm.rank()),
                                    comm.rank(), 1, setup));
        const auto rows = times_by_nodes(comm, comm.split(topology.node(comm.rank())), schemes, mine, setup);
        REQUIRE(rows.size() == schemes.size());
        for (std::size_t n = 0; n < rows.size(); ++n) {
            const Plan whole = make_plan(ListedPattern(c.requests), topology, schemes[n], {});
            const SchemeRow wanted = summary(schemes[n], shares_of(whole, 1, setup), setup);
            differ += name(rows[n].scheme) == name(schemes[n]) ? 0 : 1;
            differ += std::abs(rows[n].time->total() - wanted.time->total()) <= 1e-13 * wanted.time->total()
                          ? 0
                          : 1;
            differ += rows[n].near.has_value() == wanted.near.has_value() ? 0 : 1;
            differ += std::abs(rows[n].seconds() - wanted.seconds()) <= 1e-13 * wanted.seconds() ? 0 : 1;
            seconds += rows[n].seconds();
        }
    }
    CHECK(comm.max(differ) == 0);
    CHECK((seconds > 0 || comm.size() == 1));
}

TEST_CASE("letters arrive though nobody counts them, and those of the next round stay apart") {
    const Communicator comm = Communicator::world();
    for (int round = 0; round < 50; ++round) {
        WordsByRank outgoing;
        for (int rank = 0; rank < comm.size(); ++rank)
            if ((comm.rank() * 7 + rank * 3 + round) % 3 == 0)
                outgoing[rank] = std::vector<std::int64_t>(static_cast<std::size_t>(round % 4), comm.rank());
        WordsByRank expected;
        for (int rank = 0; rank < comm.size(); ++rank)
            if ((rank * 7 + comm.rank() * 3 + round) % 3 == 0)
                expected[rank] = std::vector<std::int64_t>(static_cast<std::size_t>(round % 4), rank);
        CHECK(sparse_alltoallv(comm, outgoing, round % 2) == expected);
    }
}

TEST_CASE("a communicator splits by colour, in the order of its ranks") {
    const Communicator comm = Communicator::world();
    const Communicator part = comm.split(comm.rank() % 2);
    CHECK(part.rank() == comm.rank() / 2);
    CHECK(part.size() == (comm.size() + 1 - comm.rank() % 2) / 2);
    const std::vector<std::int64_t> mine(static_cast<std::size_t>(part.rank()), comm.rank());
    std::vector<std::int64_t> expected;
    for (int rank = 0; rank < part.size(); ++rank)
        expected.insert(expected.end(), static_cast<std::size_t>(rank), 2 * rank + comm.rank() % 2);
    CHECK(part.all_gather(mine) == expected);
}
