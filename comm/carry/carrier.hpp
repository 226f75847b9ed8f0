#pragma once

// Carries one rank's packed values by a plan: the buffers, the messages, and what is passed on between them.
// What is packed from where and unpacked to where is the caller's.

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "comm/carry/point_to_point.hpp"
#include "comm/plans/itinerary.hpp"
#include "comm/plans/plan.hpp"
#include "kernels/operations.hpp"

namespace keel {

// Makes the messages of a rank's part of a plan, plain or wrapped, e.g. to time them.
using Transport = std::function<std::unique_ptr<PointToPoint>(const Itinerary&)>;

// What of a plan's cells: all or, by the same messages (of_one_colour), those of one colour.
enum class Carried { all, one_colour };

class Carrier {
  public:
    // `operations` make the buffers and forward from one to the other; they must outlive the carrier. If also of one colour,
    // these cells travel in the same buffers.
    Carrier(Operations& operations, Plan plan, int rank, Wire wire, const Transport& transport,
            bool of_one_colour = false);

    const Plan& plan() const { return plan_; }
    bool carries(Carried carried) const { return static_cast<std::size_t>(carried) < routes_.size(); }
    const Itinerary& itinerary(Carried carried = Carried::all) const { return *route(carried).itinerary; }
    const Buffer& to_send() const { return send_; }
    const Buffer& received() const { return receive_; }

    // Makes room for messages of so many fields.
    void reserve(std::size_t fields);
    // Sends what has been packed of so many fields; there is room for them.
    void start(std::size_t fields, Carried carried = Carried::all);
    // Passes on what is to be passed on, and waits until everything has come.
    void finish();

  private:
    struct Route {
        std::unique_ptr<const Itinerary> itinerary;  // which the messages point to
        std::unique_ptr<PointToPoint> messages;
        std::vector<Items<Parcel>> forwarded;  // at each departure
    };

    const Route& route(Carried carried) const { return routes_[static_cast<std::size_t>(carried)]; }
    Route route_of(const Plan& plan, int rank, const Transport& transport);
    void forward(std::size_t departure);

    Operations& operations_;
    Plan plan_;
    Wire wire_;
    std::vector<Route> routes_;  // in the order of Carried
    Buffer send_, receive_;
    std::size_t room_ = 0;
    // Under way.
    std::size_t fields_ = 0;
    Carried carried_ = Carried::all;
};

}  // namespace keel
