// All-reduces in flight: by MPI and by messages of ours, on any number of ranks.

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "comm/ranks/topology.hpp"
#include "comm/reductions/all_reduce.hpp"
#include "comm/reductions/reduction.hpp"
#include "comm/reductions/tape.hpp"
#include "tests/boundaries.hpp"

using namespace keel;

namespace {

Topology nodes_of_two(const Communicator& comm) {
    return virtual_topology(comm.size(), 2);
}

// Nodes of 3, 1, 2, 3, ... ranks.
Topology uneven_nodes(const Communicator& comm) {
    std::vector<int> labels;
    for (int rank = 0; rank < comm.size(); ++rank)
        labels.push_back(3 * (rank / 6) + std::array{0, 0, 0, 1, 2, 2}[static_cast<std::size_t>(rank % 6)]);
    return {labels, NodeSource::map};
}

std::unique_ptr<AllReduce> make_recursive_doubling(const Communicator& comm, int tag) {
    return make_all_reduce(AllReduceAlgorithm::recursive_doubling, comm, nodes_of_two(comm), tag);
}

// Sums of which depend on the order of the additions.
double awkward(int rank, std::size_t n) {
    return std::exp(1.7 * ((rank * 7 + static_cast<int>(n)) % 23)) *
           std::sin(1.0 + rank + 3.0 * static_cast<double>(n));
}
std::vector<double> words_of(int rank, std::size_t count) {
    std::vector<double> words(count);
    for (std::size_t n = 0; n < count; ++n) words[n] = awkward(rank, n);
    return words;
}
// Whether sums are those of these words but for rounding.
bool near(std::span<const double> sums, int ranks) {
    for (std::size_t n = 0; n < sums.size(); ++n) {
        double total = 0, size = 0;
        for (int rank = 0; rank < ranks; ++rank) {
            total += awkward(rank, n);
            size += std::abs(awkward(rank, n));
        }
        if (!(std::abs(sums[n] - total) <= 1e-15 * ranks * size)) return false;
    }
    return true;
}

bool same_bits_everywhere(const Communicator& comm, std::span<const double> words) {
    std::vector<double> bits;  // halves of each word, as exact numbers
    for (const double word : words) {
        std::uint64_t all = 0;
        std::memcpy(&all, &word, sizeof all);
        bits.push_back(static_cast<double>(all >> 32));
        bits.push_back(static_cast<double>(all & 0xffffffffU));
    }
    bool same = true;
    for (const double half : bits) same = comm.min(half) == half && comm.max(half) == half && same;
    return comm.min(same ? 1 : 0) == 1;
}

// The automatic one takes another algorithm for each number of words.
std::unique_ptr<AllReduce> made(AllReduceAlgorithm algorithm, const Communicator& comm,
                                const Topology& topology, int tag) {
    const auto by_words = [](std::size_t words) {
        return words % 2 == 0 ? AllReduceAlgorithm::rabenseifner : AllReduceAlgorithm::node_aware;
    };
    return make_all_reduce(algorithm, comm, topology, tag, by_words);
}

}  // namespace

