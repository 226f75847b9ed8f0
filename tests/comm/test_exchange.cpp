// Exchanges and reductions on the ranks that there are.

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "comm/exchange.hpp"
#include "comm/ghosts.hpp"
#include "comm/reduction.hpp"
#include "kernels/backends/registry.hpp"

using namespace keel;

namespace {

constexpr Boundaries periodic{};
constexpr Boundaries mixed{Boundary::periodic, Boundary::dirichlet, Boundary::neumann};

double value_at(int field, const Index& c) {
    return 1 + c[0] + 100.0 * c[1] + 10000.0 * c[2] + 0.25 * field;
}

struct Fixture {
    Fixture(Index boxes, int width, const Boundaries& boundaries, Placement placement, int ghosts)
        : comm(Communicator::world()),
          layout(boxes, width, boundaries, place(boxes, comm.size(), placement), comm.rank()),
          operations(make_backend("openmp")->make_operations(layout, ghosts)) {}

    Field make(int number) {
        const Field field = operations->make_field();
        const int n = layout.width();
        operations->assign(field, {n, n, n}, [number](const Index& c) { return value_at(number, c); });
        return field;
    }

    // Ghost cells that do not hold what they should: the wrapped cell's value where `depth` and `neighbours` reach it
    // inside the domain, else the zero they began with.
    int wrong_ghosts(Field field, int number, int depth, Neighbours neighbours) const {
        const int n = layout.width();
        const int g = field.shape().ghosts;
        const Index cells = layout.cells();
        int wrong = 0;
        for (int q = 0; q < layout.local_count(); ++q) {
            const Index first = layout.first_cell(layout.local()[static_cast<std::size_t>(q)]);
            for (int k = -g; k < n + g; ++k)
                for (int j = -g; j < n + g; ++j)
                    for (int i = -g; i < n + g; ++i) {
                        const Index c{i, j, k};
                        Index global = first + c;
                        int outside = 0;
                        bool reached = true;
                        for (std::size_t d = 0; d < 3; ++d) {
                            outside += c[d] < 0 || c[d] >= n ? 1 : 0;
                            if (c[d] < -depth || c[d] >= n + depth) reached = false;
                            if (layout.boundaries()[d] != Boundary::periodic &&
                                (global[d] < 0 || global[d] >= cells[d]))
                                reached = false;
                            global[d] = (global[d] + cells[d]) % cells[d];
                        }
                        if (outside > 1 && neighbours == Neighbours::faces) reached = false;
                        const double expected = reached ? value_at(number, global) : 0.0;
                        wrong += field.view()(q, i, j, k) == expected ? 0 : 1;
                    }
        }
        return wrong;
    }

    Communicator comm;
    Layout layout;
    std::unique_ptr<Operations> operations;
};

}  // namespace

TEST_CASE(
    "after an exchange every ghost cell holds its neighbour's value, and only messages that were planned "
    "went") {
    const auto placement = GENERATE(Placement::curve, Placement::round_robin);
    const auto neighbours = GENERATE(Neighbours::faces, Neighbours::all);
    const int depth = GENERATE(1, 2, 3);
    const bool persistent = GENERATE(false, true);
    for (const Boundaries& boundaries : {periodic, mixed}) {
        Fixture x({3, 2, 2}, 4, boundaries, placement, 3);
        if (x.comm.size() > x.layout.box_count()) return;
        const Topology topology = virtual_topology(x.comm.size(), 2);
        Ledger ledger(1);
        const auto exchange = make_exchange(
            *x.operations, plan_standard(ghost_pattern(x.layout, depth, neighbours)), [&](const Plan& plan) {
                return std::make_unique<TimedPointToPoint>(
                    make_point_to_point(x.comm, topology, plan, 7, persistent), ledger, 0);
            });
        Traffic predicted;
        // One field, then more in one exchange, then one again; each on fresh fields.
        for (const std::size_t fields : {1U, 3U, 10U, 1U}) {
            std::vector<Field> u;
            for (std::size_t n = 0; n < fields; ++n) u.push_back(x.make(static_cast<int>(n)));
            exchange->begin(u);
            exchange->finish();
            int wrong = 0;
            for (std::size_t n = 0; n < fields; ++n)
                wrong += x.wrong_ghosts(u[n], static_cast<int>(n), depth, neighbours);
            CHECK(wrong == 0);
            predicted += exchange->plan().traffic(topology, fields);
        }
        CHECK(exchange->count() == 4);
        CHECK(ledger.at(Op::send, 0).traffic == predicted);
        const auto peers = static_cast<long>(exchange->plan().sends.size());
        CHECK(ledger.at(Op::send, 0).traffic.messages ==
              4 * peers);  // one per neighbour, however many fields
    }
}

