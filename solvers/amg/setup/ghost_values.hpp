#pragma once

// What set-up asks of other ranks: values and whole rows of the ghosts of a matrix.

#include <memory>
#include <vector>

#include "comm/carry/homeward.hpp"
#include "comm/carry/item_exchange.hpp"
#include "comm/plans/schemes.hpp"
#include "kernels/backends/registry.hpp"
#include "solvers/amg/setup/part_rows.hpp"

namespace keel {

// Who sets up together, and by which schemes messages travel: those of values, and those of rows.
struct Team {
    const Communicator& comm;
    const Topology& topology;
    const Backend& backend;
    SchemeOptions values = {};
    SchemeOptions rows = {};

    // Makes an exchange by this rank's part of a plan; `buffers` must outlive it.
    ItemExchange exchange(Operations& buffers, Plan plan) const;
    // Operations that make message buffers and nothing else.
    std::unique_ptr<Operations> buffers() const;
};

class GhostValues {
  public:
    // Negotiates; collective, as all other functions. The team must outlive this object.
    GhostValues(const Team& team, const PartRows& A);

    // The values at own rows, and those of the ghosts behind them.
    std::vector<double> complete(std::vector<double> own);
    // The ghosts' rows of a matrix of which this rank has the rows `own`. Empty ones do not travel; their lengths do.
    GlobalRows rows(const GlobalRows& own);

    // Sent so far, but for what negotiating takes.
    const Traffic& sent_values() const { return sent_values_; }
    const Traffic& sent_rows() const { return sent_rows_; }

  private:
    const Team& team_;
    std::int64_t first_;
    std::vector<Item> ghosts_;
    std::unique_ptr<Operations> buffers_;
    ItemExchange values_;
    Traffic sent_values_, sent_rows_;
};

// Entries by ascending columns.
struct PartialRow {
    std::vector<std::int64_t> columns;
    std::vector<double> values;
};
// The sum of both.
PartialRow merged(const PartialRow& a, const PartialRow& b);

// Sends partial rows home, merging them on the way: `slots` are those of the way (Homeward), of which those of relays and
// homes are filled in. Adds what this rank sent to the traffic, lengths apart. Collective.
void send_home(const Team& team, const Homeward& way, std::vector<PartialRow>& slots, Traffic& sent);

}  // namespace keel
