#include "comm/carry/transport.hpp"

#include <vector>

#include "comm/ranks/mpi.hpp"

namespace keel {
namespace {

// The requests are those of the receives, then of the sends, stage after stage. Each phase has a tag of its
// own; within one, messages between two ranks do not overtake each other.
class MpiTransport : public Transport {
  public:
    MpiTransport(const TransportOptions& options, const RankSchedule& schedule)
        : comm_(options.comm),
          topology_(options.topology),
          schedule_(schedule),
          first_tag_(options.tag * static_cast<int>(names_of(Phase{}).size())),
          meanwhile_(options.meanwhile),
          ledger_(options.ledger),
          level_(options.level) {
        first_.push_back(schedule.receives.size());
        for (const SendStage& stage : schedule.stages) first_.push_back(first_.back() + stage.sends.size());
        requests_.resize(first_.back(), MPI_REQUEST_NULL);
        if (comm_.kept_messages() == nullptr) return;
        for (const MessageEnd& message : schedule.receives) keep(message);
        for (const SendStage& stage : schedule.stages)
            for (const MessageEnd& message : stage.sends) keep(message);
    }

    void start(const void* send, void* receive, std::size_t fields, Precision precision) override {
        send_ = static_cast<const std::byte*>(send);
        fields_ = fields;
        value_bytes_ = bytes_of_value(precision);
        type_ = precision == Precision::fp32 ? MPI_FLOAT : MPI_DOUBLE;
        arrived_ = 0;
        book(Op::send, [&] {
            std::size_t r = 0;
            for (const MessageEnd& message : schedule_.receives)
                if (!comm_.is_virtual())
                    require(MPI_Irecv(static_cast<std::byte*>(receive) + place(message),
                                      count(message, message.peer, schedule_.rank), type_, message.peer,
                                      tag(message), comm_.impl().comm, &requests_[r++]),
                            "MPI_Irecv");
            post(0);
        });
    }
    void await(std::size_t stage) override {
        const std::size_t receives = schedule_.stages[stage].receives;
        book(Op::wait, [&] { wait_for(arrived_, receives); });
        arrived_ = receives;
    }
    void send(std::size_t stage) override {
        book(Op::send, [&] { post(stage); });
    }
    void wait() override {
        book(Op::wait, [&] { wait_for(arrived_, requests_.size()); });
    }

  private:
    template <class Action>
    void book(Op op, const Action& action) {
        if (ledger_ == nullptr) return action();
        timed(*ledger_, op, level_, action);
    }
    void post(std::size_t stage) {
        std::size_t r = first_[stage];
        for (const MessageEnd& message : schedule_.stages[stage].sends) {
            if (!comm_.is_virtual())
                require(MPI_Isend(send_ + place(message), count(message, schedule_.rank, message.peer), type_,
                                  message.peer, tag(message), comm_.impl().comm, &requests_[r++]),
                        "MPI_Isend");
            if (ledger_ == nullptr) continue;
            const auto bytes = static_cast<long>(message.values * fields_ * value_bytes_);
            const bool off_node = !topology_.same_node(schedule_.rank, message.peer);
            ledger_->at(Op::send, level_).traffic +=
                Traffic{1, bytes, off_node ? 1 : 0, off_node ? bytes : 0};
        }
    }
    void keep(const MessageEnd& message) const {
        KeptMessages& kept = *comm_.kept_messages();
        ++kept.messages;
        kept.items += message.items.size();
        kept.relayed += message.relayed ? message.items.size() : 0;
    }
    std::size_t place(const MessageEnd& message) const { return message.offset * fields_ * value_bytes_; }
    int count(const MessageEnd& message, int from, int to) const {
        return mpi_count(message.values * fields_, "message of an exchange", from, to);
    }
    int tag(const MessageEnd& message) const { return first_tag_ + static_cast<int>(message.phase); }
    void wait_for(std::size_t begin, std::size_t end) {
        if (begin == end || comm_.is_virtual()) return;
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
    Ledger* ledger_;
    int level_;
    std::vector<std::size_t> first_;  // request of each stage
    std::vector<MPI_Request> requests_;
    // The exchange in flight.
    const std::byte* send_ = nullptr;
    std::size_t fields_ = 0;
    std::size_t value_bytes_ = sizeof(double);
    MPI_Datatype type_ = MPI_DOUBLE;
    std::size_t arrived_ = 0;  // receives waited for
};

}  // namespace

std::unique_ptr<Transport> make_transport(const TransportOptions& options, const RankSchedule& schedule) {
    return std::make_unique<MpiTransport>(options, schedule);
}

}  // namespace keel
