// The rounds of all-reduces, on virtual ranks: delivered one by one, in the order in which they can be.

#include <catch2/catch.hpp>
#include <cmath>
#include <deque>
#include <map>
#include <numeric>

#include "comm/reductions/rounds.hpp"

using namespace keel;

namespace {

struct Delivered {
    std::vector<std::vector<double>> words;  // by rank
    long messages = 0;
    long words_sent = 0;
    long off_node_messages = 0;
    long off_node_words = 0;
    long most_rounds = 0;
};

double word_of(int rank, std::size_t n) {
    return std::sin(1.0 + 3.0 * rank + 7.0 * static_cast<double>(n));
}

// Every rank sends what its round says as soon as it begins it, and ends it when what it waits for is there.
Delivered deliver(AllReduceAlgorithm algorithm, const Topology& nodes, std::size_t count,
                  WordType summands = WordType::fp64) {
    const int ranks = nodes.ranks();
    Delivered done;
    std::vector<std::vector<Round>> rounds;
    std::map<std::pair<int, int>, std::deque<std::vector<double>>> in_flight;
    for (int rank = 0; rank < ranks; ++rank) {
        rounds.push_back(rounds_of(algorithm, nodes, rank, count, summands));
        for (const Round& round : rounds.back())
            for (const Words& words : {round.sent, round.received})
                REQUIRE((words.first % words_each(summands) == 0 && words.count % words_each(summands) == 0));
        done.most_rounds = std::max(done.most_rounds, static_cast<long>(rounds.back().size()));
        done.words.emplace_back(count);
        for (std::size_t n = 0; n < count; ++n) done.words.back()[n] = word_of(rank, n);
    }
    std::vector<std::size_t> at(rounds.size());
    std::vector<bool> sent(rounds.size());
    for (bool moved = true; moved;) {
        moved = false;
        for (int rank = 0; rank < ranks; ++rank) {
            const auto r = static_cast<std::size_t>(rank);
            if (at[r] == rounds[r].size()) continue;
            const Round& round = rounds[r][at[r]];
            const auto begin = done.words[r].begin();
            if (!sent[r] && round.sent.count > 0) {
                const auto first = begin + static_cast<std::ptrdiff_t>(round.sent.first);
                in_flight[{rank, round.peer}].emplace_back(
                    first, first + static_cast<std::ptrdiff_t>(round.sent.count));
                const bool leaves = !nodes.same_node(rank, round.peer);
                ++done.messages;
                done.words_sent += static_cast<long>(round.sent.count);
                done.off_node_messages += leaves ? 1 : 0;
                done.off_node_words += leaves ? static_cast<long>(round.sent.count) : 0;
                moved = true;
            }
            sent[r] = true;
            if (round.received.count > 0) {
                auto& queue = in_flight[{round.peer, rank}];
                if (queue.empty()) continue;
                REQUIRE(queue.front().size() == round.received.count);
                for (std::size_t n = 0; n < round.received.count; ++n) {
                    double& word = done.words[r][round.received.first + n];
                    word = round.adds ? word + queue.front()[n] : queue.front()[n];
                }
                queue.pop_front();
            }
            ++at[r];
            sent[r] = false;
            moved = true;
        }
    }
    for (std::size_t r = 0; r < rounds.size(); ++r) REQUIRE(at[r] == rounds[r].size());
    for (const auto& [pair, queue] : in_flight) REQUIRE(queue.empty());
    return done;
}

// Whether all ranks hold the same bits, which are the sum but for rounding.
bool is_the_sum(const Delivered& done) {
    const auto ranks = static_cast<int>(done.words.size());
    bool right = true;
    for (std::size_t n = 0; n < done.words[0].size(); ++n) {
        double total = 0;
        for (int rank = 0; rank < ranks; ++rank) total += word_of(rank, n);
        right = right && std::abs(done.words[0][n] - total) <= 1e-14 * ranks;
    }
    for (const auto& words : done.words) right = right && words == done.words[0];
    return right;
}

Topology nodes_of_sizes(std::initializer_list<int> sizes) {
    std::vector<int> labels;
    int node = 0;
    for (const int size : sizes) labels.insert(labels.end(), static_cast<std::size_t>(size), node++);
    return {labels, NodeSource::map};
}

long log2_of(int power) {
    return std::lround(std::log2(power));
}

}  // namespace