TEST_CASE("sums of twofold precision lose nothing, and have the same bits on all ranks") {
    const Communicator comm = Communicator::world().duplicate();
    const Topology nodes = nodes_of_two(comm);
    const int ranks = comm.size();
    for (const auto algorithm : values_of<AllReduceAlgorithm>())
        for (const bool deterministic : {false, true})
            for (const std::size_t count : {1U, 7U, 600U}) {
                CAPTURE(name(algorithm), deterministic, count);
                const std::vector<int> owners = place({ranks, 2, 1}, ranks, Placement::lexicographic);
                const Layout layout({ranks, 2, 1}, 2, {}, owners, comm.rank());
                const auto by_words = [](std::size_t words) {
                    return words % 4 == 0 ? AllReduceAlgorithm::rabenseifner : AllReduceAlgorithm::node_aware;
                };
                const auto reduction =
                    make_reduction(comm, nodes, layout, deterministic, {algorithm, by_words});
                // Every box has a small number. In every second sum the first box has 2^60 besides; in the
                // others every box has 2^60 or -2^60 by turns, which cancel. Added as doubles the small
                // numbers of other ranks would be lost.
                const auto boxes = static_cast<std::size_t>(layout.local_count());
                std::vector<double> parts(2 * count * boxes);
                std::vector<DoubleDouble> expected(count);
                for (std::size_t n = 0; n < count; ++n)
                    for (int box = 0; box < layout.box_count(); ++box) {
                        const double sign = box % 2 == 0 ? 1 : -1;
                        const double large = n % 2 == 1 ? 0x1p60 * sign : box == 0 ? 0x1p60 : 0;
                        const double small = 0x1p-30 * (box + 1) * static_cast<double>(n + 1);
                        expected[n] += DoubleDouble(large) + DoubleDouble(small);
                        for (std::size_t q = 0; q < boxes; ++q)
                            if (layout.local()[q] == box) {
                                parts[2 * n * boxes + q] = large;
                                parts[(2 * n + 1) * boxes + q] = small;
                            }
                    }
                std::vector<DoubleDouble> totals(count, DoubleDouble(7.0));
                const Reductions before = reduction->count();
                reduction->sum(parts, totals);
                reduction->sum(parts, totals);
                CHECK(totals == expected);
                const Reductions after = reduction->count();
                const std::size_t each = deterministic ? static_cast<std::size_t>(2 * ranks) : 1;
                CHECK(after.calls - before.calls == 2);
                CHECK(after.words - before.words == static_cast<long>(4 * count * each));
                std::vector<double> all;
                for (const DoubleDouble& total : totals) {
                    all.push_back(total.high);
                    all.push_back(total.low);
                }
                CHECK(
                    same_bits_everywhere(comm, std::span(all).first(std::min<std::size_t>(all.size(), 20))));
            }
}

TEST_CASE("a sum in flight is that over all ranks; by messages of ours it has the same bits in every run") {
    const Communicator comm = Communicator::world().duplicate();
    for (const auto algorithm : values_of<AllReduceAlgorithm>()) {
        const bool ours = algorithm != AllReduceAlgorithm::mpi;
        for (const Topology& nodes : {nodes_of_two(comm), uneven_nodes(comm)})
            for (const std::size_t count : {1U, 17U, 300U}) {
                CAPTURE(name(algorithm), nodes.map(), count);
                const auto all_reduce = made(algorithm, comm, nodes, 0);
                std::vector<double> first;
                for (int run = 0; run < 4; ++run) {
                    std::vector<double> words = words_of(comm.rank(), count);
                    all_reduce->start(words);
                    if (run % 2 == 1)
                        for (int test = 0; test < 3 + comm.rank(); ++test) all_reduce->progress();
                    all_reduce->wait();
                    if (run == 0) first = words;
                    CHECK((words == first || !ours));
                    CHECK(near(words, comm.size()));
                }
                CHECK((same_bits_everywhere(comm, first) || !ours));
            }
    }
}

TEST_CASE("several sums in flight at a time, of different lengths, are finished in order") {
    const Communicator comm = Communicator::world().duplicate();
    for (const auto algorithm : values_of<AllReduceAlgorithm>())
        for (const bool driven : {false, true}) {
            CAPTURE(name(algorithm), driven);
            std::vector<std::unique_ptr<AllReduce>> in_flight;
            std::vector<std::vector<double>> words;
            for (std::size_t n = 0; n < 5; ++n) {
                in_flight.push_back(made(algorithm, comm, uneven_nodes(comm), static_cast<int>(n)));
                words.push_back(words_of(comm.rank(), 1 + 4 * n));
            }
            for (int lap = 0; lap < 6; ++lap)  // a pipeline: wait for the oldest, begin it anew
                for (std::size_t n = 0; n < 5; ++n) {
                    if (lap > 0) {
                        in_flight[n]->wait();
                        CHECK(near(words[n], comm.size()));
                        words[n] = words_of(comm.rank(), 1 + 4 * n);
                    }
                    in_flight[n]->start(words[n]);
                    if (driven)
                        for (const auto& each : in_flight) each->progress();
                }
            for (const auto& each : in_flight) each->wait();
        }
}

