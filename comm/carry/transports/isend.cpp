// Each message is posted anew: MPI_Irecv and MPI_Isend.

#include "comm/carry/transports/posted.hpp"

namespace keel {
namespace {

class Isend : public MessagesByRequest {
  public:
    using MessagesByRequest::MessagesByRequest;

  private:
    void post_receives() override {
        auto request = of_receives().begin();
        for (const MessageEnd& message : schedule().receives) post_receive(message, *request++);
    }
    void post_sends(std::size_t stage) override {
        auto request = of_sends(stage).begin();
        for (const MessageEnd& message : schedule().stages[stage].sends) post_send(message, *request++);
    }
};

}  // namespace

std::unique_ptr<Transport> make_isend(const TransportOptions& options, const RankSchedule& schedule) {
    return std::make_unique<Isend>(options, schedule);
}

}  // namespace keel
