// All-reduce by recursive doubling (Thakur, Rabenseifner and Gropp 2005): with p ranks, p a power of two,
// log2 p rounds of one message each way; round k exchanges partial sums with rank XOR 2^k. Both partners then
// add the same two numbers, and addition is commutative: by induction all ranks of a group of 2^k hold the
// same bits. With other p, the ranks beyond the largest power of two hand their words to a partner first and
// receive the total last.

#include <vector>

#include "comm/ranks/mpi.hpp"
#include "comm/sums/all_reduce.hpp"

namespace keel {
namespace {

class RecursiveDoubling : public AllReduce {
  public:
    RecursiveDoubling(const Communicator& comm, const Topology& topology, int tag) : comm_(comm), tag_(tag) {
        int doubling = 1;
        while (2 * doubling <= comm.size()) doubling *= 2;
        const int rank = comm.rank();
        const int beyond = comm.size() - doubling;
        if (rank >= doubling) {
            rounds_ = {{rank - doubling, true, Received::nothing}, {rank - doubling, false, Received::total}};
        } else {
            if (rank < beyond) rounds_.push_back({rank + doubling, false, Received::part});
            for (int bit = 1; bit < doubling; bit *= 2) rounds_.push_back({rank ^ bit, true, Received::part});
            if (rank < beyond) rounds_.push_back({rank + doubling, true, Received::nothing});
        }
        round_ = rounds_.size();
        for (const Round& round : rounds_)
            if (round.sends) {
                const long off_node = topology.same_node(rank, round.peer) ? 0 : 1;
                of_one_byte_ += {1, 1, off_node, off_node};
            }
    }

    Traffic start(std::span<double> words) override {
        words_ = words;
        received_.resize(words.size());
        round_ = 0;
        post();
        const auto bytes = static_cast<long>(words.size_bytes());
        return {of_one_byte_.messages, of_one_byte_.bytes * bytes, of_one_byte_.off_node_messages,
                of_one_byte_.off_node_bytes * bytes};
    }

    void progress() override {
        while (round_ < rounds_.size()) {
            int done = 0;
            require(MPI_Testall(2, requests_, &done, MPI_STATUSES_IGNORE), "MPI_Testall");
            if (!done) return;
            complete();
        }
    }

    void wait() override {
        while (round_ < rounds_.size()) {
            require(MPI_Waitall(2, requests_, MPI_STATUSES_IGNORE), "MPI_Waitall");
            complete();
        }
    }

  private:
    enum class Received { nothing, part, total };
    struct Round {
        int peer;
        bool sends;
        Received received;
    };

    void post() {
        if (round_ == rounds_.size()) return;
        const Round& round = rounds_[round_];
        const int count = static_cast<int>(words_.size());
        if (round.received != Received::nothing)
            require(MPI_Irecv(received_.data(), count, MPI_DOUBLE, round.peer, tag_, comm_.impl().comm,
                              &requests_[0]),
                    "MPI_Irecv");
        if (round.sends)
            require(MPI_Isend(words_.data(), count, MPI_DOUBLE, round.peer, tag_, comm_.impl().comm,
                              &requests_[1]),
                    "MPI_Isend");
    }

    // The messages of a round have arrived and left.
    void complete() {
        const Received kind = rounds_[round_].received;
        for (std::size_t n = 0; n < words_.size(); ++n) {
            if (kind == Received::part) words_[n] += received_[n];
            if (kind == Received::total) words_[n] = received_[n];
        }
        ++round_;
        post();
    }

    Communicator comm_;
    int tag_;
    std::vector<Round> rounds_;
    Traffic of_one_byte_;  // the messages of a sum, were each a byte long
    std::size_t round_;    // that is under way; behind the last: none is
    std::span<double> words_;
    std::vector<double> received_;
    MPI_Request requests_[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

}  // namespace

std::unique_ptr<AllReduce> make_recursive_doubling(const Communicator& comm, const Topology& topology,
                                                   int tag) {
    return std::make_unique<RecursiveDoubling>(comm, topology, tag);
}

}  // namespace keel