// With p ranks, the largest power of two q of them takes part in the rounds: q log2 q messages, two more for
// each of the others. On nodes of two ranks all rounds but the first leave the node.
TEST_CASE("recursive doubling says what it sends") {
    const Communicator comm = Communicator::world();
    int doubling = 1, rounds = 0;
    for (; 2 * doubling <= comm.size(); doubling *= 2) ++rounds;
    const auto own = make_recursive_doubling(comm, 0);
    std::vector<double> words = words_of(comm.rank(), 5);
    const Traffic sent = own->start(words);
    own->wait();
    CHECK(comm.sum(static_cast<double>(sent.messages)) == doubling * rounds + 2 * (comm.size() - doubling));
    CHECK(sent.bytes == 5 * 8 * sent.messages);
    CHECK(sent.off_node_bytes == 5 * 8 * sent.off_node_messages);
    if (comm.size() == doubling) CHECK(sent.off_node_messages == std::max(0, rounds - 1));
    const auto by_mpi = make_all_reduce(AllReduceAlgorithm::mpi, comm, nodes_of_two(comm), 0);
    CHECK(by_mpi->start(words) == Traffic{});
    by_mpi->wait();
}

TEST_CASE("progress alone completes a sum, without anyone waiting") {
    const Communicator comm = Communicator::world().duplicate();
    const auto all_reduce = make_recursive_doubling(comm, 3);
    std::vector<double> words = words_of(comm.rank(), 4);
    all_reduce->start(words);
    while (!near(words, comm.size())) all_reduce->progress();
    comm.barrier();
    all_reduce->wait();
    CHECK(near(words, comm.size()));
}

TEST_CASE("sums over all boxes are right and alike on all ranks, whatever is begun and finished meanwhile") {
    using enum AllReduceAlgorithm;
    const auto algorithm = GENERATE(mpi, recursive_doubling, rabenseifner, node_aware);
    const bool deterministic = GENERATE(false, true);
    const Index boxes = GENERATE(Index{2, 1, 1}, Index{5, 3, 2});  // some ranks have no box of two
    const Communicator comm = Communicator::world();
    const Layout layout(boxes, 2, {}, place(boxes, comm.size(), Placement::scattered), comm.rank());
    Ledger ledger(1);
    const auto reduction =
        make_reduction(comm, nodes_of_two(comm), layout, deterministic, {algorithm}, &ledger);
    const auto parts_of = [&](std::size_t sums) {
        std::vector<double> parts;
        for (std::size_t n = 0; n < sums; ++n)
            for (const int box : layout.local()) parts.push_back(awkward(box, n));
        return parts;
    };
    const bool same_bits = deterministic || algorithm != mpi;  // unlike two sums by MPI
    const auto right = [&](std::span<const double> totals) {
        bool all = same_bits_everywhere(comm, totals) || !same_bits;
        for (std::size_t n = 0; n < totals.size() && deterministic; ++n) {
            double in_order = 0;
            for (int box = 0; box < layout.box_count(); ++box) in_order += awkward(box, n);
            all = all && totals[n] == in_order;
        }
        return all && near(totals, layout.box_count());
    };
    std::vector<double> first(3), meanwhile(3);
    reduction->sum(parts_of(3), first);
    CHECK(right(first));
    std::vector<AllReduceRequest> pending;
    const auto begin = [&](std::size_t sums) {
        pending.push_back(reduction->begin_sum(parts_of(sums), sums));
    };
    const auto finish = [&](std::size_t sums) {
        std::vector<double> totals(sums);
        reduction->progress();
        pending[sums - 1].finish(totals);
        CHECK(right(totals));
        CHECK((sums != 3 || !same_bits || totals == first));
    };
    for (const std::size_t sums : {1U, 2U, 3U}) begin(sums);
    finish(1);
    begin(4);
    reduction->sum(parts_of(3), meanwhile);
    CHECK((meanwhile == first || !same_bits));
    for (const std::size_t sums : {2U, 3U, 4U}) finish(sums);

    const double infinity = HUGE_VAL;
    CHECK(reduction->max(comm.rank()) == comm.size() - 1);
    CHECK(reduction->max(comm.rank() == comm.size() - 1 ? infinity : 0.0) == infinity);
    CHECK(reduction->max(-1.0 - comm.rank()) == -1.0);
    const Reductions count = reduction->count();
    CHECK(count.calls == 9);
    CHECK(count.words == 16 * (deterministic ? layout.box_count() : 1) + 3);
    CHECK((count.traffic.messages > 0) == (comm.size() > 1 && algorithm != mpi));
    CHECK(ledger.at(Op::reduction, 0).calls == 5);
    CHECK(ledger.at(Op::reduction_begin, 0).calls == 4);
    CHECK(ledger.at(Op::reduction_wait, 0).calls == 4);
    CHECK(ledger.at(Op::reduction, 0).words + ledger.at(Op::reduction_begin, 0).words == count.words);
    first.resize(4);
    CHECK_THROWS_AS(pending[3].finish(first), std::logic_error);
    CHECK_THROWS_AS(reduction->sum(std::vector<double>(parts_of(4).size() + 1), first), std::logic_error);
}

