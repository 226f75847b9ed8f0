#include "comm/point_to_point.hpp"

#include <vector>

#include "comm/mpi.hpp"
#include "kernels/check.hpp"

namespace keel {
namespace {

class Mpi : public PointToPoint {
  public:
    Mpi(const Communicator& comm, const Topology& topology, const Plan& plan, int tag)
        : comm_(comm),
          topology_(topology),
          plan_(plan),
          tag_(tag),
          requests_(plan.sends.size() + plan.receives.size(), MPI_REQUEST_NULL) {}

    Traffic start(const double* send, double* receive, std::size_t fields) override {
        std::size_t r = 0;
        for (const Message& m : plan_.receives)
            require(MPI_Irecv(receive + m.offset * fields, count(m, fields), MPI_DOUBLE, m.peer, tag_,
                              comm_.impl().comm, &requests_[r++]),
                    "MPI_Irecv");
        Traffic sent;
        for (const Message& m : plan_.sends) {
            require(MPI_Isend(send + m.offset * fields, count(m, fields), MPI_DOUBLE, m.peer, tag_,
                              comm_.impl().comm, &requests_[r++]),
                    "MPI_Isend");
            sent += traffic(m, fields);
        }
        return sent;
    }

    void wait() override {
        require(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE),
                "MPI_Waitall");
    }

  protected:
    static int count(const Message& m, std::size_t fields) { return static_cast<int>(m.values * fields); }
    Traffic traffic(const Message& m, std::size_t fields) const {
        const long bytes = count(m, fields) * static_cast<long>(sizeof(double));
        const bool off_node = !topology_.same_node(plan_.rank, m.peer);
        return {1, bytes, off_node ? 1 : 0, off_node ? bytes : 0};
    }

    Communicator comm_;
    Topology topology_;
    const Plan& plan_;
    int tag_;
    std::vector<MPI_Request> requests_;
};

// The requests are made at the first exchange and made anew only when the buffers or the number of fields change.
class PersistentMpi : public Mpi {
  public:
    using Mpi::Mpi;
    ~PersistentMpi() override { free(); }
    PersistentMpi(const PersistentMpi&) = delete;
    PersistentMpi& operator=(const PersistentMpi&) = delete;

    Traffic start(const double* send, double* receive, std::size_t fields) override {
        if (send != send_ || receive != receive_ || fields != fields_) prepare(send, receive, fields);
        if (!requests_.empty())
            require(MPI_Startall(static_cast<int>(requests_.size()), requests_.data()), "MPI_Startall");
        Traffic sent;
        for (const Message& m : plan_.sends) sent += traffic(m, fields);
        return sent;
    }

  private:
    void prepare(const double* send, double* receive, std::size_t fields) {
        free();
        std::size_t r = 0;
        for (const Message& m : plan_.receives)
            require(MPI_Recv_init(receive + m.offset * fields, count(m, fields), MPI_DOUBLE, m.peer, tag_,
                                  comm_.impl().comm, &requests_[r++]),
                    "MPI_Recv_init");
        for (const Message& m : plan_.sends)
            require(MPI_Send_init(send + m.offset * fields, count(m, fields), MPI_DOUBLE, m.peer, tag_,
                                  comm_.impl().comm, &requests_[r++]),
                    "MPI_Send_init");
        send_ = send;
        receive_ = receive;
        fields_ = fields;
    }
    void free() {
        for (MPI_Request& request : requests_)
            if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
    }

    const double* send_ = nullptr;
    double* receive_ = nullptr;
    std::size_t fields_ = 0;
};

}  // namespace

std::unique_ptr<PointToPoint> make_point_to_point(const Communicator& comm, const Topology& topology,
                                                  const Plan& plan, int tag, bool persistent) {
    if (persistent) return std::make_unique<PersistentMpi>(comm, topology, plan, tag);
    return std::make_unique<Mpi>(comm, topology, plan, tag);
}

}  // namespace keel
