// Exchanges on the ranks that there are, and what communicators gather.

#include <array>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "comm/carry/exchange.hpp"
#include "comm/plans/schemes.hpp"
#include "comm/reductions/reduction.hpp"
#include "tests/boundaries.hpp"
#include "tests/chosen_backend.hpp"

using namespace keel;
using namespace keel::test;

namespace {

double value_at(int field, const Index& c) {
    return 1 + c[0] + 100.0 * c[1] + 10000.0 * c[2] + 0.25 * field;
}

// Emulated device memory can be sent from, but for the address sanitizer the host must not touch it; real
// device memory needs an MPI that takes it.
bool host_may_send_directly() {
    const std::string name = test::chosen_backend()->name();
#if defined(__SANITIZE_ADDRESS__)
    return !backend_info(name).features.device_memory;
#else
    return !backend_info(name).features.device_memory || name == "gpu_emulated";
#endif
}

// Counts the transports that this MPI has over and over.
Carrier carrier_numbered(int n) {
    static_assert(static_cast<std::size_t>(Carrier::partitioned) + 1 == names_of(Carrier{}).size());
    return static_cast<Carrier>(
        n % (static_cast<int>(Carrier::partitioned) + (has_partitioned_messages() ? 1 : 0)));
}

struct Fixture {
    Fixture(Index boxes, int width, const Boundaries& boundaries, Placement placement, int ghosts)
        : Fixture(Domain(boxes, boundaries), width, placement, ghosts) {}
    Fixture(const Domain& domain, int width, Placement placement, int ghosts)
        : comm(Communicator::world()),
          layout(domain, width, place(domain, comm.size(), placement), comm.rank()),
          operations(test::chosen_backend()->make_operations(layout, ghosts)) {}

    Field make(int number) {
        const Field field = operations->make_field();
        operations->assign(field, layout.box_cells(),
                           [number](const Index& c) { return value_at(number, c); });
        return field;
    }

    // Ghost cells that do not hold what they should: the wrapped cell's value where `depth` and `neighbours`
    // reach it inside the domain, else the zero they began with. All are checked, or those of one colour; the
    // others may then hold what they should or, if that colour comes alone, that zero.
    int wrong_ghosts(Field field, int number, int depth, Neighbours neighbours,
                     std::optional<Colour> colour = std::nullopt, bool alone = false) const {
        const Index n = layout.extent();
        const Index g = layout.layers(field.shape().ghosts);
        const Index cells = layout.cells();
        const test::HostField values(*operations, field);
        int wrong = 0;
        for (int q = 0; q < layout.local_count(); ++q) {
            const Index first = layout.first_cell(layout.local()[static_cast<std::size_t>(q)]);
            for (int k = -g[2]; k < n[2] + g[2]; ++k)
                for (int j = -g[1]; j < n[1] + g[1]; ++j)
                    for (int i = -g[0]; i < n[0] + g[0]; ++i) {
                        const Index c{i, j, k};
                        Index global = first + c;
                        const int parity = (global[0] + global[1] + global[2]) & 1;
                        const bool wanted = !colour || parity == static_cast<int>(*colour);
                        if (!wanted && !alone) continue;
                        int outside = 0;
                        bool reached = true;
                        for (std::size_t d = 0; d < 3; ++d) {
                            outside += c[d] < 0 || c[d] >= n[d] ? 1 : 0;
                            if (c[d] < -depth || c[d] >= n[d] + depth) reached = false;
                            if (layout.boundaries()[d] != Boundary::periodic &&
                                (global[d] < 0 || global[d] >= cells[d]))
                                reached = false;
                            global[d] = (global[d] + cells[d]) % cells[d];
                        }
                        if (outside > 1 && neighbours == Neighbours::faces) reached = false;
                        if (outside > 0 && !wanted) reached = false;
                        reached = reached && layout.domain().box_at(
                                                 {global[0] / n[0], global[1] / n[1], global[2] / n[2]});
                        const double expected = reached ? value_at(number, global) : 0.0;
                        wrong += values(q, i, j, k) == expected ? 0 : 1;
                    }
        }
        return wrong;
    }

