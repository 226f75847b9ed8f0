#include "comm/costs/collective_time.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <span>
#include <vector>

#include "comm/costs/plan_time.hpp"
#include "comm/patterns/pattern.hpp"

namespace keel {
namespace {

std::size_t power_of_two_in(std::size_t count) {
    return std::bit_floor(count);
}

// Adds up rounds: a rank that takes part in one waits for all messages of the round before.
class TimedRounds {
  public:
    TimedRounds(const Machine& machine, const RankPlaces& ranks)
        : machine_(machine), ranks_(ranks), sent_(ranks.node_of.size()), received_(ranks.node_of.size()) {}

    const std::vector<RoundTime>& all() const { return all_; }

    // Adds a message of `words` doubles to the current round.
    void send(int from, int to, std::size_t words) {
        const Locality locality = ranks_.locality(from, to);
        const auto bytes = static_cast<double>(words * sizeof(double));
        busy_ = std::max(busy_, machine_.message(Memory::host, locality, bytes).overhead.value_or(0));
        sent_[static_cast<std::size_t>(from)].add(machine_, Memory::host, locality, bytes);
        received_[static_cast<std::size_t>(to)].add(machine_, Memory::host, locality, bytes);
    }
    void end_round() {
        all_.push_back(
            {std::max(slowest(machine_, ranks_.node_of, sent_), slowest(machine_, ranks_.node_of, received_)),
             busy_});
        busy_ = 0;
        std::ranges::fill(sent_, Load());
        std::ranges::fill(received_, Load());
    }

