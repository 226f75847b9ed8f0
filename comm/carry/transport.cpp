#include "comm/carry/transport.hpp"

#include <type_traits>
#include <utility>
#include <vector>

#include "comm/ranks/mpi.hpp"
#include "kernels/check.hpp"

namespace keel {
namespace {

// Requests: those of the receives, then of the sends, stage after stage. Each phase has a tag of its
// own; within one, messages between two ranks do not overtake each other.
class Mpi : public Transport {
  public:
    Mpi(const Communicator& comm, const Topology& topology, const RankSchedule& schedule, int tag,
        Meanwhile meanwhile)
        : comm_(comm),
          topology_(topology),
          schedule_(schedule),
          first_tag_(tag * static_cast<int>(names_of(Phase{}).size())),
          meanwhile_(std::move(meanwhile)) {
        first_.push_back(schedule.receives.size());
        for (const SendStage& stage : schedule.stages) first_.push_back(first_.back() + stage.sends.size());
        requests_.resize(first_.back(), MPI_REQUEST_NULL);
    }

    Traffic start(const void* send, void* receive, std::size_t fields, Precision precision) override {
        send_ = send;
        carry(fields, precision);
        arrived_ = 0;
        std::size_t r = 0;
        for (const MessageEnd& message : schedule_.receives)
            require(MPI_Irecv(at(receive, message), to_receive(message), type_, message.peer, tag(message),
                              comm_.impl().comm, &requests_[r++]),
                    "MPI_Irecv");
        return send(0);
    }

    void await(std::size_t stage) override {
        const std::size_t receives = schedule_.stages[stage].receives;
        wait_for(arrived_, receives);
        arrived_ = receives;
    }

    Traffic send(std::size_t stage) override {
        Traffic sent;
        std::size_t r = first_[stage];
        for (const MessageEnd& message : schedule_.stages[stage].sends) {
            require(MPI_Isend(at(send_, message), to_send(message), type_, message.peer, tag(message),
                              comm_.impl().comm, &requests_[r++]),
                    "MPI_Isend");
            sent += traffic(message);
        }
        return sent;
    }

    void wait() override { wait_for(arrived_, requests_.size()); }

  protected:
    void carry(std::size_t fields, Precision precision) {
        fields_ = fields;
        value_bytes_ = bytes_of_value(precision);
        type_ = precision == Precision::fp32 ? MPI_FLOAT : MPI_DOUBLE;
    }
    template <class Buffer>  // of bytes, const or not
    Buffer* at(Buffer* buffer, const MessageEnd& message) const {
        using Byte = std::conditional_t<std::is_const_v<Buffer>, const std::byte, std::byte>;
        return static_cast<Byte*>(buffer) + message.offset * fields_ * value_bytes_;
    }
    int count(const MessageEnd& message, int from, int to) const {
        return mpi_count(message.values * fields_, "message of an exchange", from, to);
    }
    int to_receive(const MessageEnd& message) const { return count(message, message.peer, schedule_.rank); }
    int to_send(const MessageEnd& message) const { return count(message, schedule_.rank, message.peer); }
    int tag(const MessageEnd& message) const { return first_tag_ + static_cast<int>(message.phase); }
    Traffic traffic(const MessageEnd& message) const {
        const auto bytes = static_cast<long>(message.values * fields_ * value_bytes_);
        const bool off_node = !topology_.same_node(schedule_.rank, message.peer);
        return {1, bytes, off_node ? 1 : 0, off_node ? bytes : 0};
    }
    void wait_for(std::size_t begin, std::size_t end) {
        if (begin == end) return;
        const auto count = static_cast<int>(end - begin);
        int done = 0;
        while (!done && meanwhile_ && meanwhile_())
            require(MPI_Testall(count, &requests_[begin], &done, MPI_STATUSES_IGNORE), "MPI_Testall");
        if (!done) require(MPI_Waitall(count, &requests_[begin], MPI_STATUSES_IGNORE), "MPI_Waitall");
    }

    Communicator comm_;
    Topology topology_;
    const RankSchedule& schedule_;
    int first_tag_;
    Meanwhile meanwhile_;
    std::vector<std::size_t> first_;  // request of each stage
    std::vector<MPI_Request> requests_;
    const void* send_ = nullptr;
    std::size_t fields_ = 0;
    std::size_t value_bytes_ = sizeof(double);
    MPI_Datatype type_ = MPI_DOUBLE;
    std::size_t arrived_ = 0;  // receives waited for
};

// The requests are made at the first exchange and made anew only when the buffers or the number of fields
// change.
class PersistentMpiTransport : public Mpi {
  public:
    using Mpi::Mpi;
    ~PersistentMpiTransport() override { free(); }
    PersistentMpiTransport(const PersistentMpiTransport&) = delete;
    PersistentMpiTransport& operator=(const PersistentMpiTransport&) = delete;

    Traffic start(const void* send, void* receive, std::size_t fields, Precision precision) override {
        if (send != send_ || receive != receive_ || fields != fields_)
            prepare(send, receive, fields, precision);
        arrived_ = 0;
        start_requests(0, first_[1]);
        return sent_by(0);
    }
    Traffic send(std::size_t stage) override {
        start_requests(first_[stage], first_[stage + 1]);
        return sent_by(stage);
    }

  private:
    void prepare(const void* send, void* receive, std::size_t fields, Precision precision) {
        free();
        send_ = send;
        receive_ = receive;
        carry(fields, precision);
        std::size_t r = 0;
        for (const MessageEnd& message : schedule_.receives)
            require(MPI_Recv_init(at(receive, message), to_receive(message), type_, message.peer,
                                  tag(message), comm_.impl().comm, &requests_[r++]),
                    "MPI_Recv_init");
        for (const SendStage& stage : schedule_.stages)
            for (const MessageEnd& message : stage.sends)
                require(MPI_Send_init(at(send, message), to_send(message), type_, message.peer, tag(message),
                                      comm_.impl().comm, &requests_[r++]),
                        "MPI_Send_init");
    }
    void start_requests(std::size_t begin, std::size_t end) {
        if (begin < end)
            require(MPI_Startall(static_cast<int>(end - begin), &requests_[begin]), "MPI_Startall");
    }
    Traffic sent_by(std::size_t stage) const {
        Traffic sent;
        for (const MessageEnd& message : schedule_.stages[stage].sends) sent += traffic(message);
        return sent;
    }
    void free() {
        for (MPI_Request& request : requests_)
            if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
    }

    void* receive_ = nullptr;
};

}  // namespace

std::unique_ptr<Transport> make_transport(const Communicator& comm, const Topology& topology,
                                          const RankSchedule& schedule, int tag, bool persistent,
                                          Meanwhile meanwhile) {
    if (persistent)
        return std::make_unique<PersistentMpiTransport>(comm, topology, schedule, tag, std::move(meanwhile));
    return std::make_unique<Mpi>(comm, topology, schedule, tag, std::move(meanwhile));
}

}  // namespace keel
