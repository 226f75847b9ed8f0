#pragma once

// What set-up asks of other ranks: values and whole rows of the ghosts of a matrix.

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "comm/carry/item_exchange.hpp"
#include "comm/carry/reverse_exchange.hpp"
#include "comm/plans/negotiation.hpp"
#include "comm/plans/schemes.hpp"
#include "kernels/backends/registry.hpp"
#include "solvers/amg/setup/part_rows.hpp"

namespace keel {

// What is fetched from other ranks: values at ghosts of A, in products and in set-up; rows of such ghosts, in set-up; and what
// P and its transpose exchange, there and back, by one plan. Where AmgOptions has a scheme for rows, those are not asked for, and
// partial rows go home by a plan of their own.
enum class AmgMessages { values, rows, transfers };
constexpr auto names_of(AmgMessages) {
    using Name = Named<AmgMessages>;
    return std::array{Name{AmgMessages::values, "values"}, Name{AmgMessages::rows, "rows"},
                      Name{AmgMessages::transfers, "transfers"}};
}

// The scheme for what this rank needs of others. Collective.
using SchemeFor = std::function<SchemeOptions(AmgMessages what, std::span<const Item> needed)>;
// This one, for the one vector at a time that levels exchange.
inline SchemeFor always(SchemeOptions scheme) {
    scheme.columns = 1;
    return [scheme](AmgMessages, std::span<const Item>) { return scheme; };
}

// Who sets up together, and by which schemes messages travel. Making one is collective.
struct Team {
    const Communicator& comm;
    const Topology& topology;
    const Backend& backend;
    SchemeFor scheme_for = always({});
    // By whom all levels' plans are agreed on.
    std::shared_ptr<Negotiator> negotiator = std::make_shared<Negotiator>(comm, topology);

    Plan plan(std::span<const Item> needed, const SchemeOptions& scheme) const {
        return negotiator->plan(needed, scheme);
    }

    // Makes an exchange by this rank's part of a plan; `buffers` must outlive it.
    ItemExchange exchange(Operations& buffers, Plan plan) const;
    // Operations that make message buffers and nothing else.
    std::unique_ptr<Operations> buffers() const;
};

class GhostValues {
  public:
    // Values travel by this scheme, rows by that one, or without it by what the team says of them. Negotiates; collective, as
    // all other functions. The team must outlive this object.
    GhostValues(const Team& team, const PartRows& A, const SchemeOptions& values,
                const std::optional<SchemeOptions>& rows = {});

    // The values at own rows, and those of the ghosts behind them.
    std::vector<double> complete(std::vector<double> own);
    // The ghosts' rows of a matrix of which this rank has the rows `own`. Empty ones do not travel; their lengths do.
    GlobalRows rows(const GlobalRows& own);

    // Sent so far, but for what negotiating takes.
    const Traffic& sent_values() const { return sent_values_; }
    const Traffic& sent_rows() const { return sent_rows_; }
    // Exchanges so far: of values, lengths of rows among them, and of rows. Equal on all ranks.
    long value_exchanges() const { return value_exchanges_; }
    long row_exchanges() const { return row_exchanges_; }
    const SchemeOptions& rows_by() const { return rows_by_; }  // the last ones

  private:
    const Team& team_;
    std::int64_t first_;
    std::vector<Item> ghosts_;
    std::unique_ptr<Operations> buffers_;
    ItemExchange values_;
    std::optional<SchemeOptions> all_rows_by_;
    SchemeOptions rows_by_;
    Traffic sent_values_, sent_rows_;
    long value_exchanges_ = 0;
    long row_exchanges_ = 0;
};

// Entries by ascending columns.
struct PartialRow {
    std::vector<std::int64_t> columns;
    std::vector<double> values;
};
// The sum of both.
PartialRow merged(const PartialRow& a, const PartialRow& b);

// Sends partial rows back to their owners, merging them on the way. `slots` are those of `way`; the ones of
// relays and homes are filled in. Adds what this rank sent to the traffic, lengths apart. Collective.
void reverse_exchange_rows(const Team& team, const ReverseExchange& way, std::vector<PartialRow>& slots,
                           Traffic& sent);

}  // namespace keel