TEST_CASE("an exchange is begun and finished in turn") {
    Fixture x({3, 2, 2}, 4, periodic, Placement::curve, 1);
    if (x.comm.size() > x.layout.box_count()) return;
    const Topology topology = virtual_topology(x.comm.size(), 1);
    const auto exchange = make_exchange(
        *x.operations, plan_standard(ghost_pattern(x.layout, 1, Neighbours::faces)),
        [&](const Plan& plan) { return make_point_to_point(x.comm, topology, plan, 8, false); });
    const Field u = x.make(0);
    CHECK_THROWS_AS(exchange->finish(), std::logic_error);
    exchange->begin(std::span(&u, 1));
    CHECK_THROWS_AS(exchange->begin(std::span(&u, 1)), std::logic_error);
    exchange->finish();
    CHECK(x.wrong_ghosts(u, 0, 1, Neighbours::faces) == 0);
}

TEST_CASE("sums over all boxes, several in one all-reduce") {
    const bool deterministic = GENERATE(false, true);
    const Communicator comm = Communicator::world();
    const Index boxes{3, 3, 2};
    const Layout layout(boxes, 2, periodic, place(boxes, comm.size(), Placement::scattered), comm.rank());
    const auto part = [](std::size_t sum, int box) {
        return std::sin(1.0 + box + 100.0 * static_cast<double>(sum));
    };
    const auto parts_of = [&](std::size_t sums) {
        std::vector<double> parts;
        for (std::size_t n = 0; n < sums; ++n)
            for (const int box : layout.local()) parts.push_back(part(n, box));
        return parts;
    };
    const auto expected = [&](std::size_t n) {
        double total = part(n, 0);
        for (int box = 1; box < 18; ++box) total += part(n, box);
        return total;
    };
    Ledger ledger(1);
    TimedReduction reduction(make_reduction(comm, layout, deterministic), ledger, 0);

    std::vector<double> totals(3);
    reduction.sum(parts_of(3), totals);
    for (std::size_t n = 0; n < 3; ++n) {
        CHECK(totals[n] == Approx(expected(n)).epsilon(1e-13));
        if (deterministic) CHECK(totals[n] == expected(n));  // to the last bit, on any number of ranks
    }
    CHECK(reduction.count().calls == 1);
    CHECK(reduction.count().words == (deterministic ? 3 * 18 : 3));

    CHECK(reduction.max(static_cast<double>(comm.rank())) == comm.size() - 1);
    CHECK(reduction.count().calls == 2);

    // Three under way at once, finished in the order begun.
    std::vector<PendingSum> pending;
    for (std::size_t n = 1; n <= 3; ++n) pending.push_back(reduction.begin_sum(parts_of(n), n));
    for (std::size_t n = 1; n <= 3; ++n) {
        std::vector<double> late(n);
        pending[n - 1].finish(late);
        for (std::size_t m = 0; m < n; ++m) CHECK(late[m] == Approx(expected(m)).epsilon(1e-13));
    }
    CHECK(reduction.count().calls == 5);
    CHECK(ledger.at(Op::reduction, 0).calls == 5);
    CHECK(ledger.at(Op::reduction, 0).words == reduction.count().words);
    CHECK_THROWS_AS(pending[0].finish(totals), std::logic_error);
}

TEST_CASE("a communicator gathers values and texts of different lengths on rank 0") {
    const Communicator comm = Communicator::world();
    const double mine = comm.rank() + 0.5;
    const auto values = comm.gather(std::span(&mine, 1));
    const auto texts = comm.gather(std::string(static_cast<std::size_t>(comm.rank()), 'x'));
    CHECK(comm.max(mine) == comm.size() - 0.5);
    CHECK(comm.min(mine) == 0.5);
    CHECK(comm.sum(1.0) == comm.size());
    CHECK(Communicator::self().size() == 1);
    CHECK(Communicator::self().sum(mine) == mine);
    if (comm.rank() != 0) {
        CHECK(values.empty());
        CHECK(texts.empty());
        return;
    }
    REQUIRE(values.size() == static_cast<std::size_t>(comm.size()));
    REQUIRE(texts.size() == values.size());
    for (std::size_t rank = 0; rank < values.size(); ++rank) {
        CHECK(values[rank] == static_cast<double>(rank) + 0.5);
        CHECK(texts[rank] == std::string(rank, 'x'));
    }
}

TEST_CASE("the nodes that MPI reports are numbered from 0 and have all ranks") {
    const Communicator comm = Communicator::world();
    const Topology topology = detect_topology(comm);
    CHECK(topology.detected);
    REQUIRE(topology.ranks() == comm.size());
    CHECK(topology.node_of[0] == 0);
    int highest = 0;
    for (const int node : topology.node_of) {
        CHECK(node <= highest + 1);
        highest = std::max(highest, node);
    }
    CHECK(topology.nodes() == highest + 1);
}
