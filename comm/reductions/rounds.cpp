#include "comm/reductions/rounds.hpp"

#include <bit>
#include <functional>

namespace keel {
namespace {

using Rounds = std::vector<Round>;

// MPICH, too, takes Rabenseifner's algorithm for sums from this length on.
constexpr std::size_t long_words = 2048 / sizeof(double) + 1;

// The ranks that add up, and this one's place among them.
struct Group {
    int size = 1;
    int me = 0;
    std::function<int(int)> rank;
    std::size_t together = 1;  // words that are not parted

    int doubling() const { return static_cast<int>(std::bit_floor(static_cast<unsigned>(size))); }
};

// The rounds that bring sums together, others in between, and those that bring the totals back: the same
// messages in reverse.
Rounds between(const Rounds& up, const Rounds& middle) {
    Rounds all = up;
    all.insert(all.end(), middle.begin(), middle.end());
    for (auto round = up.rbegin(); round != up.rend(); ++round)
        all.push_back({round->peer, round->received, round->sent, false});
    return all;
}

// Ranks beyond the largest power of two pass their words to a partner.
Rounds handed_in(const Group& group, Words words) {
    const int doubling = group.doubling();
    if (group.me >= doubling) return {{group.rank(group.me - doubling), words, {}}};
    if (group.me + doubling < group.size) return {{group.rank(group.me + doubling), {}, words}};
    return {};
}

// Recursive doubling (Thakur, Rabenseifner and Gropp 2005): with p ranks, p a power of two, log2 p rounds of
// one message each way; round k exchanges partial sums with rank XOR 2^k. Both partners then add the same two
// numbers, and addition is commutative: by induction all ranks of a group of 2^k hold the same bits.
Rounds by_doubling(const Group& group, Words words) {
    Rounds rounds;
    if (group.me < group.doubling())
        for (int bit = 1; bit < group.doubling(); bit *= 2)
            rounds.push_back({group.rank(group.me ^ bit), words, words});
    return between(handed_in(group, words), rounds);
}

// Recursive halving among a power of two of ranks: each round swaps half of the words that are left, from the
// farthest partner to the nearest. Leaves in `words` those of which this rank alone has the sum, so that all
// ranks get the same bits of it.
Rounds by_halving(const Group& group, Words& words) {
    Rounds rounds;
    for (int bit = group.doubling() / 2; bit >= 1; bit /= 2) {
        const std::size_t half = (words.count / group.together + 1) / 2 * group.together;
        const Words lower{words.first, half};
        const Words upper{words.first + half, words.count - half};
        const bool below = (group.me & bit) == 0;
        words = below ? lower : upper;
        rounds.push_back({group.rank(group.me ^ bit), below ? upper : lower, words});
    }
    return rounds;
}

// A binomial tree, whose root is the first of the group.
Rounds to_first(const Group& group, Words words) {
    Rounds rounds;
    for (int bit = 1; bit < group.size; bit *= 2) {
        if ((group.me & bit) != 0) {
            rounds.push_back({group.rank(group.me - bit), words, {}});
            break;
        }
        if (group.me + bit < group.size) rounds.push_back({group.rank(group.me + bit), {}, words});
    }
    return rounds;
}

// Rabenseifner's: the words are halved until each rank has the sum of a few, and collected the same way back.
// Less than twice the words travel, in twice the rounds of recursive doubling.
Rounds rabenseifner(const Group& all, Words words) {
    if (words.count < long_words || words.count / all.together < static_cast<std::size_t>(all.doubling()))
        return by_doubling(all, words);
    Rounds up = handed_in(all, words);
    if (all.me < all.doubling()) {
        const Rounds halving = by_halving(all, words);
        up.insert(up.end(), halving.begin(), halving.end());
    }
    return between(up, {});
}

// Whether the nodes have equally many ranks, a power of two of them.
bool nodes_alike(const Topology& topology) {
    for (int node = 0; node < topology.nodes(); ++node)
        if (topology.size(node) != topology.size(0)) return false;
    return std::has_single_bit(static_cast<unsigned>(topology.size(0)));
}

// Only sums of whole nodes travel between nodes. Where nodes are alike, the ranks of a node halve the words
// among themselves, and each sums up its slice with the ranks of its place on the other nodes; elsewhere the
// first rank of each node does it all.
Rounds node_aware(const Topology& topology, int rank, Words words, std::size_t together) {
    const int here = topology.node(rank);
    const Group node{topology.size(here), topology.local_rank(rank),
                     [&](int place) { return topology.ranks_on(here)[static_cast<std::size_t>(place)]; },
                     together};
    const bool sliced =
        nodes_alike(topology) && words.count / together >= static_cast<std::size_t>(node.size);
    const Rounds up = sliced ? by_halving(node, words) : to_first(node, words);
    if (!sliced && node.me != 0) return between(up, {});
    const Group across{topology.nodes(), here, [&](int other) {
                           return topology.ranks_on(other)[static_cast<std::size_t>(node.me)];
                       }};
    return between(up, by_doubling(across, words));
}

}  // namespace

std::vector<Round> rounds_of(AllReduceAlgorithm algorithm, const Topology& topology, int rank,
                             std::size_t words, WordType type) {
    const std::size_t together = words_each(type);
    const Group all{topology.ranks(), rank, [](int place) { return place; }, together};
    switch (algorithm) {
        case AllReduceAlgorithm::rabenseifner:
            return rabenseifner(all, {0, words});
        case AllReduceAlgorithm::node_aware:
            return node_aware(topology, rank, {0, words}, together);
        case AllReduceAlgorithm::recursive_doubling:
        case AllReduceAlgorithm::mpi:
        case AllReduceAlgorithm::automatic:
            break;
    }
    return by_doubling(all, {0, words});
}

Traffic traffic_of(std::span<const Round> rounds, const Topology& topology, int rank) {
    Traffic traffic;
    for (const Round& round : rounds) {
        if (round.sent.count == 0) continue;
        const auto bytes = static_cast<long>(round.sent.count * sizeof(double));
        const bool stays = topology.same_node(rank, round.peer);
        traffic += {1, bytes, stays ? 0 : 1, stays ? 0 : bytes};
    }
    return traffic;
}

}  // namespace keel