// If only the sum that is waited for went on, ranks that wait for the other one would wait for ever, from
// four ranks on.
TEST_CASE("who waits for one sum moves the others on") {
    const Communicator comm = Communicator::world();
    const Layout layout({8, 1, 1}, 2, {}, place({8, 1, 1}, comm.size(), Placement::lexicographic),
                        comm.rank());
    const std::vector<double> parts(static_cast<std::size_t>(layout.local_count()), 1.0);
    for (const auto algorithm : values_of<AllReduceAlgorithm>()) {
        if (algorithm == AllReduceAlgorithm::automatic) continue;
        CAPTURE(name(algorithm));
        const auto reduction = make_reduction(comm, nodes_of_two(comm), layout, false, {algorithm});
        for (int lap = 0; lap < 3; ++lap) {
            std::array<AllReduceRequest, 2> pending{reduction->begin_sum(parts, 1),
                                                    reduction->begin_sum(parts, 1)};
            const bool first_first = 2 * comm.rank() < comm.size();
            for (const bool first : {first_first, !first_first}) {
                std::array<double, 1> total{};
                pending[first ? 0 : 1].finish(total);
                CHECK(total[0] == 8);
            }
        }
    }
}

TEST_CASE("messages of a duplicate communicator do not meet those of the first") {
    const Communicator comm = Communicator::world();
    const Communicator other = comm.duplicate();
    CHECK(other.rank() == comm.rank());
    CHECK(other.size() == comm.size());
    const auto first = make_recursive_doubling(comm, 0);
    const auto second = make_recursive_doubling(other, 0);
    std::vector<double> ones(2, 1.0), tens(2, 10.0);
    first->start(ones);
    second->start(tens);
    second->wait();
    first->wait();
    CHECK(ones == std::vector<double>(2, 1.0 * comm.size()));
    CHECK(tens == std::vector<double>(2, 10.0 * comm.size()));
}

