#include "comm/reductions/all_reduce.hpp"

#include "comm/ranks/mpi.hpp"

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

}  // namespace

void AllReduce::wait() {
    while (in_flight()) {
        const std::span<MPI_Request> open = requests().open;
        require(MPI_Waitall(static_cast<int>(open.size()), open.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
        take();
    }
}

std::unique_ptr<AllReduce> make_mpi_all_reduce(const Communicator& comm) {
    return std::make_unique<MpiAllReduce>(comm);
}

}  // namespace keel
