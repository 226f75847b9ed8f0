#include "comm/network/ping_pong.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "comm/ranks/mpi.hpp"

namespace keel {
namespace {

constexpr int tag = 0;

// This rank's messages, each of `values` values.
Plan plan_of(const std::vector<Pair>& messages, int values, int rank) {
    std::map<Pair, int> sequence;
    std::vector<Transfer> transfers;
    for (const Pair& pair : messages) {
        const int n = sequence[pair]++;
        transfers.push_back({pair.first, pair.second, n, {pair.first, values, n}});
    }
    return {{Phase::local, messages_of(std::move(transfers), rank)}, {}};
}

}  // namespace

std::vector<Pair> pairs_at(const RankPlaces& ranks, Locality locality) {
    const int count = static_cast<int>(ranks.node_of.size());
    std::vector<bool> taken(ranks.node_of.size());
    std::vector<Pair> all;
    for (int a = 0; a < count; ++a)
        for (int b = a + 1; b < count && !taken[static_cast<std::size_t>(a)]; ++b)
            if (!taken[static_cast<std::size_t>(b)] && ranks.locality(a, b) == locality) {
                taken[static_cast<std::size_t>(a)] = taken[static_cast<std::size_t>(b)] = true;
                all.push_back({a, b});
            }
    return all;
}

std::vector<Pair> few_of(const std::vector<Pair>& pairs, std::size_t most) {
    if (pairs.size() <= most) return pairs;
    std::vector<Pair> spread;
    for (std::size_t n = 0; n < most; ++n) spread.push_back(pairs[n * pairs.size() / most]);
    return spread;
}

std::vector<Pair> messages_among(const std::vector<Pair>& pairs, const RankPlaces& ranks, Locality locality,
                                 int count) {
    std::vector<Pair> messages;
    const auto send = [&](std::size_t pair, int Pair::*from, int Pair::*to) {
        std::vector<int> partners;  // its own first
        for (std::size_t n = 0; n < pairs.size(); ++n)
            if (const int other = pairs[(pair + n) % pairs.size()].*to;
                ranks.locality(pairs[pair].*from, other) == locality)
                partners.push_back(other);
        for (int n = 0; n < count; ++n)
            messages.push_back({pairs[pair].*from, partners[static_cast<std::size_t>(n) % partners.size()]});
    };
    for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
        send(pair, &Pair::first, &Pair::second);
        send(pair, &Pair::second, &Pair::first);
    }
    return messages;
}

std::vector<Pair> fan_at(const RankPlaces& ranks, Locality locality) {
    constexpr std::size_t most = 8;
    const int count = static_cast<int>(ranks.node_of.size());
    std::vector<Pair> largest;
    for (int rank = 0; rank < count && largest.size() < most; ++rank) {
        std::vector<Pair> fan;
        for (int other = 0; other < count && fan.size() < most; ++other)
            if (other != rank && ranks.locality(rank, other) == locality) fan.push_back({rank, other});
        if (fan.size() > largest.size()) largest = std::move(fan);
    }
    return largest;
}

std::vector<Pair> pairs_of_nodes(const RankPlaces& ranks, std::size_t count) {
    std::vector<std::vector<int>> nodes = ranks.by_node();
    std::stable_sort(nodes.begin(), nodes.end(), [](auto& a, auto& b) { return a.size() > b.size(); });
    std::vector<Pair> pairs;
    for (std::size_t i = 0; i + 1 < nodes.size(); i += 2)
        for (std::size_t n = 0; n < std::min(count, nodes[i + 1].size()); ++n)
            pairs.push_back({nodes[i][n], nodes[i + 1][n]});
    return pairs;
}

DeviceBuffer::DeviceBuffer(const Backend& backend, std::size_t bytes, Wire wire)
    : operations_(backend.make_operations(Layout({1, 1, 1}, 2, Boundaries{}, {0}, 0), 0)),
      field_(operations_->make_field()),
      buffer_(operations_->make_buffer(bytes / sizeof(double), wire)) {}

// No block of cells is packed or unpacked: the message alone moves.
void DeviceBuffer::to_host(std::size_t bytes) {
    if (!staged()) return;
    operations_->copy_blocks(Packed{buffer_, 1}, {.values = bytes / sizeof(double)}, std::span(&field_, 1),
                             {});
}
void DeviceBuffer::to_device(std::size_t bytes) {
    if (!staged()) return;
    operations_->copy_blocks(std::span(&field_, 1), {.values = bytes / sizeof(double)}, Packed{buffer_, 1},
                             {});
    operations_->wait();
}

PingPong::PingPong(const Communicator& comm, const std::vector<Pair>& pairs, std::size_t bytes,
                   std::span<const int> node_of, DeviceBuffer* device)
    : comm_(comm), bytes_(bytes), buffer_(device ? 0 : bytes), device_(device) {
    for (const Pair& pair : pairs) {
        if (comm.rank() != pair.first && comm.rank() != pair.second) continue;
        first_ = comm.rank() == pair.first;
        partner_ = first_ ? pair.second : pair.first;
    }
    if (!node_of.empty())
        side_ = comm.split(takes_part() ? 1 + node_of[static_cast<std::size_t>(comm.rank())] : 0);
}

void PingPong::round_trips(int count) {
    if (!takes_part()) return;
    const int bytes = static_cast<int>(bytes_);
    std::byte* const data = device_ ? device_->wire().data() : buffer_.data();
    const MPI_Comm comm = comm_.impl().comm;
    const auto send = [&] {
        if (side_) side_->barrier();
        if (device_) device_->to_host(bytes_);
        require(MPI_Send(data, bytes, MPI_CHAR, partner_, tag, comm), "MPI_Send");
    };
    for (int n = 0; n < count; ++n) {
        if (first_) send();
        require(MPI_Recv(data, bytes, MPI_CHAR, partner_, tag, comm, MPI_STATUS_IGNORE), "MPI_Recv");
        if (device_) device_->to_device(bytes_);
        if (!first_) send();
    }
}

MessagesAtOnce::MessagesAtOnce(const Communicator& comm, const Topology& topology,
                               const std::vector<Pair>& messages, std::size_t bytes, Carrier carrier)
    : schedule_(plan_of(messages, static_cast<int>(bytes / sizeof(double)), comm.rank()), comm.rank()),
      sent_(schedule_.send_values()),
      received_(schedule_.receive_values()),
      transport_(make_transport(carrier, {comm, topology, tag}, schedule_)) {
    transport_->reserve(1);
}

void MessagesAtOnce::exchanges(int count) {
    for (int n = 0; n < count; ++n) {
        transport_->start(sent_.data(), received_.data(), 1, Precision::fp64);
        transport_->wait();
    }
}

}  // namespace keel
