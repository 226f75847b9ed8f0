#include "comm/costs/collective_time.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <span>
#include <vector>

#include "comm/costs/plan_time.hpp"
#include "comm/ranks/topology.hpp"
#include "comm/reductions/rounds.hpp"

namespace keel {
namespace {

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

Pairing pairing_of(AllReduceModel model, const Topology& topology, std::size_t words) {
    if (model == AllReduceModel::rabenseifner) return Pairing::halving;
    if (model == AllReduceModel::node_slices && can_slice(topology, words)) return Pairing::slices;
    const bool by_nodes = model == AllReduceModel::node_leader || model == AllReduceModel::node_slices;
    return by_nodes ? Pairing::leaders : Pairing::doubling;
}

std::vector<RoundTime> rounds_among(const Machine& machine, const RankPlaces& ranks, std::size_t words,
                                    AllReduceModel model) {
    const Topology topology(ranks.node_of, NodeSource::slices);
    const Steps steps = steps_of(pairing_of(model, topology, words), topology, words);
    TimedRounds rounds(machine, ranks);
    for (const auto* const some : {&steps.up, &steps.between})
        for (const Step& step : *some) {
            for (int rank = 0; rank < topology.ranks(); ++rank)
                if (const Partner partner = partner_of(step, topology, rank); partner.sends)
                    rounds.send(rank, partner.rank, step.words);
            rounds.end_round();
        }
    std::vector<RoundTime> all = rounds.all();
    for (std::size_t n = steps.up.size(); n-- > 0;) all.push_back(all[n]);  // totals go back the same way
    return all;
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
        const bool halves = words * sizeof(double) > 2048 && words >= std::bit_floor(count);
        model = halves ? AllReduceModel::rabenseifner : AllReduceModel::recursive_doubling;
    }
    const auto per_node = static_cast<std::size_t>(
        std::ranges::count(ranks.node_of, ranks.node_of.empty() ? 0 : ranks.node_of[0]));
    const std::size_t few = std::max(std::bit_floor(most_ranks), 4 * per_node);
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
