// The messages of a phase are one MPI_Ineighbor_alltoallv on a graph of the ranks that have any. Nothing of a
// phase leaves a rank before all that it sends there is complete.

#include <algorithm>

#include "comm/carry/transports/posted.hpp"

namespace keel {
namespace {

// One end of the messages of a phase, as the collective takes them.
struct Ends {
    std::vector<const MessageEnd*> messages;
    std::vector<int> counts, places;  // values of the flight

    std::vector<int> ranks() const {
        std::vector<int> ranks;
        for (const MessageEnd* const message : messages) ranks.push_back(message->peer);
        return ranks;
    }
};

class Neighbour : public PostedMessages {
  public:
    // Collective, as all that makes an exchange.
    Neighbour(const TransportOptions& options, const RankSchedule& schedule)
        : PostedMessages(options, schedule) {
        if (options.comm.is_virtual()) return;
        for (std::size_t phase = 0; phase < names_of(Phase{}).size(); ++phase)
            add_round(static_cast<Phase>(phase), options.comm);
        std::ranges::sort(rounds_, {}, &Round::first);
        requests_.resize(rounds_.size(), MPI_REQUEST_NULL);
    }
    ~Neighbour() override {
        for (Round& round : rounds_) MPI_Comm_free(&round.graph);
    }

  private:
    struct Round {
        Ends sends, receives;
        std::size_t stage = 0;  // in which the last of its sends is complete
        std::size_t first = 0;  // of its receives in the schedule, where they come phase by phase
        MPI_Comm graph = MPI_COMM_NULL;
    };

    void add_round(Phase phase, const Communicator& ranks) {
        Round round;
        const std::vector<MessageEnd>& all = schedule().receives;
        round.first =
            static_cast<std::size_t>(std::ranges::find(all, phase, &MessageEnd::phase) - all.begin());
        for (const MessageEnd& message : all)
            if (message.phase == phase) round.receives.messages.push_back(&message);
        for (std::size_t stage = 0; stage < schedule().stages.size(); ++stage)
            for (const MessageEnd& message : schedule().stages[stage].sends)
                if (message.phase == phase) {
                    round.sends.messages.push_back(&message);
                    round.stage = stage;
                }
        const bool takes_part = !round.sends.messages.empty() || !round.receives.messages.empty();
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
        const std::vector<int> from = translated(round.receives.ranks(), comm(), members);
        const std::vector<int> to = translated(round.sends.ranks(), comm(), members);
        require(MPI_Dist_graph_create_adjacent(members, static_cast<int>(from.size()), from.data(),
                                               MPI_UNWEIGHTED, static_cast<int>(to.size()), to.data(),
                                               MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &round.graph),
                "MPI_Dist_graph_create_adjacent");
    }

    void post_receives() override {
        for (Round& round : rounds_) {
            const auto measure = [&](Ends& ends, bool sent) {
                ends.counts.clear();
                ends.places.clear();
                for (const MessageEnd* const message : ends.messages) {
                    const int self = schedule().rank, peer = message->peer;
                    ends.counts.push_back(count(*message, sent ? self : peer, sent ? peer : self));
                    ends.places.push_back(
                        mpi_count(message->offset * flight().fields, "messages of a rank's exchange"));
                }
            };
            measure(round.sends, true);
            measure(round.receives, false);
        }
    }
    void post_sends(std::size_t stage) override {
        for (std::size_t n = 0; n < rounds_.size(); ++n) {
            const auto& [sends, receives, last, first, graph] = rounds_[n];
            if (last != stage) continue;
            require(MPI_Ineighbor_alltoallv(flight().send, sends.counts.data(), sends.places.data(),
                                            flight().type(), flight().receive, receives.counts.data(),
                                            receives.places.data(), flight().type(), graph, &requests_[n]),
                    "MPI_Ineighbor_alltoallv");
        }
    }
    std::span<MPI_Request> requests(std::size_t first, std::size_t end, bool all) override {
        const auto before = [&](std::size_t receive) {
            return static_cast<std::size_t>(std::ranges::lower_bound(rounds_, receive, {}, &Round::first) -
                                            rounds_.begin());
        };
        return std::span(requests_).subspan(before(first),
                                            (all ? requests_.size() : before(end)) - before(first));
    }

    std::vector<Round> rounds_;
    std::vector<MPI_Request> requests_;
};

}  // namespace

std::unique_ptr<Transport> make_neighbour(const TransportOptions& options, const RankSchedule& schedule) {
    return std::make_unique<Neighbour>(options, schedule);
}

}  // namespace keel
