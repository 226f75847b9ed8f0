#include "comm/ranks/sparse_exchange.hpp"

#include <array>
#include <optional>

#include "comm/ranks/mpi.hpp"

namespace keel {
namespace {

// A barrier that a rank joins by making this and has passed once all have joined: dissemination, log2 of the ranks rounds of a message
// each (Hensgen, Finkel, Manber, "Two algorithms for barrier synchronization", 1988). MPI_Ibarrier of SimGrid 3.32 lets ranks go that
// rank 0 alone has joined; letters that come later are then never received.
class Barrier {
  public:
    Barrier(MPI_Comm group, int tag) : group_(group), tag_(tag) {
        require(MPI_Comm_rank(group, &rank_), "MPI_Comm_rank");
        require(MPI_Comm_size(group, &size_), "MPI_Comm_size");
        start_round();
    }
    Barrier(const Barrier&) = delete;
    Barrier& operator=(const Barrier&) = delete;

    bool passed() {
        for (int done = 0; distance_ < size_; done = 0) {
            require(MPI_Testall(static_cast<int>(round_.size()), round_.data(), &done, MPI_STATUSES_IGNORE),
                    "MPI_Testall");
            if (done == 0) return false;
            distance_ *= 2;
            start_round();
        }
        return true;
    }

  private:
    void start_round() {
        if (distance_ >= size_) return;
        require(
            MPI_Irecv(nullptr, 0, MPI_INT64_T, (rank_ + size_ - distance_) % size_, tag_, group_, &round_[0]),
            "MPI_Irecv");
        require(MPI_Isend(nullptr, 0, MPI_INT64_T, (rank_ + distance_) % size_, tag_, group_, &round_[1]),
                "MPI_Isend");
    }

    MPI_Comm group_;
    int tag_;
    int rank_ = 0;
    int size_ = 1;
    int distance_ = 1;
    std::array<MPI_Request, 2> round_{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

}  // namespace

Letters exchange_letters(const Communicator& comm, const Letters& outgoing, int tag) {
    MPI_Comm group = comm.impl().comm;
    const int letters = 2 * tag;
    std::vector<MPI_Request> sends;
    for (const auto& [rank, letter] : outgoing)  // synchronous: complete only when received
        require(MPI_Issend(letter.data(), mpi_count(letter.size(), "letter", comm.rank(), rank), MPI_INT64_T,
                           rank, letters, group, &sends.emplace_back()),
                "MPI_Issend");
    Letters incoming;
    std::optional<Barrier> barrier;
    while (!barrier || !barrier->passed()) {
        int found = 0;
        MPI_Status status;
        require(MPI_Iprobe(MPI_ANY_SOURCE, letters, group, &found, &status), "MPI_Iprobe");
        if (found != 0) {
            int length = 0;
            require(MPI_Get_count(&status, MPI_INT64_T, &length), "MPI_Get_count");
            std::vector<std::int64_t>& letter = incoming[status.MPI_SOURCE];
            letter.resize(static_cast<std::size_t>(length));
            require(MPI_Recv(letter.data(), length, MPI_INT64_T, status.MPI_SOURCE, letters, group,
                             MPI_STATUS_IGNORE),
                    "MPI_Recv");
        }
        if (barrier) continue;
        int sent = 0;
        require(MPI_Testall(static_cast<int>(sends.size()), sends.data(), &sent, MPI_STATUSES_IGNORE),
                "MPI_Testall");
        if (sent != 0) barrier.emplace(group, letters + 1);
    }
    return incoming;
}

}  // namespace keel