    std::unique_ptr<Exchange> exchange(int depth, Neighbours neighbours, const Topology& topology,
                                       const SchemeOptions& scheme, const ExchangeOptions& options,
                                       const TransportOptions& transport) const {
        const GhostPattern pattern = ghost_pattern(layout, depth, neighbours, scheme);
        return make_exchange(*operations, pattern, make_plan(pattern, topology, scheme, comm.rank()), options,
                             transport);
    }

    // The wrong ghosts of a field after an exchange between nodes.
    int wrong_after_exchange(int depth, Neighbours neighbours, const Topology& topology,
                             const SchemeOptions& scheme) {
        const Field u = make(1);
        exchange(depth, neighbours, topology, scheme, {}, {comm, topology, 7})->run(u);
        return wrong_ghosts(u, 1, depth, neighbours);
    }

    Communicator comm;
    Layout layout;
    std::unique_ptr<Operations> operations;
};

constexpr std::array schemes{Scheme::standard, Scheme::two_step, Scheme::three_step, Scheme::split,
                             Scheme::staged_axes};

}  // namespace

TEST_CASE(
    "after an exchange every ghost cell holds its neighbour's value, and only messages that were planned "
    "went") {
    const Scheme scheme = GENERATE(from_range(schemes));
    const auto placement = GENERATE(Placement::curve, Placement::round_robin);
    const auto neighbours = GENERATE(Neighbours::faces, Neighbours::all);
    const int depth = GENERATE(1, 2, 3);
    const auto wire = GENERATE(Wire::direct, Wire::staged);
    // Every transport with every scheme.
    const Carrier carrier =
        GENERATE(true, false)
            ? Carrier::isend
            : carrier_numbered(depth + static_cast<int>(scheme) + 2 * static_cast<int>(neighbours));
    if (wire == Wire::direct && !host_may_send_directly()) return;
    for (const Boundaries& boundaries : {periodic, mixed}) {
        Fixture x({3, 2, 2}, 4, boundaries, placement, 3);
        const Topology topology = virtual_topology(x.comm.size(), 2);
        Ledger ledger(1);
        const auto exchange = x.exchange(depth, neighbours, topology,
                                         {.scheme = scheme, .message_cap = 256, .carrier = carrier},
                                         {.wire = wire}, {x.comm, topology, 7, {}, &ledger});
        Traffic predicted;
        // One field, then more, also more than a kernel packs at once, then one again; each on fresh fields.
        for (const std::size_t fields : {1U, depth == 1 ? 10U : 3U, 1U}) {
            std::vector<Field> u;
            for (std::size_t n = 0; n < fields; ++n) u.push_back(x.make(static_cast<int>(n)));
            exchange->begin(u, {});
            exchange->finish();
            int wrong = 0;
            for (std::size_t n = 0; n < fields; ++n)
                wrong += x.wrong_ghosts(u[n], static_cast<int>(n), depth, neighbours);
            CHECK(wrong == 0);
            predicted += exchange->plan().traffic(x.comm.rank(), topology, fields);
        }
        // A ghost has the colour by which its box counts on, whatever the number of cells around.
        for (const Colour colour : {Colour::red, Colour::black}) {
            const Field u = x.make(5);
            exchange->run(std::span(&u, 1), colour);
            CHECK(x.wrong_ghosts(u, 5, depth, neighbours, colour) == 0);
            predicted += exchange->plan().traffic(x.comm.rank(), topology, 1);
        }
        CHECK(exchange->count() == 5);
        CHECK(ledger.at(Op::send, 0).traffic == predicted);
        // As many messages for many fields as for one.
        const Traffic of_one = exchange->plan().traffic(x.comm.rank(), topology, 1);
        CHECK(predicted.messages == 5 * of_one.messages);
        // In single precision, which has these values, half the bytes; then as before.
        for (const Precision precision : {Precision::fp32, Precision::fp64}) {
            exchange->send_in(precision);
            const Field u = x.make(6);
            exchange->run(u);
            CHECK(x.wrong_ghosts(u, 6, depth, neighbours) == 0);
            const Traffic sent = ledger.at(Op::send, 0).traffic - predicted;
            CHECK(sent.messages == of_one.messages);
            CHECK(sent.bytes * static_cast<long>(sizeof(double) / bytes_of_value(precision)) == of_one.bytes);
            predicted = ledger.at(Op::send, 0).traffic;
        }
    }
}

