#include "comm/costs/gather_time.hpp"

#include <algorithm>
#include <vector>

#include "comm/costs/plan_time.hpp"

namespace keel {
namespace {

// Of a round: what visit(send) has sent, send(from, to, doubles).
template <class Visit>
double round_time(const Machine& machine, const RankPlaces& ranks, const Visit& visit) {
    std::vector<Load> sent(ranks.node_of.size());
    std::vector<Load> received(ranks.node_of.size());
    visit([&](std::size_t from, std::size_t to, std::size_t words) {
        const Locality locality = ranks.locality(static_cast<int>(from), static_cast<int>(to));
        const auto bytes = static_cast<double>(words * sizeof(double));
        sent[from].add(machine, Memory::host, locality, bytes);
        received[to].add(machine, Memory::host, locality, bytes);
    });
    return std::max(slowest(machine, ranks.node_of, sent), slowest(machine, ranks.node_of, received));
}

}  // namespace

double all_gather_time(const Machine& machine, const RankPlaces& ranks, std::size_t words) {
    const std::size_t count = ranks.node_of.size();
    double seconds = 0;
    for (std::size_t distance = 1; distance < count; distance *= 2)
        seconds += round_time(machine, ranks, [&](const auto& send) {
            for (std::size_t rank = 0; rank < count; ++rank)
                send(rank, (rank + count - distance) % count, std::min(distance, count - distance) * words);
        });
    return seconds;
}

double gather_time(const Machine& machine, const RankPlaces& ranks, std::size_t words) {
    const std::size_t count = ranks.node_of.size();
    double seconds = 0;
    for (std::size_t distance = 1; distance < count; distance *= 2)
        seconds += round_time(machine, ranks, [&](const auto& send) {
            for (std::size_t rank = distance; rank < count; rank += 2 * distance)
                send(rank, rank - distance, std::min(distance, count - rank) * words);
        });
    return seconds;
}

}  // namespace keel