  private:
    const Machine& machine_;
    const RankPlaces& ranks_;
    std::vector<Load> sent_, received_;
    double busy_ = 0;  // in the round at hand
    std::vector<RoundTime> all_;
};

// Ranks that run an algorithm at the same time, group by group; all groups have equally many.
using Groups = std::vector<std::vector<int>>;

// Ranks beyond the largest power of two send their words to a partner, or get the totals back.
void fold(TimedRounds& rounds, const Groups& groups, std::size_t words, bool in) {
    const std::size_t count = groups.front().size();
    const std::size_t most = power_of_two_in(count);
    if (count == most) return;
    for (const auto& group : groups)
        for (std::size_t beyond = most; beyond < count; ++beyond) {
            const int far = group[beyond];
            const int near = group[beyond - most];
            rounds.send(in ? far : near, in ? near : far, words);
        }
    rounds.end_round();
}

// Each rank of the power of two exchanges words with its partner at this distance.
void pair_up(TimedRounds& rounds, const Groups& groups, std::size_t distance, std::size_t words) {
    for (const auto& group : groups)
        for (std::size_t i = 0; i < power_of_two_in(group.size()); ++i)
            rounds.send(group[i], group[i ^ distance], words);
    rounds.end_round();
}

void doubling(TimedRounds& rounds, const Groups& groups, std::size_t words) {
    const std::size_t most = power_of_two_in(groups.front().size());
    fold(rounds, groups, words, true);
    for (std::size_t distance = 1; distance < most; distance *= 2) pair_up(rounds, groups, distance, words);
    fold(rounds, groups, words, false);
}

// Halves to far partners first, with within(words of a piece) in between, and back.
template <class Within>
void halving(TimedRounds& rounds, const Groups& groups, std::size_t words, const Within& within) {
    const std::size_t most = power_of_two_in(groups.front().size());
    std::vector<std::size_t> pieces;
    fold(rounds, groups, words, true);
    for (std::size_t distance = most / 2; distance >= 1; distance /= 2) {
        pieces.push_back(((pieces.empty() ? words : pieces.back()) + 1) / 2);
        pair_up(rounds, groups, distance, pieces.back());
    }
    within(pieces.empty() ? words : pieces.back());
    for (std::size_t distance = 1; distance < most; distance *= 2) {
        pair_up(rounds, groups, distance, pieces.back());
        pieces.pop_back();
    }
    fold(rounds, groups, words, false);
}

void leaders(TimedRounds& rounds, const Groups& nodes, std::size_t words) {
    std::size_t most = 0;
    std::vector<int> first;
    for (const auto& node : nodes) {
        most = std::max(most, node.size());
        first.push_back(node.front());
    }
    const auto tree_round = [&](std::size_t distance, bool up) {
        for (const auto& node : nodes)
            for (std::size_t i = distance; i < node.size(); i += 2 * distance)
                rounds.send(node[up ? i : i - distance], node[up ? i - distance : i], words);
        rounds.end_round();
    };
    std::size_t distance = 1;
    for (; distance < most; distance *= 2) tree_round(distance, true);
    doubling(rounds, {first}, words);
    while ((distance /= 2) >= 1) tree_round(distance, false);
}

bool can_slice(const Groups& nodes, std::size_t words) {
    const std::size_t each = nodes.front().size();
    const auto alike = [&](const auto& node) { return node.size() == each; };
    return each > 1 && std::has_single_bit(each) && std::ranges::all_of(nodes, alike) && words >= each;
}

void slices(TimedRounds& rounds, const Groups& nodes, std::size_t words) {
    Groups alike(nodes.front().size());  // by the number on the node
    for (const auto& node : nodes)
        for (std::size_t i = 0; i < node.size(); ++i) alike[i].push_back(node[i]);
    halving(rounds, nodes, words, [&](std::size_t slice) { doubling(rounds, alike, slice); });
}

// Whether ranks fill nodes in turn, alike, in powers of two: then doubling the nodes adds one round, whose
// messages all leave their node.
bool doubles(const RankPlaces& ranks, int per_node) {
    if (!std::has_single_bit(ranks.node_of.size()) || !std::has_single_bit(static_cast<unsigned>(per_node)))
        return false;
    for (std::size_t rank = 0; rank < ranks.node_of.size(); ++rank) {
        const auto each = static_cast<std::size_t>(per_node);
        if (ranks.node_of[rank] != static_cast<int>(rank / each)) return false;
        if (!ranks.socket_of.empty() && ranks.socket_of[rank] != ranks.socket_of[rank % each]) return false;
    }
    return true;
}

std::vector<RoundTime> rounds_among(const Machine& machine, const RankPlaces& ranks, std::size_t words,
                                    AllReduceModel model) {
    TimedRounds rounds(machine, ranks);
    const Groups all{numbers_below(static_cast<int>(ranks.node_of.size()))};
    switch (model) {
        case AllReduceModel::mpich:
        case AllReduceModel::automatic:
        case AllReduceModel::recursive_doubling:
            doubling(rounds, all, words);
            break;
        case AllReduceModel::rabenseifner:
            halving(rounds, all, words, [](std::size_t) {});
            break;
        case AllReduceModel::node_leader:
        case AllReduceModel::node_slices: {
            const Groups nodes = ranks.by_node();
            const bool slice = model == AllReduceModel::node_slices && can_slice(nodes, words);
            if (slice)
                slices(rounds, nodes, words);
            else
                leaders(rounds, nodes, words);
            break;
        }
    }
    return rounds.all();
}

double sum_of(std::span<const RoundTime> rounds) {
    return std::accumulate(rounds.begin(), rounds.end(), 0.0,
                           [](double sum, const RoundTime& round) { return sum + round.seconds; });
}

// Seconds of rounds at distances 1, 2, 4, ...: send_all(rounds, distance, ranks) sends the messages of one.
template <class SendAll>
double time_of_doublings(const Machine& machine, const RankPlaces& ranks, const SendAll& send_all) {
    TimedRounds rounds(machine, ranks);
    const std::size_t count = ranks.node_of.size();
    for (std::size_t distance = 1; distance < count; distance *= 2) {
        send_all(rounds, distance, count);
        rounds.end_round();
    }
    return sum_of(rounds.all());
}

}  // namespace

double all_reduce_time(const Machine& machine, const RankPlaces& ranks, std::size_t words,
                       AllReduceModel model, std::size_t most_ranks) {
    return sum_of(all_reduce_rounds(machine, ranks, words, model, most_ranks));
}

std::vector<RoundTime> all_reduce_rounds(const Machine& machine, const RankPlaces& ranks, std::size_t words,
                                         AllReduceModel model, std::size_t most_ranks) {
    const std::size_t count = ranks.node_of.size();
    if (model == AllReduceModel::automatic) model = fastest_all_reduce(machine, ranks, words);
    if (model == AllReduceModel::mpich) {
        const bool halves = words * sizeof(double) > 2048 && words >= power_of_two_in(count);
        model = halves ? AllReduceModel::rabenseifner : AllReduceModel::recursive_doubling;
    }
    const auto per_node = static_cast<std::size_t>(
        std::ranges::count(ranks.node_of, ranks.node_of.empty() ? 0 : ranks.node_of[0]));
    const std::size_t few = std::max(power_of_two_in(most_ranks), 4 * per_node);
    if (count <= few || model == AllReduceModel::rabenseifner || !doubles(ranks, static_cast<int>(per_node)))
        return rounds_among(machine, ranks, words, model);
    const auto among = [&](std::size_t first) {
        const auto sockets = ranks.socket_of.empty() ? ranks.socket_of : ranks.socket_of.first(first);
        return rounds_among(machine, {ranks.node_of.first(first), sockets}, words, model);
    };
    std::vector<RoundTime> rounds = among(few);
    RoundTime one = rounds.back();
    for (const RoundTime& round : rounds) one.busy = std::max(one.busy, round.busy);
    one.seconds = sum_of(rounds) - sum_of(among(few / 2));
    const int more = std::countr_zero(count / few);
    rounds.insert(rounds.end(), static_cast<std::size_t>(more), one);
    return rounds;
}

AllReduceModel fastest_all_reduce(const Machine& machine, const RankPlaces& ranks, std::size_t words) {
    constexpr std::array candidates{AllReduceModel::recursive_doubling, AllReduceModel::mpich,
                                    AllReduceModel::node_slices};
    return *std::ranges::min_element(
        candidates, {}, [&](AllReduceModel model) { return all_reduce_time(machine, ranks, words, model); });
}

AllReduceAlgorithm algorithm_of(AllReduceModel model, const Machine& machine, const RankPlaces& ranks,
                                std::size_t words) {
    if (model == AllReduceModel::automatic) model = fastest_all_reduce(machine, ranks, words);
    switch (model) {
        case AllReduceModel::recursive_doubling:
            return AllReduceAlgorithm::recursive_doubling;
        case AllReduceModel::mpich:  // our algorithm follows the same rule
        case AllReduceModel::rabenseifner:
            return AllReduceAlgorithm::rabenseifner;
        case AllReduceModel::node_leader:
        case AllReduceModel::node_slices:
        case AllReduceModel::automatic:
            break;
    }
    return AllReduceAlgorithm::node_aware;
}

double all_gather_time(const Machine& machine, const RankPlaces& ranks, std::size_t words) {
    return time_of_doublings(
        machine, ranks, [&](TimedRounds& rounds, std::size_t distance, std::size_t count) {
            for (std::size_t rank = 0; rank < count; ++rank)
                rounds.send(static_cast<int>(rank), static_cast<int>((rank + count - distance) % count),
                            std::min(distance, count - distance) * words);
        });
}

double gather_time(const Machine& machine, const RankPlaces& ranks, std::size_t words) {
    return time_of_doublings(machine, ranks,
                             [&](TimedRounds& rounds, std::size_t distance, std::size_t count) {
                                 for (std::size_t rank = distance; rank < count; rank += 2 * distance)
                                     rounds.send(static_cast<int>(rank), static_cast<int>(rank - distance),
                                                 std::min(distance, count - rank) * words);
                             });
}

}  // namespace keel
