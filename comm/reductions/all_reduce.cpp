#include "comm/reductions/all_reduce.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <vector>

#include "comm/ranks/mpi.hpp"
#include "comm/reductions/pairs.hpp"
#include "comm/reductions/rounds.hpp"
#include "kernels/check.hpp"

namespace keel {
namespace {

class MpiAllReduce : public AllReduce {
  public:
    explicit MpiAllReduce(const Communicator& comm) : comm_(comm) {}

    Traffic start(std::span<double> words) override {
        require(MPI_Iallreduce(MPI_IN_PLACE, words.data(), mpi_count(words.size(), "MPI_Iallreduce"),
                               MPI_DOUBLE, MPI_SUM, comm_.impl().comm, &request_),
                "MPI_Iallreduce");
        return {};
    }
    // MPI progresses the sum in any of its calls.
    bool progress() override {
        int done = 0;
        if (in_flight()) require(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), "MPI_Test");
        return false;
    }
    bool in_flight() const override { return request_ != MPI_REQUEST_NULL; }
    Requests requests() override { return {{&request_, 1}}; }
    void take() override {}

  private:
    Communicator comm_;
    MPI_Request request_ = MPI_REQUEST_NULL;
};

// Carries out the rounds that rounds.cpp plans. The messages of a virtual rank are counted.
class PointToPointAllReduce : public AllReduce {
  public:
    PointToPointAllReduce(const AlgorithmByWords& algorithm, const Communicator& comm,
                          const Topology& topology, int tag, WordType type)
        : algorithm_(algorithm), comm_(comm), topology_(topology), tag_(tag), type_(type) {}

    Traffic start(std::span<double> words) override {
        words_ = words;
        received_.resize(std::max(received_.size(), words.size()));
        const auto [planned, is_new] = plans_.try_emplace(words.size());
        plan_ = &planned->second;
        if (is_new) *plan_ = plan(words.size());
        round_ = comm_.is_virtual() ? plan_->rounds.size() : 0;
        post();
        return plan_->traffic;
    }

    bool progress() override {
        while (in_flight()) {
            int done = 0;
            require(MPI_Testall(2, requests_, &done, MPI_STATUSES_IGNORE), "MPI_Testall");
            if (!done) return true;
            complete();
        }
        return false;
    }

    bool in_flight() const override { return plan_ != nullptr && round_ < plan_->rounds.size(); }
    Requests requests() override { return {requests_}; }
    void take() override {
        while (in_flight() &&
               std::ranges::all_of(requests_, [](MPI_Request r) { return r == MPI_REQUEST_NULL; }))
            complete();
    }

  private:
    struct Planned {
        std::vector<Round> rounds;
        Traffic traffic;
    };

    Planned plan(std::size_t words) const {
        const AllReduceAlgorithm algorithm = algorithm_(words);
        if (algorithm == AllReduceAlgorithm::mpi) return {};
        Planned planned{rounds_of(algorithm, topology_, comm_.rank(), words, type_), {}};
        planned.traffic = traffic_of(planned.rounds, topology_, comm_.rank());
        return planned;
    }

    void post() {
        if (!in_flight()) return;
        const auto& [peer, sent, received, adds] = plan_->rounds[round_];
        if (received.count > 0)
            require(MPI_Irecv(received_.data(), count_of(received, peer, comm_.rank()), MPI_DOUBLE, peer,
                              tag_, comm_.impl().comm, &requests_[0]),
                    "MPI_Irecv");
        if (sent.count > 0)
            require(MPI_Isend(words_.data() + sent.first, count_of(sent, comm_.rank(), peer), MPI_DOUBLE,
                              peer, tag_, comm_.impl().comm, &requests_[1]),
                    "MPI_Isend");
    }

    static int count_of(const Words& words, int from, int to) {
        return mpi_count(words.count, "message of an all-reduce", from, to);
    }

    // The messages of a round have arrived and left.
    void complete() {
        const Round& round = plan_->rounds[round_];
        const auto ours = words_.subspan(round.received.first, round.received.count);
        const auto theirs = std::span<const double>(received_).first(round.received.count);
        if (!round.adds)
            std::ranges::copy(theirs, ours.begin());
        else if (type_ == WordType::double_double)
            add_pairs(ours, theirs);
        else
            std::ranges::transform(ours, theirs, ours.begin(), std::plus<>());
        ++round_;
        post();
    }

    AlgorithmByWords algorithm_;
    Communicator comm_;
    Topology topology_;
    int tag_;
    WordType type_;
    std::map<std::size_t, Planned> plans_;  // by the number of words
    Planned* plan_ = nullptr;               // of the sum that is in flight, or was last
    std::size_t round_ = 0;                 // of it; behind the last: it is complete
    std::span<double> words_;
    std::vector<double> received_;
    MPI_Request requests_[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

}  // namespace

void AllReduce::wait() {
    while (in_flight()) {
        const std::span<MPI_Request> open = requests().open;
        require(MPI_Waitall(static_cast<int>(open.size()), open.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
        take();
    }
}

std::unique_ptr<AllReduce> make_all_reduce(AllReduceAlgorithm algorithm, const Communicator& comm,
                                           const Topology& topology, int tag,
                                           const AlgorithmByWords& by_words, WordType type) {
    if (algorithm == AllReduceAlgorithm::mpi && !comm.is_virtual()) {
        check(type == WordType::fp64, "only words are added up by MPI while the caller does something else");
        return std::make_unique<MpiAllReduce>(comm);
    }
    const auto always = [algorithm](std::size_t) { return algorithm; };
    return std::make_unique<PointToPointAllReduce>(
        algorithm == AllReduceAlgorithm::automatic ? by_words : always, comm, topology, tag, type);
}

}  // namespace keel
