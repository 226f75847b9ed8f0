#pragma once

// Carries a level's cells from the ranks that own its boxes to others that work on them, and back.

#include <memory>
#include <span>

#include "comm/carry/exchanger.hpp"
#include "comm/patterns/boxes.hpp"

namespace keel {

// Runs a plan of a BoxPattern. Boxes that stay on a rank are copied.
class Redistribution {
  public:
    // The operations at both ends; null on a rank that has no boxes there. The boxes of their layouts are
    // those of the pattern, or wider ones made of several of these; who owns them there does not matter.
    struct Ends {
        Operations* from = nullptr;
        Operations* to = nullptr;
    };
    // `cells` of every box travel, one for each value of the pattern; those beyond a box are left out
    // where another box of a larger one follows. `boxes` has the boxes of the pattern. `plan` is the part of
    // this rank. The operations must outlive this object.
    Redistribution(const Ends& ends, int rank, const BoxPattern& pattern, const Layout& boxes,
                   const Region& cells, Plan plan, const ExchangeOptions& options,
                   const TransportOptions& transport);

    // The cells of the fields `to` become those of the fields `from`; neither is read on a rank that has no
    // boxes there. Collective over the ranks of the plan.
    void run(std::span<const Field> from, std::span<const Field> to);

    void reserve(std::size_t fields);
    long count() const { return count_; }  // runs so far
    const Plan& plan() const { return exchanger_->plan(); }

  private:
    Ends ends_;
    std::unique_ptr<Exchanger> exchanger_;
    Items<BlockCopy> packed_, unpacked_;
    Items<BlockCopy> left_, entered_;  // boxes that stay, in `kept_`
    Buffer kept_;
    std::size_t kept_values_ = 0;
    std::size_t room_ = 0;
    long count_ = 0;
};

}  // namespace keel
