// Plans backwards, and items of any length: on the ranks at hand, for random patterns and nodes, under every
// scheme.

#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "comm/carry/item_exchange.hpp"
#include "comm/carry/reverse_exchange.hpp"
#include "comm/patterns/row_partition.hpp"
#include "comm/plans/negotiation.hpp"
#include "kernels/backends/registry.hpp"
#include "tests/comm/random_case.hpp"

using namespace keel;

namespace {

// As items of a vector: of one value each, and no two owners have the same name.
std::vector<Request> requests_by_row(const test::RandomCase& c) {
    std::vector<Request> requests = c.requests;
    for (Request& r : requests) {
        r.item.values = 1;
        r.item.name += 8 * r.item.owner;
    }
    sort_distinct(requests);
    std::erase_if(requests, [](const Request& r) { return r.rank == r.item.owner; });
    return requests;
}

std::vector<Item> needed_by(const std::vector<Request>& requests, int rank) {
    std::vector<Item> items;
    for (const Request& r : requests)
        if (r.rank == rank) items.push_back(r.item);
    return items;
}

double part(int rank, const Item& item) {
    return 1 + 1000.0 * rank + static_cast<double>(item.name);
}

struct Post {
    Communicator comm = Communicator::world();
    std::unique_ptr<Backend> backend = make_backend("openmp");
    std::unique_ptr<Operations> buffers = backend->make_operations(block_layout(0), 0);

    ItemExchange exchange(const Topology& topology, Plan plan) {
        return {*buffers, std::move(plan), comm.rank(), {comm, topology}};
    }
};

}  // namespace

TEST_CASE("parts of sums all come home, once, and none is sent to a node twice") {
    Post post;
    const int rank = post.comm.rank();
    int wrong = 0;
    double crossing = 0;
    for (unsigned seed = 0; seed < 40; ++seed) {
        const test::RandomCase c = test::random_case(seed, post.comm.size());
        const Topology topology = c.topology();
        const std::vector<Request> requests = requests_by_row(c);
        const std::vector<Item> needed = needed_by(requests, rank);
        std::map<std::int64_t, double> wanted;
        for (const Request& r : requests)
            if (r.item.owner == rank) wanted[r.item.name] += part(r.rank, r.item);
        for (const SchemeOptions& options : candidates_without_axes({.message_cap = c.message_cap})) {
            const Plan plan = Negotiator(post.comm, topology).plan(needed, options);
            const ReverseExchange way = reverse_exchange(plan, topology, rank, needed);
            std::vector<double> slots(way.slots(), 0.0);
            for (std::size_t n = 0; n < needed.size(); ++n) slots[n] = part(rank, needed[n]);
            for (const ReverseStage& stage : way.stages) {
                std::map<Item, double> arrived;
                post.exchange(topology, stage.plan)
                    .run(
                        [&](const Item& item, std::span<double> out) {
                            out[0] = slots[std::ranges::lower_bound(stage.sends, item, {},
                                                                    &ReverseStage::Contribution::item)
                                               ->slot];
                        },
                        [&](const Item& item, std::span<const double> in) { arrived.emplace(item, in[0]); });
                wrong += arrived.size() != stage.receives.size();
                for (const ReverseStage::Contribution& one : stage.receives)
                    slots[one.slot] += arrived.at(one.item);
            }
            wrong += way.homes.size() != wanted.size();
            for (std::size_t n = 0; n < way.homes.size(); ++n)
                wrong += slots[way.contributions + way.relays + n] != wanted.at(way.homes[n]);
            // As much crosses as forward.
            const double there =
                post.comm.sum(static_cast<double>(plan.traffic(rank, topology, 1).off_node_bytes));
            const double back =
                post.comm.sum(static_cast<double>(way.traffic(rank, topology).off_node_bytes));
            wrong += there != back;
            crossing += there;
        }
    }
    CHECK(post.comm.sum(wrong) == 0);
    CHECK((post.comm.size() == 1 || crossing > 0));
}

TEST_CASE("items of any length arrive whole under every scheme") {
    Post post;
    const int rank = post.comm.rank();
    int wrong = 0;
    for (unsigned seed = 0; seed < 40; ++seed) {
        const test::RandomCase c = test::random_case(seed, post.comm.size());
        const Topology topology = c.topology();
        const std::vector<Item> needed = needed_by(c.requests, rank);
        for (const SchemeOptions& options : candidates_without_axes({.message_cap = c.message_cap})) {
            std::set<Item> missing(needed.begin(), needed.end());
            std::erase_if(missing, [&](const Item& item) { return item.owner == rank; });
            post.exchange(topology, Negotiator(post.comm, topology).plan(needed, options))
                .run(
                    [&](const Item& item, std::span<double> out) {
                        wrong += item.owner != rank;
                        for (std::size_t n = 0; n < out.size(); ++n)
                            out[n] = part(rank, item) + 0.01 * static_cast<double>(n);
                    },
                    [&](const Item& item, std::span<const double> in) {
                        wrong += in.size() != static_cast<std::size_t>(item.values);
                        for (std::size_t n = 0; n < in.size(); ++n)
                            wrong += in[n] != part(item.owner, item) + 0.01 * static_cast<double>(n);
                        missing.erase(item);
                    });
            wrong += !missing.empty();
        }
    }
    CHECK(post.comm.sum(wrong) == 0);
}

TEST_CASE("a row's owner is found among parts of any sizes, empty ones too") {
    const RowPartition partition = partition_of(std::vector<std::int64_t>{0, 3, 0, 0, 1, 2, 0});
    CHECK(partition.rows == 6);
    CHECK(partition.ranks == 7);
    const std::vector<int> owners{1, 1, 1, 4, 5, 5};
    for (std::int64_t row = 0; row < partition.rows; ++row) {
        CHECK(partition.owner(row) == owners[static_cast<std::size_t>(row)]);
        for (int rank = 0; rank < partition.ranks; ++rank)
            CHECK(partition.owns(rank, row) == (rank == partition.owner(row)));
    }
    CHECK(partition.first(4) == 3);
    CHECK(partition.size(4) == 1);
    CHECK(partition.size(6) == 0);
}
