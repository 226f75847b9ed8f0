#pragma once

// Exchanges items of any length, from and to host memory, by any plan: rows of a matrix, values and columns
// in one message.

#include <functional>
#include <span>

#include "comm/carry/exchanger.hpp"

namespace keel {

class ItemExchange {
  public:
    // `plan` is the part of this rank; both ends of a message know the lengths of its items. The operations
    // make the buffers and must outlive this object.
    ItemExchange(Operations& operations, Plan plan, int rank, const TransportOptions& transport);

    // Writes the values of one of this rank's items; called once for each message with the item.
    using Give = std::function<void(const Item& item, std::span<double> values)>;
    // Receives the values of every item that arrives, also of those that are only forwarded.
    using Take = std::function<void(const Item& item, std::span<const double> values)>;
    // Collective over the ranks of the plan.
    void run(const Give& give, const Take& take);

    const Plan& plan() const { return exchanger_.plan(); }

  private:
    int rank_;
    Exchanger exchanger_;
};

}  // namespace keel