TEST_CASE(
    "of one colour as many messages of half the length fill its ghosts and no others, in turns with all") {
    const Scheme scheme = GENERATE(from_range(schemes));
    const auto neighbours = GENERATE(Neighbours::faces, Neighbours::all);
    const auto wire = GENERATE(Wire::direct, Wire::staged);
    const Carrier carrier = carrier_numbered(static_cast<int>(scheme) + 2 * static_cast<int>(neighbours));
    if (wire == Wire::direct && !host_may_send_directly()) return;
    const std::vector<Domain> domains{
        {{4, 2, 2}, periodic},
        {{3, 2, 2}, {Boundary::dirichlet, {}, {}}},
        {{4, 2, 2}, mixed, std::vector<int>{0, 1, 2, 5, 7, 9, 14}, Boundary::neumann},
        {{4, 6, 1}, periodic, 2}};
    for (const Domain& domain : domains)
        for (const int width : {3, 8}) {
            const int depth = width == 3 ? 2 : 3;
            Fixture x(domain, width, Placement::scattered, depth);
            const Topology topology = virtual_topology(x.comm.size(), 2);
            Ledger ledger(1);
            const auto exchange = x.exchange(
                depth, neighbours, topology, {.scheme = scheme, .message_cap = 8000, .carrier = carrier},
                {.wire = wire, .one_colour = true}, {x.comm, topology, 7, {}, &ledger});
            const Plan& whole = exchange->plan();
            const Plan half = of_one_colour(whole);
            Traffic planned;
            // Several fields in one exchange, then one; each on fresh fields.
            for (const std::size_t fields : {width == 3 ? 10U : 3U, 1U})
                for (const std::optional<Colour> colour :
                     {std::optional(Colour::red), std::optional<Colour>(), std::optional(Colour::black)}) {
                    std::vector<Field> u;
                    for (std::size_t n = 0; n < fields; ++n) u.push_back(x.make(static_cast<int>(n)));
                    exchange->run(u, colour);
                    int wrong = 0;
                    for (std::size_t n = 0; n < fields; ++n)
                        wrong += x.wrong_ghosts(u[n], static_cast<int>(n), depth, neighbours, colour, true);
                    CHECK(wrong == 0);
                    planned += (colour ? half : whole).traffic(x.comm.rank(), topology, fields);
                }
            CHECK(ledger.at(Op::send, 0).traffic == planned);
            const Traffic one = half.traffic(x.comm.rank(), topology, 1);
            const Traffic all = whole.traffic(x.comm.rank(), topology, 1);
            CHECK(one.messages == all.messages);
            CHECK(2 * one.bytes >= all.bytes);
            // Narrow boxes are cut into single cells.
            CHECK((width == 3 ? one.bytes == all.bytes : 5 * one.bytes <= 3 * all.bytes));
        }
    // If colours meet their own kind across a periodic boundary, ghosts have the other colour than their
    // cells.
    Fixture odd({3, 2, 2}, 3, periodic, Placement::curve, 1);
    const Topology topology = virtual_topology(odd.comm.size(), 1);
    CHECK_FALSE(odd.layout.colours_alternate());
    CHECK_THROWS_AS(odd.exchange(1, neighbours, topology, {.scheme = scheme}, {.one_colour = true},
                                 {odd.comm, topology, 7}),
                    std::logic_error);
}

TEST_CASE(
    "every scheme fills the ghosts of any boxes, whoever owns them, missing ones and squares among them",
    "[plans]") {
    const auto neighbours = GENERATE(Neighbours::faces, Neighbours::all);
    const std::vector<std::vector<int>> unions{{0, 1, 2, 4, 5, 6, 8}, {0, 2, 3, 7, 9, 11}, {4, 6, 7, 10}};
    std::vector<Domain> domains;
    for (const Boundaries& boundaries : {periodic, mixed}) {
        for (const Index boxes : {Index{1, 1, 1}, Index{2, 1, 1}, Index{2, 3, 1}, Index{3, 3, 2}})
            domains.emplace_back(boxes, boundaries);
        for (const std::vector<int>& present : unions)
            domains.emplace_back(Index{3, 2, 2}, boundaries, present, Boundary::neumann);
        domains.emplace_back(Index{4, 3, 1}, boundaries, 2);
        domains.emplace_back(Index{1, 2, 1}, boundaries, 2);
        domains.emplace_back(Index{4, 3, 1}, boundaries, unions.front(), Boundary::neumann, 2);
    }
    int placement = 0;  // each in turn
    for (const Domain& domain : domains)
        for (const SchemeOptions& scheme : candidates({.message_cap = 100}))
            for (const int depth : {1, 2, 3}) {
                placement = (placement + 1) % static_cast<int>(names_of(Placement{}).size());
                Fixture x(domain, depth == 2 ? 5 : 3, static_cast<Placement>(placement), depth);
                CAPTURE(name(scheme), depth, domain.count(), placement);
                const Topology topology = virtual_topology(x.comm.size(), 2 + depth % 2);
                CHECK(x.wrong_after_exchange(depth, neighbours, topology, scheme) == 0);
            }
}

