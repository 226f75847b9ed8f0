#pragma once

// Messages whose only purpose is to be timed, and the pairs that send them. No clock here: callers time them.

#include <cstddef>
#include <optional>
#include <vector>

#include "comm/ranks/communicator.hpp"
#include "comm/ranks/locality.hpp"

namespace keel {

struct Pair {
    int first = 0;
    int second = 0;

    friend bool operator==(const Pair&, const Pair&) = default;
};

// At most `most` pairs of ranks at that distance, spread over the ranks; each rank is in at most one. Pure.
std::vector<Pair> pairs_at(const RankPlaces& ranks, Locality locality, std::size_t most);

// As many ranks of a node as possible, each with one of another, for the two nodes with most ranks; none on
// one node. Pure.
std::vector<Pair> pairs_of_nodes(const RankPlaces& ranks);

// All pairs at the same time: `messages` of `bytes` at once from the first to the second, and back. Several
// pairs are to be ranks of one node with those of another, and go in step: a node's messages leave when all
// have come. Pairs by themselves drift apart on a link that sends both ways at once, until each has it alone.
class PingPong {
  public:
    PingPong(const Communicator& comm, const std::vector<Pair>& pairs, std::size_t bytes, int messages = 1);

    bool takes_part() const { return partner_ >= 0; }
    // Nothing on ranks of no pair.
    void round_trips(int count);

  private:
    Communicator comm_;
    std::optional<Communicator> side_;  // the first ones, or the second ones, of several pairs
    int partner_ = -1;
    bool first_ = false;
    std::size_t bytes_;
    int messages_;
    std::vector<char> buffer_;  // message after message
};

}  // namespace keel
