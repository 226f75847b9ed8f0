// The arguments of each message are given once, to MPI_Recv_init and MPI_Send_init; an exchange starts all
// receives, and the sends of a stage, by one MPI_Startall each.

#include <algorithm>

#include "comm/carry/transports/posted.hpp"

namespace keel {
namespace {

class Persistent : public MessagesByRequest {
  public:
    using MessagesByRequest::MessagesByRequest;
    ~Persistent() override {
        for (Prepared& one : prepared_) free(one);
    }

  private:
    // The messages of flights alike.
    struct Prepared {
        Flight flight;
        std::vector<MPI_Request> requests;
    };

    void post_receives() override {
        prepare();
        start_all(of_receives());
    }
    void post_sends(std::size_t stage) override { start_all(of_sends(stage)); }
    static void start_all(std::span<MPI_Request> requests) {
        if (!requests.empty())
            require(MPI_Startall(static_cast<int>(requests.size()), requests.data()), "MPI_Startall");
    }

    // Between exchanges, when no request is active.
    void prepare() {
        // Buffers that have grown are elsewhere.
        std::erase_if(prepared_, [&](Prepared& one) {
            const bool stale = one.flight.send != flight().send || one.flight.receive != flight().receive;
            if (stale) free(one);
            return stale;
        });
        auto found = std::ranges::find(prepared_, flight(), &Prepared::flight);
        if (found == prepared_.end()) {
            init();
            found = prepared_.insert(found, {flight(), open_});
        }
        open_ = found->requests;
    }
    void init() {
        auto request = of_receives().begin();
        for (const MessageEnd& message : schedule().receives)
            require(MPI_Recv_init(flight().receive + flight().place(message),
                                  count(message, message.peer, schedule().rank), flight().type(),
                                  message.peer, tag(message), comm(), &*request++),
                    "MPI_Recv_init");
        for (std::size_t stage = 0; stage < schedule().stages.size(); ++stage) {
            request = of_sends(stage).begin();
            for (const MessageEnd& message : schedule().stages[stage].sends)
                require(MPI_Send_init(flight().send + flight().place(message),
                                      count(message, schedule().rank, message.peer), flight().type(),
                                      message.peer, tag(message), comm(), &*request++),
                        "MPI_Send_init");
        }
    }
    static void free(Prepared& one) {
        for (MPI_Request& request : one.requests) MPI_Request_free(&request);
    }

    std::vector<Prepared> prepared_;
};

}  // namespace

std::unique_ptr<Transport> make_persistent(const TransportOptions& options, const RankSchedule& schedule) {
    return std::make_unique<Persistent>(options, schedule);
}

}  // namespace keel