TEST_CASE("every scheme fills the same ghosts for any nodes: slices of 1 to 8 ranks, dealt out, ragged",
          "[plans]") {
    const Scheme scheme = GENERATE(from_range(schemes));
    Fixture x({3, 2, 2}, 4, mixed, Placement::scattered, 2);
    std::vector<Topology> topologies;
    for (const int ranks_per_node : {1, 2, 3, 4, 8})
        topologies.push_back(virtual_topology(x.comm.size(), ranks_per_node));
    std::vector<int> dealt;
    std::vector<int> ragged;
    for (int rank = 0; rank < x.comm.size(); ++rank) {
        dealt.push_back(rank % 3);
        ragged.push_back(rank * rank / 5);
    }
    topologies.emplace_back(dealt, NodeSource::map);
    topologies.emplace_back(ragged, NodeSource::map);
    for (const Topology& topology : topologies)
        for (const CapRule rule : {CapRule::paper, CapRule::always}) {
            const auto exchange = x.exchange(2, Neighbours::all, topology,
                                             {.scheme = scheme, .message_cap = 200, .cap_rule = rule}, {},
                                             {x.comm, topology, 7});
            for (int repeat = 0; repeat < 3; ++repeat) {
                const std::array u{x.make(repeat), x.make(repeat + 5)};
                exchange->run(u, [](Part) {});
                CHECK(x.wrong_ghosts(u[0], repeat, 2, Neighbours::all) == 0);
                CHECK(x.wrong_ghosts(u[1], repeat + 5, 2, Neighbours::all) == 0);
            }
        }
}

TEST_CASE("64 boxes, on as many ranks or fewer, get the same ghosts under every scheme", "[plans]") {
    Fixture x({4, 4, 4}, 3, periodic, Placement::curve, 2);
    std::vector<int> ragged;
    for (int rank = 0; rank < x.comm.size(); ++rank) ragged.push_back(rank * rank / 40);
    for (const Topology& topology : {Topology(ragged, NodeSource::map), virtual_topology(x.comm.size(), 3),
                                     virtual_topology(x.comm.size(), 8)})
        for (const Scheme scheme : schemes)
            CHECK(x.wrong_after_exchange(2, Neighbours::all, topology,
                                         {.scheme = scheme, .message_cap = 300}) == 0);
}

TEST_CASE("two exchanges in flight at once, finished in the other order, do not mix") {
    const Scheme scheme = GENERATE(from_range(schemes));
    Fixture x({3, 2, 2}, 4, mixed, Placement::curve, 2);
    const Topology topology = virtual_topology(x.comm.size(), 2);
    const auto exchange_with = [&](int tag, int depth) {
        return x.exchange(depth, Neighbours::all, topology, {.scheme = scheme, .message_cap = 300}, {},
                          {x.comm, topology, tag});
    };
    const auto first = exchange_with(1, 2);
    const auto second = exchange_with(2, 1);
    const Field u = x.make(1);
    const Field v = x.make(2);
    first->begin(std::span(&u, 1), {});
    second->begin(std::span(&v, 1), {});
    second->finish();
    first->finish();
    CHECK(x.wrong_ghosts(u, 1, 2, Neighbours::all) == 0);
    CHECK(x.wrong_ghosts(v, 2, 1, Neighbours::all) == 0);
}

