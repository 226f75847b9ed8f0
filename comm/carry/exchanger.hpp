#pragma once

// Exchanges one rank's packed values by a plan: the buffers, the messages, and what is forwarded between
// them. Its user packs and unpacks.

#include <memory>
#include <optional>
#include <vector>

#include "comm/carry/transport.hpp"
#include "comm/plans/plan.hpp"
#include "comm/plans/rank_schedule.hpp"
#include "kernels/operations.hpp"

namespace keel {

struct ExchangeOptions {
    Wire wire = Wire::staged;  // whether the MPI gets the buffers where the operations have them
    // Work that needs no ghosts is done while messages are in flight: begin() also forwards until all
    // messages to other nodes are sent.
    bool overlap = false;
    // With `one_colour` an exchange of one colour sends that colour alone; for patterns of cells whose
    // colours alternate.
    bool one_colour = false;
};

// The cells of a plan that travel: all or, by the same messages (of_one_colour), those of one colour.
enum class Carried { all, one_colour };

class Exchanger {
  public:
    // `operations` make the buffers and forward from one to the other; they must outlive the exchanger. With
    // `one_colour` it also carries cells of one colour, in the same buffers. Collective.
    Exchanger(Operations& operations, Plan plan, int rank, const ExchangeOptions& options,
              const TransportOptions& transport);

    const Plan& plan() const { return plan_; }
    bool carries(Carried carried) const { return static_cast<std::size_t>(carried) < routes_.size(); }
    const RankSchedule& schedule(Carried carried = Carried::all) const { return *route(carried).schedule; }
    const Buffer& to_send() const { return send_; }
    const Buffer& received() const { return receive_; }

    // Makes room for messages of `fields` fields.
    void reserve(std::size_t fields);
    // The precision of values in messages from now on; at first, and at most, that of the operations.
    void send_in(Precision precision);
    // Sends what has been packed of `fields` fields; the buffers have room for them.
    void start(std::size_t fields, Carried carried = Carried::all);
    // Forwards until the last messages to other nodes are sent.
    void send_off_node() { forward_through(route(carried_).last_off_node); }
    // Forwards what is to be forwarded, and waits until everything has come.
    void finish();

  private:
    struct Route {
        std::unique_ptr<const RankSchedule> schedule;  // the messages point to it
        std::unique_ptr<Transport> messages;
        std::vector<Items<BlockCopy>> forwarded;  // at each stage
        std::size_t last_off_node = 0;            // stage that sends to another node
    };

    const Route& route(Carried carried) const { return routes_[static_cast<std::size_t>(carried)]; }
    Route route_of(const Plan& plan, int rank, const TransportOptions& transport);
    void forward_through(std::size_t last);
    void forward(std::size_t stage);

    Operations& operations_;
    Plan plan_;
    Wire wire_;
    std::vector<Route> routes_;  // in the order of Carried
    Buffer send_, receive_;
    std::size_t room_ = 0;
    std::optional<Precision> precision_;
    // The exchange in flight.
    std::size_t fields_ = 0;
    Carried carried_ = Carried::all;
    std::size_t sent_ = 0;  // stages
};

}  // namespace keel
