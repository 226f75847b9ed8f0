#pragma once

// Random patterns and nodes.

#include <algorithm>
#include <random>
#include <vector>

#include "comm/patterns/pattern.hpp"
#include "comm/ranks/topology.hpp"

namespace keel::test {

struct RandomCase {
    std::vector<int> labels;
    std::vector<Request> requests;  // with duplicates and what ranks need of their own
    std::size_t message_cap;
    std::vector<int> sockets;  // by rank, within its node; empty where nobody knows them

    Topology topology() const {
        const Topology nodes(labels, NodeSource::map);
        return sockets.empty() ? nodes : nodes.on_sockets(sockets, SocketSource::map);
    }
};

class Dice {
  public:
    explicit Dice(unsigned seed) : engine_(seed) {}
    int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(engine_); }
    std::vector<int> shuffled(std::vector<int> list) {
        std::shuffle(list.begin(), list.end(), engine_);
        return list;
    }
    template <class T>
    void shuffle(std::vector<T>& list) {
        std::shuffle(list.begin(), list.end(), engine_);
    }

  private:
    std::mt19937 engine_;
};

// A case of `ranks` ranks, or of any number; nodes in blocks, dealt out, at random, one for all, one each, or
// ragged; up to three sockets in every other case; items of several sizes.
inline RandomCase random_case(unsigned seed, int ranks = 0) {
    Dice dice(seed);
    RandomCase c;
    if (ranks == 0) ranks = 1 + dice.below(13);
    const int kind = dice.below(6);
    const int per_node = 1 + dice.below(5);
    for (int rank = 0; rank < ranks; ++rank)
        c.labels.push_back(kind == 0   ? rank / per_node
                           : kind == 1 ? rank % per_node
                           : kind == 2 ? 7 * dice.below(4) - 3
                           : kind == 3 ? 5
                           : kind == 4 ? -rank
                                       : (rank * rank) / 9);
    const int items = dice.below(8);  // a rank has so many; none is a pattern too
    const int needs = dice.below(6 * ranks * (items + 1));
    const bool sizes = dice.below(2) == 1;
    for (int n = 0; items > 0 && n < needs; ++n) {
        const int owner = dice.below(ranks);
        const int item = dice.below(items);
        c.requests.push_back({{owner, sizes ? 1 + (3 * item + owner) % 5 : 1, item}, dice.below(ranks)});
    }
    c.message_cap = static_cast<std::size_t>(1 + dice.below(96));
    if (seed % 2 == 1)
        for (int rank = 0; rank < ranks; ++rank) c.sockets.push_back(dice.below(3));
    return c;
}

}  // namespace keel::test