TEST_CASE("a virtual rank that replays a tape has the recorded totals, and counts as a real rank does") {
    const Communicator world = Communicator::world();
    const Layout layout({2, 2, 2}, 4, test::periodic, place({2, 2, 2}, world.size(), Placement::curve),
                        world.rank());
    Tape tape;
    const auto run = [&](const Communicator& comm, Ledger& ledger) {
        const auto sums = taped(make_reduction(comm, nodes_of_two(world), layout, false,
                                               {AllReduceAlgorithm::recursive_doubling}, &ledger),
                                tape);
        const std::vector<double> parts(static_cast<std::size_t>(4 * layout.local_count()),
                                        1.0 + comm.rank());
        std::vector<double> totals(6);
        AllReduceRequest pending = sums->begin_sum(parts, 4);
        sums->progress();
        totals[5] = sums->max(comm.rank());
        pending.finish(std::span(totals).first(4));
        std::array<DoubleDouble, 2> pairs;
        sums->sum(parts, pairs);
        totals[4] = pairs[1].high;
        return totals;
    };
    Ledger real(1), counted(1);
    const std::vector<double> totals = run(world, real);
    CHECK_FALSE(tape.at_end());
    tape.begin(Tape::Mode::replay);
    const Communicator rank = Communicator::virtual_rank(world.rank(), world.size());
    CHECK(run(rank, counted) == totals);
    CHECK(tape.at_end());
    for (const Op op : {Op::reduction, Op::reduction_begin, Op::reduction_progress, Op::reduction_wait}) {
        CHECK(counted.at(op, 0).calls == real.at(op, 0).calls);
        CHECK(counted.at(op, 0).words == real.at(op, 0).words);
        CHECK(counted.at(op, 0).traffic == real.at(op, 0).traffic);
    }
    double one_more = 0;
    CHECK_THROWS_AS(tape.pass({&one_more, 1}), std::logic_error);
}

TEST_CASE(
    "a replayed part begins anew whatever was left of the last, and further ones repeat all but the first") {
    Tape tape;
    for (const double part : {1.0, 2.0, 3.0}) {
        tape.begin_part();
        std::vector<double> totals(2, part);
        tape.pass(totals);
    }
    tape.begin(Tape::Mode::replay);
    for (const double expected : {1.0, 2.0, 3.0, 2.0, 3.0, 2.0}) {
        tape.begin_part();
        double total = 0;
        tape.pass({&total, 1});
        CHECK(total == expected);
    }
}

TEST_CASE("some of virtual ranks are numbered as some of real ranks") {
    const std::array some{1, 2, 5};
    const auto among = [&](int rank) { return Communicator::virtual_rank(rank, 7).among(some); };
    CHECK(among(5).rank() == 2);
    CHECK(among(5).size() == 3);
    CHECK(among(3).rank() == 1);
    CHECK(among(3).size() == 4);
}

TEST_CASE("what the environment says of asynchronous progress is told") {
    for (const std::string name :
         {"MPIR_CVAR_ASYNC_PROGRESS", "MPICH_ASYNC_PROGRESS", "I_MPI_ASYNC_PROGRESS"}) {
        REQUIRE(setenv(name.c_str(), "1", 1) == 0);
        CHECK(Session::asynchronous_progress() == name + "=1");
        REQUIRE(unsetenv(name.c_str()) == 0);
    }
}

TEST_CASE("one of Cray MPICH's two variables for a progress thread without the other is told") {
    const std::array names{std::pair{"MPICH_ASYNC_PROGRESS", "1"},
                           std::pair{"MPICH_MAX_THREAD_SAFETY", "multiple"}};
    CHECK(Session::progress_warning().empty());
    for (const auto& [name, value] : names) {
        REQUIRE(setenv(name, value, 1) == 0);
        CHECK(Session::progress_warning().starts_with(std::string(name) + "=" + value + " without "));
        REQUIRE(unsetenv(name) == 0);
    }
    for (const auto& [name, value] : names) REQUIRE(setenv(name, value, 1) == 0);
    CHECK(Session::progress_warning().empty());
    for (const auto& [name, value] : names) REQUIRE(unsetenv(name) == 0);
}
