#include "comm/ranks/sparse_alltoallv.hpp"

#include <array>
#include <optional>

#include "comm/ranks/mpi.hpp"

namespace keel {
namespace {

// A barrier by dissemination: a rank joins it by making this object, and after log2(ranks) rounds of a
// message each it knows that all have joined (Hensgen, Finkel, Manber, "Two algorithms for barrier
// synchronization", 1988). MPI_Ibarrier of SimGrid 3.32 lets ranks go that rank 0 alone has joined; words
// that come later are then never received.
class Barrier {
  public:
    Barrier(const Communicator& comm, int tag)
        : group_(comm.impl().comm), tag_(tag), rank_(comm.rank()), size_(comm.size()) {
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
    int rank_, size_;
    int distance_ = 1;
    std::array<MPI_Request, 2> round_{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

}  // namespace

WordsByRank sparse_alltoallv(const Communicator& comm, const WordsByRank& outgoing, int tag) {
    MPI_Comm group = comm.impl().comm;
    const int tag_of_words = 2 * tag;
    std::vector<MPI_Request> sends;
    for (const auto& [rank, words] : outgoing)  // synchronous: complete only when received
        require(MPI_Issend(words.data(),
                           mpi_count(words.size(), "message of a sparse all-to-all", comm.rank(), rank),
                           MPI_INT64_T, rank, tag_of_words, group, &sends.emplace_back()),
                "MPI_Issend");
    WordsByRank incoming;
    std::optional<Barrier> barrier;
    while (!barrier || !barrier->passed()) {
        int found = 0;
        MPI_Status status;
        require(MPI_Iprobe(MPI_ANY_SOURCE, tag_of_words, group, &found, &status), "MPI_Iprobe");
        if (found != 0) {
            int length = 0;
            require(MPI_Get_count(&status, MPI_INT64_T, &length), "MPI_Get_count");
            std::vector<std::int64_t>& words = incoming[status.MPI_SOURCE];
            words.resize(static_cast<std::size_t>(length));
            require(MPI_Recv(words.data(), length, MPI_INT64_T, status.MPI_SOURCE, tag_of_words, group,
                             MPI_STATUS_IGNORE),
                    "MPI_Recv");
        }
        if (barrier) continue;
        int sent = 0;
        require(MPI_Testall(static_cast<int>(sends.size()), sends.data(), &sent, MPI_STATUSES_IGNORE),
                "MPI_Testall");
        if (sent != 0) barrier.emplace(comm, tag_of_words + 1);
    }
    return incoming;
}

}  // namespace keel
