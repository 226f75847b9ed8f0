#include "comm/sums/all_reduce.hpp"

#include "comm/ranks/mpi.hpp"

namespace keel {
namespace {

class MpiAllReduce : public AllReduce {
  public:
    explicit MpiAllReduce(const Communicator& comm) : comm_(comm) {}

    Traffic start(std::span<double> words) override {
        require(MPI_Iallreduce(MPI_IN_PLACE, words.data(), static_cast<int>(words.size()), MPI_DOUBLE,
                               MPI_SUM, comm_.impl().comm, &request_),
                "MPI_Iallreduce");
        return {};
    }
    void progress() override {
        if (request_ == MPI_REQUEST_NULL) return;  // complete
        int done = 0;
        require(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), "MPI_Test");
    }
    void wait() override {
        if (request_ != MPI_REQUEST_NULL) require(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait");
    }

  private:
    Communicator comm_;
    MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace

std::unique_ptr<AllReduce> make_mpi_all_reduce(const Communicator& comm) {
    return std::make_unique<MpiAllReduce>(comm);
}

}  // namespace keel
