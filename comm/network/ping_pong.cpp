#include "comm/network/ping_pong.hpp"

#include <algorithm>

#include "comm/ranks/mpi.hpp"

namespace keel {
namespace {

constexpr int tag = 0;

}  // namespace

std::vector<Pair> pairs_at(const RankPlaces& ranks, Locality locality, std::size_t most) {
    const int count = static_cast<int>(ranks.node_of.size());
    std::vector<bool> taken(ranks.node_of.size());
    std::vector<Pair> all;
    for (int a = 0; a < count; ++a)
        for (int b = a + 1; b < count && !taken[static_cast<std::size_t>(a)]; ++b)
            if (!taken[static_cast<std::size_t>(b)] && ranks.locality(a, b) == locality) {
                taken[static_cast<std::size_t>(a)] = taken[static_cast<std::size_t>(b)] = true;
                all.push_back({a, b});
            }
    if (all.size() <= most) return all;
    std::vector<Pair> spread;
    for (std::size_t n = 0; n < most; ++n) spread.push_back(all[n * all.size() / most]);
    return spread;
}

std::vector<Pair> pairs_of_nodes(const RankPlaces& ranks) {
    std::vector<std::vector<int>> nodes = ranks.by_node();
    std::stable_sort(nodes.begin(), nodes.end(), [](auto& a, auto& b) { return a.size() > b.size(); });
    std::vector<Pair> pairs;
    if (nodes.size() > 1)
        for (std::size_t n = 0; n < nodes[1].size(); ++n) pairs.push_back({nodes[0][n], nodes[1][n]});
    return pairs;
}

PingPong::PingPong(const Communicator& comm, const std::vector<Pair>& pairs, std::size_t bytes, int messages)
    : comm_(comm), bytes_(bytes), messages_(messages), buffer_(bytes * static_cast<std::size_t>(messages)) {
    for (const Pair& pair : pairs) {
        if (comm.rank() != pair.first && comm.rank() != pair.second) continue;
        first_ = comm.rank() == pair.first;
        partner_ = first_ ? pair.second : pair.first;
    }
    if (pairs.size() > 1) side_ = comm.split(!takes_part() ? 0 : first_ ? 1 : 2);
}

void PingPong::round_trips(int count) {
    if (!takes_part()) return;
    const int bytes = static_cast<int>(bytes_);
    std::vector<MPI_Request> requests(static_cast<std::size_t>(messages_), MPI_REQUEST_NULL);
    const auto wait = [&] {
        require(MPI_Waitall(messages_, requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    };
    const auto send = [&] {
        if (side_) side_->barrier();
        if (messages_ == 1) {
            require(MPI_Send(buffer_.data(), bytes, MPI_CHAR, partner_, tag, comm_.impl().comm), "MPI_Send");
            return;
        }
        for (std::size_t n = 0; n < requests.size(); ++n)
            require(MPI_Isend(buffer_.data() + n * bytes_, bytes, MPI_CHAR, partner_, tag, comm_.impl().comm,
                              &requests[n]),
                    "MPI_Isend");
        wait();
    };
    const auto receive = [&] {
        if (messages_ == 1) {
            require(MPI_Recv(buffer_.data(), bytes, MPI_CHAR, partner_, tag, comm_.impl().comm,
                             MPI_STATUS_IGNORE),
                    "MPI_Recv");
            return;
        }
        for (std::size_t n = 0; n < requests.size(); ++n)
            require(MPI_Irecv(buffer_.data() + n * bytes_, bytes, MPI_CHAR, partner_, tag, comm_.impl().comm,
                              &requests[n]),
                    "MPI_Irecv");
        wait();
    };
    for (int n = 0; n < count; ++n) {
        if (first_) send();
        receive();
        if (!first_) send();
    }
}

}  // namespace keel
