// The messages of a phase are one MPI_Ineighbor_alltoallv on a graph of the ranks that have any; from the
// second flight with the same buffers on it is persistent, if the MPI has that. Nothing of a phase leaves a
// rank before all that it sends there is complete.

#include <algorithm>

#include "comm/carry/transports/all_to_all.hpp"
#include "comm/carry/transports/posted.hpp"

namespace keel {
namespace {

class Neighbour : public PostedMessages {
  public:
    // Collective, as all that makes an exchange.
    Neighbour(const TransportOptions& options, const RankSchedule& schedule)
        : PostedMessages(options, schedule) {
        if (options.comm.is_virtual()) return;
        for (std::size_t phase = 0; phase < names_of(Phase{}).size(); ++phase)
            add_round(static_cast<Phase>(phase), options.comm);
        std::ranges::sort(rounds_, {}, &Round::first);
    }
    ~Neighbour() override {
        forget();
        for (Round& round : rounds_) MPI_Comm_free(&round.graph);
    }
    void reserve(std::size_t /*fields*/) override { forget(); }

  private:
    struct Round {
        Phase phase = Phase::local;
        std::vector<const MessageEnd*> sends, receives;
        std::size_t stage = 0;  // in which the last of its sends is complete
        std::size_t first = 0;  // of its receives in the schedule, where they come phase by phase
        MPI_Comm graph = MPI_COMM_NULL;
    };
    // A flight's calls, by round. Flights come again on all ranks at once: reserve() alone moves buffers.
    struct Prepared {
        Flight flight;
        std::vector<AllToAll> calls;
        std::vector<MPI_Request> requests;
        bool persistent = false;
    };

    void add_round(Phase phase, const Communicator& ranks) {
        Round round;
        round.phase = phase;
        const std::vector<MessageEnd>& all = schedule().receives;
        round.first =
            static_cast<std::size_t>(std::ranges::find(all, phase, &MessageEnd::phase) - all.begin());
        for (const MessageEnd& message : all)
            if (message.phase == phase) round.receives.push_back(&message);
        for (std::size_t stage = 0; stage < schedule().stages.size(); ++stage)
            for (const MessageEnd& message : schedule().stages[stage].sends)
                if (message.phase == phase) {
                    round.sends.push_back(&message);
                    round.stage = stage;
                }
        const bool takes_part = !round.sends.empty() || !round.receives.empty();
        if (ranks.max(takes_part ? 1 : 0) == 0) return;
        MPI_Comm members = MPI_COMM_NULL;
        require(MPI_Comm_split(comm(), takes_part ? 0 : MPI_UNDEFINED, schedule().rank, &members),
                "MPI_Comm_split");
        if (!takes_part) return;
        make_graph(round, members);
        MPI_Comm_free(&members);
        rounds_.push_back(round);
    }
    void make_graph(Round& round, MPI_Comm members) const {
        const auto peers = [&](const std::vector<const MessageEnd*>& messages) {
            std::vector<int> ranks;
            for (const MessageEnd* const message : messages) ranks.push_back(message->peer);
            return translated(ranks, comm(), members);
        };
        const std::vector<int> from = peers(round.receives), to = peers(round.sends);
        require(MPI_Dist_graph_create_adjacent(members, static_cast<int>(from.size()), from.data(),
                                               MPI_UNWEIGHTED, static_cast<int>(to.size()), to.data(),
                                               MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &round.graph),
                "MPI_Dist_graph_create_adjacent");
    }

    AllToAll call(const Round& round) const {
        AllToAll call{flight().send, {}, {}, flight().receive, {}, {}, flight().type(), round.graph};
        const auto place = [&](const MessageEnd& message) {
            return mpi_count(message.offset * flight().fields, "messages of a rank's exchange");
        };
        for (const MessageEnd* const message : round.sends) {
            call.sent.push_back(count(*message, schedule().rank, message->peer));
            call.sent_from.push_back(place(*message));
        }
        for (const MessageEnd* const message : round.receives) {
            call.received.push_back(count(*message, message->peer, schedule().rank));
            call.received_at.push_back(place(*message));
        }
        return call;
    }
    void post_receives() override {
        const auto found = std::ranges::find(prepared_, flight(), &Prepared::flight);
        now_ = static_cast<std::size_t>(found - prepared_.begin());
        if (found == prepared_.end()) {
            Prepared& one = prepared_.emplace_back();
            one.flight = flight();
            for (const Round& round : rounds_) one.calls.push_back(call(round));
            one.requests.resize(rounds_.size(), MPI_REQUEST_NULL);
        } else if (AllToAll::can_persist() && !found->persistent) {
            found->persistent = true;
            // Rounds that bring a rank nothing stand last there; all ranks take the phases in one order.
            for (std::size_t phase = 0; phase < names_of(Phase{}).size(); ++phase)
                for (std::size_t n = 0; n < rounds_.size(); ++n)
                    if (rounds_[n].phase == static_cast<Phase>(phase))
                        found->requests[n] = found->calls[n].init();
        }
    }
    void post_sends(std::size_t stage) override {
        auto& [flight, calls, requests, persistent] = prepared_[now_];
        for (std::size_t n = 0; n < rounds_.size(); ++n) {
            if (rounds_[n].stage != stage) continue;
            if (persistent)
                require(MPI_Startall(1, &requests[n]), "MPI_Startall");
            else
                requests[n] = calls[n].post();
        }
    }
    std::span<MPI_Request> requests(std::size_t first, std::size_t end, bool all) override {
        const auto before = [&](std::size_t receive) {
            return static_cast<std::size_t>(std::ranges::lower_bound(rounds_, receive, {}, &Round::first) -
                                            rounds_.begin());
        };
        return std::span(prepared_[now_].requests)
            .subspan(before(first), (all ? rounds_.size() : before(end)) - before(first));
    }
    void forget() {
        for (Prepared& one : prepared_)
            if (one.persistent)
                for (MPI_Request& request : one.requests) MPI_Request_free(&request);
        prepared_.clear();
    }

    std::vector<Round> rounds_;
    std::vector<Prepared> prepared_;
    std::size_t now_ = 0;  // the prepared flight
};

}  // namespace

std::unique_ptr<Transport> make_neighbour(const TransportOptions& options, const RankSchedule& schedule) {
    return std::make_unique<Neighbour>(options, schedule);
}

}  // namespace keel
