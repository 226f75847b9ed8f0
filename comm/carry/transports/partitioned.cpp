// Messages in parts, one for each field: MPI_Psend_init, MPI_Precv_init, and MPI_Pready_range when a stage is
// packed. Fields are packed together, so that no part leaves before another.

#include "comm/carry/transports/persistent.hpp"

namespace keel {
namespace {

class Partitioned : public Persistent {
  public:
    using Persistent::Persistent;

  private:
    int parts() const { return static_cast<int>(flight().fields); }
    void init_receive(const MessageEnd& message, MPI_Request& request) const override {
        require(MPI_Precv_init(flight().receive + flight().place(message), parts(),
                               static_cast<MPI_Count>(message.values), flight().type(), message.peer,
                               tag(message), comm(), MPI_INFO_NULL, &request),
                "MPI_Precv_init");
    }
    void init_send(const MessageEnd& message, MPI_Request& request) const override {
        require(MPI_Psend_init(flight().send + flight().place(message), parts(),
                               static_cast<MPI_Count>(message.values), flight().type(), message.peer,
                               tag(message), comm(), MPI_INFO_NULL, &request),
                "MPI_Psend_init");
    }
    void post_sends(std::size_t stage) override {
        Persistent::post_sends(stage);
        for (const MPI_Request request : of_sends(stage))
            require(MPI_Pready_range(0, parts() - 1, request), "MPI_Pready_range");
    }
};

}  // namespace

bool has_partitioned_messages() {
    return true;
}

std::unique_ptr<Transport> make_partitioned(const TransportOptions& options, const RankSchedule& schedule) {
    return std::make_unique<Partitioned>(options, schedule);
}

}  // namespace keel
