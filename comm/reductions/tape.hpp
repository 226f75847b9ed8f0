#pragma once

// The totals of a solve's reductions, which decide alone how it goes on: where iterations end, which
// columns are dropped, what is restarted. A solve on a virtual rank that gets them does what the recorded one
// did, without values of its own.

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "comm/reductions/reduction.hpp"

namespace keel {

// Totals in the order in which a rank got them.
class Tape {
  public:
    enum class Mode { record, replay };

    // From the first total on; recording begins anew.
    void begin(Mode mode);
    // Appends these totals or, replaying, replaces them by the next ones.
    void pass(std::span<double> totals);
    // Begins a part, such as a visit to the bottom: replaying, that of the same number or, behind the last
    // one, the parts but for the first once more, which may have estimated what all others use.
    void begin_part();
    bool at_end() const { return next_ == totals_.size(); }

  private:
    Mode mode_ = Mode::record;
    std::vector<double> totals_;
    std::vector<std::size_t> parts_;  // their first totals
    std::size_t next_ = 0;
    std::size_t next_part_ = 0;
};

// `inner`, all of whose totals pass the tape, which must outlive the result.
std::unique_ptr<Reduction> taped(std::unique_ptr<Reduction> inner, Tape& tape);

}  // namespace keel
