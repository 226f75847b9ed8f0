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

class Carrier {
  public:
    // `operations` make the buffers and forward from one to the other; they must outlive the carrier.
    Carrier(Operations& operations, Plan plan, int rank, Wire wire, const Transport& transport);

    const Plan& plan() const { return plan_; }
    const Itinerary& itinerary() const { return *itinerary_; }
    const Buffer& to_send() const { return send_; }
    const Buffer& received() const { return receive_; }

    // Makes room for messages of so many fields.
    void reserve(std::size_t fields);
    // Sends what has been packed of so many fields; there is room for them.
    void start(std::size_t fields);
    // Passes on what is to be passed on, and waits until everything has come.
    void finish();

  private:
    void forward(std::size_t departure);

    Operations& operations_;
    Plan plan_;
    std::unique_ptr<const Itinerary> itinerary_;  // which the messages point to
    Wire wire_;
    std::unique_ptr<PointToPoint> messages_;
    std::vector<Items<Parcel>> forwarded_;  // at each departure
    Buffer send_, receive_;
    std::size_t room_ = 0;
    std::size_t fields_ = 0;  // under way
};

}  // namespace keel