TEST_CASE("every algorithm adds up all words or pairs, to the same bits on all ranks, without a deadlock") {
    using enum AllReduceAlgorithm;
    for (const auto algorithm : {recursive_doubling, rabenseifner, node_aware})
        for (const int ranks : {1, 2, 3, 4, 5, 7, 8, 12, 16, 33})
            for (const int per_node : {1, 2, 3, 4, 8})
                for (const std::size_t sums : std::initializer_list<std::size_t>{1, 2, 5, 300})
                    for (const WordType type : {WordType::fp64, WordType::double_double}) {
                        CAPTURE(name(algorithm), ranks, per_node, sums, words_each(type));
                        const Topology nodes = virtual_topology(ranks, per_node);
                        CHECK(is_the_sum(deliver(algorithm, nodes, sums * words_each(type), type)));
                    }
}

TEST_CASE("nodes may have any sizes, and any ranks") {
    for (const Topology& nodes :
         {nodes_of_sizes({1, 4, 2}), nodes_of_sizes({5, 5, 5}), nodes_of_sizes({8, 1, 1, 1}),
          Topology(std::vector{7, 3, 7, 3, 7, 3, 7, 3}, NodeSource::map)})
        for (const std::size_t words : std::initializer_list<std::size_t>{1, 40}) {
            CAPTURE(nodes.map(), words);
            CHECK(is_the_sum(deliver(AllReduceAlgorithm::node_aware, nodes, words)));
        }
}

// 32 ranks on nodes of 4: three of recursive doubling's five rounds leave the node, and every rank sends in
// each of them.
TEST_CASE("between nodes only sums of nodes travel") {
    const Topology nodes = virtual_topology(32, 4);
    for (const std::size_t words : std::initializer_list<std::size_t>{1, 64}) {
        const Delivered flat = deliver(AllReduceAlgorithm::recursive_doubling, nodes, words);
        const Delivered aware = deliver(AllReduceAlgorithm::node_aware, nodes, words);
        CHECK(flat.off_node_words == 3 * 32 * static_cast<long>(words));
        CHECK(aware.off_node_words == 3 * 8 * static_cast<long>(words));
        CHECK(aware.off_node_messages == (words < 4 ? 3 * 8 : 3 * 32));  // by first ranks; of slices by all
        CHECK(aware.most_rounds == 3 + 2 * 2);
    }
}

TEST_CASE("a rank alone on its node sends what recursive doubling sends") {
    for (const int ranks : {4, 6}) {
        const Topology nodes = virtual_topology(ranks, 1);
        const Delivered flat = deliver(AllReduceAlgorithm::recursive_doubling, nodes, 9);
        const Delivered aware = deliver(AllReduceAlgorithm::node_aware, nodes, 9);
        CHECK(aware.messages == flat.messages);
        CHECK(aware.words_sent == flat.words_sent);
        CHECK(aware.words == flat.words);
    }
}

// With p ranks, a power of two, each sends 2 (p - 1) / p of the words in 2 log2 p rounds; recursive doubling
// log2 p times all.
TEST_CASE("Rabenseifner's algorithm sends less of long sums, and short ones as recursive doubling does") {
    const int ranks = 16;
    const Topology nodes = virtual_topology(ranks, 1);
    const Delivered of_long = deliver(AllReduceAlgorithm::rabenseifner, nodes, 512);
    CHECK(of_long.words_sent == ranks * 2 * 512 * (ranks - 1) / ranks);
    CHECK(of_long.most_rounds == 2 * log2_of(ranks));
    for (const auto& [words, same] : {std::pair<std::size_t, bool>{256, true}, {257, false}}) {
        const Delivered flat = deliver(AllReduceAlgorithm::recursive_doubling, nodes, words);
        const Delivered own = deliver(AllReduceAlgorithm::rabenseifner, nodes, words);
        CHECK((own.messages == flat.messages) == same);
        CHECK((own.words_sent == flat.words_sent) == same);
    }
}