TEST_CASE("a message leaves as soon as what it carries has come") {
    // Ranks 0, 1 | 2, 3 and an item of rank 0 that both others' ranks need: in three steps it goes 0 -> 1 ->
    // 2 -> 3.
    const Topology topology = virtual_topology(4, 2);
    const ListedPattern pattern({{{0, 5, 0}, 2}, {{0, 5, 0}, 3}, {{1, 3, 0}, 0}});
    const auto schedule = [&](int rank) {
        return RankSchedule(make_plan(pattern, topology, {.scheme = Scheme::three_step}, rank), rank);
    };
    CHECK(schedule(0).stages.size() == 1);
    const RankSchedule sender = schedule(1);
    REQUIRE(sender.stages.size() == 2);
    CHECK(sender.stages[0].sends.size() == 1);  // its own item, to rank 0
    CHECK(sender.stages[1].receives == 1);
    REQUIRE(sender.stages[1].sends.size() == 1);
    CHECK(sender.stages[1].sends[0].peer == 2);
    REQUIRE(sender.stages[1].forwards.size() == 1);
    CHECK(sender.stages[1].forwards[0].extent[0] == 5);
    CHECK(schedule(2).stages.size() == 2);
    CHECK(schedule(3).stages.size() == 1);
    CHECK(schedule(3).receive_values() == 5);
    // In two steps the owner crosses at once.
    const RankSchedule owner(make_plan(pattern, topology, {.scheme = Scheme::two_step}, 0), 0);
    CHECK(owner.stages.size() == 1);
    CHECK(owner.stages[0].sends.size() == 1);
}

TEST_CASE("a failing call of MPI is an error that names it") {
    const Communicator comm = Communicator::world();
    const Topology topology = virtual_topology(comm.size(), 1);
    RankSchedule nowhere;
    nowhere.rank = comm.rank();
    nowhere.stages.push_back({0, {}, {{Phase::global, comm.size(), 0, 1, false, {}}}});
    const auto messages = make_transport(Carrier::isend, {comm, topology, 7}, nowhere);
    const double value = 1;
    std::string message;
    try {
        messages->start(&value, nullptr, 1, Precision::fp64);
    } catch (const CommunicationError& error) {
        message = error.what();
    }
    CHECK(message.rfind("MPI_Isend failed on rank " + std::to_string(comm.rank()) + ": ", 0) == 0);
}

// By day tests/executable/test_counts.py counts what a run leaves behind.
TEST_CASE("transports that are made and freed leave nothing of MPI behind", "[exhaustive]") {
    // 10,000 set-ups, 2,500 of each transport but isend: MPICH numbers some 2,000 communicators at a time.
    const Carrier carrier = carrier_numbered(GENERATE(1, 2, 3, 4, 5));
    Fixture x({3, 2, 2}, 4, periodic, Placement::curve, 1);
    const Topology topology = virtual_topology(x.comm.size(), 2);
    const SchemeOptions scheme{.scheme = Scheme::three_step, .carrier = carrier};
    for (int n = 0; n < 2500; ++n)
        if (n % 500 == 0)
            CHECK(x.wrong_after_exchange(1, Neighbours::faces, topology, scheme) == 0);
        else
            x.exchange(1, Neighbours::faces, topology, scheme, {}, {x.comm, topology, 7});
}

TEST_CASE("the window of a virtual rank has two places for each message that it receives") {
    struct Expected {
        Carrier carrier;
        std::size_t of_one_field, of_four;
    };
    // Shared places are of whole lines of 256 bytes, behind two lines of counts; the first is aligned.
    const auto expected =
        GENERATE(Expected{Carrier::put, 2 * 64, 2 * 256}, Expected{Carrier::isend, 0, 0},
                 Expected{Carrier::shared, 255 + 2 * 256 * (2 + 2), 255 + 2 * 256 * (2 + 2)});
    KeptMessages kept;
    const Communicator rank = Communicator::virtual_rank(1, 3, &kept);
    const Topology topology = virtual_topology(3, 2);
    const ListedPattern pattern({{{0, 5, 0}, 1}, {{2, 3, 0}, 1}});
    const RankSchedule schedule(make_plan(pattern, topology, {}, 1), 1);
    const auto messages = make_transport(expected.carrier, {rank, topology}, schedule);
    messages->reserve(1);
    CHECK(kept.window_bytes == expected.of_one_field);
    messages->reserve(4);
    CHECK(kept.window_bytes == expected.of_four);
}

