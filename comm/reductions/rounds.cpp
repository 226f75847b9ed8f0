#include "comm/reductions/rounds.hpp"

#include <algorithm>
#include <bit>

#include "kernels/check.hpp"

namespace keel {
namespace {

// MPICH, too, takes Rabenseifner's algorithm for sums from this length on.
constexpr std::size_t long_words = 2048 / sizeof(double) + 1;

int power_of_two_in(int count) {
    return static_cast<int>(std::bit_floor(static_cast<unsigned>(count)));
}

// The ranks that pair up, and a rank's place among them; no place if it does not take part.
struct Group {
    int size = 0;
    int place = -1;
};

Group group_of(Step::Among among, const Topology& topology, int rank) {
    const int node = topology.node(rank);
    const int local = topology.local_rank(rank);
    switch (among) {
        case Step::Among::all:
            return {topology.ranks(), rank};
        case Step::Among::node:
            return {topology.size(node), local};
        case Step::Among::same_place:
            return {topology.nodes(), node};
        case Step::Among::first_of_node:
            if (local == 0) return {topology.nodes(), node};
    }
    return {};
}

// The rank at a place of the group of `rank`.
int rank_at(int place, Step::Among among, const Topology& topology, int rank) {
    if (among == Step::Among::all) return place;
    if (among == Step::Among::node)
        return topology.ranks_on(topology.node(rank))[static_cast<std::size_t>(place)];
    return topology.ranks_on(place)[static_cast<std::size_t>(topology.local_rank(rank))];
}

}  // namespace

// Only sums of whole nodes travel between nodes by the node-aware algorithm.
Pairing pairing_of(AllReduceAlgorithm algorithm, const Topology& topology, std::size_t words,
                   std::size_t together) {
    check(algorithm != AllReduceAlgorithm::automatic, "an algorithm has been chosen");
    const auto numbers = words / together;
    if (algorithm == AllReduceAlgorithm::node_aware)
        return can_slice(topology, numbers) ? Pairing::slices : Pairing::leaders;
    const auto halved = static_cast<std::size_t>(power_of_two_in(topology.ranks()));
    const bool halves =
        algorithm != AllReduceAlgorithm::recursive_doubling && words >= long_words && numbers >= halved;
    return halves ? Pairing::halving : Pairing::doubling;
}

bool can_slice(const Topology& topology, std::size_t words) {
    const int each = topology.size(0);
    for (int node = 0; node < topology.nodes(); ++node)
        if (topology.size(node) != each) return false;
    return std::has_single_bit(static_cast<unsigned>(each)) && words >= static_cast<std::size_t>(each);
}

Steps steps_of(Pairing pairing, const Topology& topology, std::size_t words, std::size_t together) {
    using Kind = Step::Kind;
    using Among = Step::Among;
    Steps steps;
    const auto fold = [&](Among among, int size) {
        const int most = power_of_two_in(size);
        if (size > most) steps.up.push_back({Kind::fold, among, most, words});
        return most;
    };
    const auto doubling = [&](Among among, int size) {
        const int most = fold(among, size);
        for (int distance = 1; distance < most; distance *= 2)
            steps.between.push_back({Kind::pair, among, distance, words});
    };
    // From the farthest partner to the nearest.
    const auto halving = [&](Among among, int size) {
        for (int distance = fold(among, size) / 2; distance >= 1; distance /= 2) {
            words = (words / together + 1) / 2 * together;
            steps.up.push_back({Kind::halve, among, distance, words});
        }
    };
    switch (pairing) {
        case Pairing::doubling:
            doubling(Among::all, topology.ranks());
            break;
        case Pairing::halving:
            halving(Among::all, topology.ranks());
            break;
        case Pairing::leaders: {
            int most = 0;
            for (int node = 0; node < topology.nodes(); ++node) most = std::max(most, topology.size(node));
            for (int distance = 1; distance < most; distance *= 2)
                steps.up.push_back({Kind::tree, Among::node, distance, words});
            doubling(Among::first_of_node, topology.nodes());
            break;
        }
        case Pairing::slices:
            halving(Among::node, topology.size(0));
            doubling(Among::same_place, topology.nodes());
            break;
    }
    return steps;
}

Partner partner_of(const Step& step, const Topology& topology, int rank) {
    const auto [size, place] = group_of(step.among, topology, rank);
    if (place < 0) return {};
    const auto other = [&](int at, bool sends, bool receives) {
        return Partner{rank_at(at, step.among, topology, rank), sends, receives};
    };
    const int distance = step.distance;
    switch (step.kind) {
        case Step::Kind::fold:
            if (place >= distance) return other(place - distance, true, false);
            if (place + distance < size) return other(place + distance, false, true);
            break;
        case Step::Kind::pair:
        case Step::Kind::halve:
            if (place < power_of_two_in(size)) return other(place ^ distance, true, true);
            break;
        case Step::Kind::tree:
            if (place % (2 * distance) == distance) return other(place - distance, true, false);
            if (place % (2 * distance) == 0 && place + distance < size)
                return other(place + distance, false, true);
            break;
    }
    return {};
}

std::vector<Round> rounds_of(AllReduceAlgorithm algorithm, const Topology& topology, int rank,
                             std::size_t words, WordType type) {
    const std::size_t together = words_each(type);
    const Pairing pairing = pairing_of(algorithm, topology, words, together);
    const Steps steps = steps_of(pairing, topology, words, together);
    Words mine{0, words};  // added up by this rank; halving leaves it those of which it alone has the sum
    const auto rounds_in = [&](const std::vector<Step>& some) {
        std::vector<Round> rounds;
        for (const Step& step : some) {
            const Partner partner = partner_of(step, topology, rank);
            if (!partner.sends && !partner.receives) continue;
            Words given = mine;
            if (step.kind == Step::Kind::halve) {
                const std::size_t half = (mine.count / together + 1) / 2 * together;
                const Words lower{mine.first, half};
                const Words upper{mine.first + half, mine.count - half};
                const bool below = rank < partner.rank;
                mine = below ? lower : upper;
                given = below ? upper : lower;
            }
            rounds.push_back(
                {partner.rank, partner.sends ? given : Words(), partner.receives ? mine : Words()});
        }
        return rounds;
    };
    const std::vector<Round> up = rounds_in(steps.up);
    const std::vector<Round> between = rounds_in(steps.between);
    std::vector<Round> all = up;
    all.insert(all.end(), between.begin(), between.end());
    for (auto round = up.rbegin(); round != up.rend(); ++round)
        all.push_back({round->peer, round->received, round->sent, false});
    return all;
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
