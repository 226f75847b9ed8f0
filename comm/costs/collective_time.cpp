#include "comm/costs/collective_time.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <span>
#include <vector>

#include "comm/costs/plan_time.hpp"
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

std::vector<RoundTime> rounds_among(const Machine& machine, const RankPlaces& ranks, std::size_t words,
                                    Pairing pairing) {
    const Topology topology(ranks.node_of, NodeSource::slices);
    const Steps steps = steps_of(pairing, topology, words);
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

double sum_of(std::span<const RoundTime> rounds) {
    return std::accumulate(rounds.begin(), rounds.end(), 0.0,
                           [](double sum, const RoundTime& round) { return sum + round.seconds; });
}

std::vector<RoundTime> all_reduce_rounds(const Machine& machine, const Topology& topology, std::size_t words,
                                         Pairing pairing, std::size_t most_ranks) {
    const RankPlaces ranks = topology.places();
    const std::size_t count = ranks.node_of.size();
    const auto per_node = static_cast<std::size_t>(
        std::ranges::count(ranks.node_of, ranks.node_of.empty() ? 0 : ranks.node_of[0]));
    const std::size_t few = std::max(std::bit_floor(most_ranks), 4 * per_node);
    if (count <= few || pairing == Pairing::halving || !doubles(ranks, static_cast<int>(per_node)))
        return rounds_among(machine, ranks, words, pairing);
    const auto among = [&](std::size_t first) {
        const auto sockets = ranks.socket_of.empty() ? ranks.socket_of : ranks.socket_of.first(first);
        return rounds_among(machine, {ranks.node_of.first(first), sockets}, words, pairing);
    };
    std::vector<RoundTime> rounds = among(few);
    RoundTime one = rounds.back();
    for (const RoundTime& round : rounds) one.busy = std::max(one.busy, round.busy);
    one.seconds = sum_of(rounds) - sum_of(among(few / 2));
    const int more = std::countr_zero(count / few);
    rounds.insert(rounds.end(), static_cast<std::size_t>(more), one);
    return rounds;
}

std::vector<RoundTime> all_reduce_rounds(const Machine& machine, const Topology& topology, std::size_t words,
                                         AllReduceAlgorithm algorithm) {
    if (algorithm == AllReduceAlgorithm::automatic) algorithm = fastest_all_reduce(machine, topology, words);
    return all_reduce_rounds(machine, topology, words, pairing_of(algorithm, topology, words));
}

double all_reduce_time(const Machine& machine, const Topology& topology, std::size_t words,
                       AllReduceAlgorithm algorithm) {
    return sum_of(all_reduce_rounds(machine, topology, words, algorithm));
}

AllReduceAlgorithm fastest_all_reduce(const Machine& machine, const Topology& topology, std::size_t words) {
    using enum AllReduceAlgorithm;
    constexpr std::array candidates{recursive_doubling, rabenseifner, node_aware};
    return *std::ranges::min_element(candidates, {}, [&](AllReduceAlgorithm algorithm) {
        return all_reduce_time(machine, topology, words, algorithm);
    });
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