TEST_CASE("an exchange is begun and finished in turn") {
    Fixture x({3, 2, 2}, 4, periodic, Placement::curve, 1);
    const Topology topology = virtual_topology(x.comm.size(), 1);
    const auto exchange = x.exchange(1, Neighbours::faces, topology, {}, {}, {x.comm, topology, 8});
    const Field u = x.make(0);
    CHECK_THROWS_AS(exchange->finish(), std::logic_error);
    exchange->begin(std::span(&u, 1), {});
    CHECK_THROWS_AS(exchange->begin(std::span(&u, 1), {}), std::logic_error);
    exchange->finish();
    CHECK(x.wrong_ghosts(u, 0, 1, Neighbours::faces) == 0);
}

// The other half finishes the sum first, for which it needs the first half's second round. If sums stood
// still while ranks wait for ghosts, four ranks would wait for ever.
TEST_CASE("who waits for ghosts moves on what else is in flight") {
    const int ranks = Communicator::world().size();
    const Fixture x({ranks, 1, 1}, 4, periodic, Placement::lexicographic, 1);
    const Topology topology = virtual_topology(ranks, 2);
    const auto reduction = make_reduction(x.comm, topology, x.layout, false,
                                          {.algorithm = AllReduceAlgorithm::recursive_doubling});
    const auto exchange = x.exchange(1, Neighbours::faces, topology, {}, {},
                                     {x.comm, topology, 7, [&] { return reduction->progress(); }});
    const Field u = x.operations->make_field();
    const double mine = 1;
    for (int lap = 0; lap < 3; ++lap) {
        AllReduceRequest sum = reduction->begin_sum(std::span(&mine, 1), 1);
        double total = 0;
        const bool ghosts_first = 2 * x.comm.rank() < ranks;
        if (ghosts_first) exchange->run(u);
        sum.finish(std::span(&total, 1));
        if (!ghosts_first) exchange->run(u);
        CHECK(total == ranks);
    }
}

TEST_CASE("a communicator gathers several values a rank, and texts of any lengths, on rank 0") {
    const Communicator comm = Communicator::world();
    const std::array<double, 3> mine{comm.rank() + 0.25, -1.0 * comm.rank(), 7.0};
    // The longest text need not be the last rank's; none is cut.
    const auto text = [](int rank) {
        return std::string(rank == 0 ? 1000 : static_cast<std::size_t>(rank), 'a') + std::to_string(rank);
    };
    std::vector<double> values;
    std::vector<std::string> texts, empty;
    for (int rank = 0; rank < comm.size() && comm.rank() == 0; ++rank) {
        values.insert(values.end(), {rank + 0.25, -1.0 * rank, 7.0});
        texts.push_back(text(rank));
        empty.emplace_back();
    }
    CHECK(comm.gather(mine) == values);
    CHECK(comm.gather(std::span<const double>()).empty());
    CHECK(comm.gather(text(comm.rank())) == texts);
    CHECK(comm.gather(std::string()) == empty);
    CHECK(comm.max(mine[0]) == comm.size() - 0.75);
    CHECK(comm.min(mine[0]) == 0.25);
    CHECK(comm.sum(1.0) == comm.size());
    CHECK(Communicator::self().sum(mine[0]) == mine[0]);
    CHECK(detect_topology(Communicator::self()).describe() == "1 node, 1 rank per node (detected)");
}

TEST_CASE("a message of more values than an int counts is refused by its name") {
    const Communicator self = Communicator::self();
    const Topology topology = virtual_topology(1, 1);
    const int half = 1 << 30;
    const Plan plan{{Phase::local, {{0, 0, 0, {{0, half, 0}}}}}, {}};
    const RankSchedule schedule(plan, 0);
    const auto messages = make_transport(Carrier::isend, {self, topology}, schedule);
    const std::string text =
        "message of an exchange from rank 0 to rank 0: 2147483648 values, and MPI counts at most 2147483647; "
        "send fewer columns at a time, or use smaller boxes or more ranks";
    CHECK_THROWS_WITH(messages->start(nullptr, nullptr, 2, Precision::fp64), text);
}
