#pragma once

// The exchanges of set-up: values and whole rows at the ghosts of a matrix.

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

// The kinds of messages: values at ghosts of A, in products and in set-up; rows at ghosts of A, in set-up;
// values at ghosts of P, which P e and P^T r exchange by one plan, and partial rows, which travel home by the
// same plan unless AmgOptions names a scheme for rows, whose scheme is then not chosen; and norms of
// aggregates, which no plan carries.
enum class AmgMessages { products, values, rows, partial_rows, transfers, norms };
// Called for each exchange of set-up and for each plan that ranks agree on.
enum class AmgStep { plan, exchange };
using AmgStepWatch = std::function<void(AmgStep step, AmgMessages what)>;

// The scheme for what this rank needs of others. Collective.
using SchemeFor = std::function<SchemeOptions(AmgMessages what, std::span<const Item> needed)>;
// This one, for the one vector at a time that levels exchange.
inline SchemeFor always(SchemeOptions scheme) {
    scheme.columns = 1;
    return [scheme](AmgMessages, std::span<const Item>) { return scheme; };
}

// The ranks and the backend of a set-up, and the schemes of its messages. Making one is collective.
struct SetupContext {
    const Communicator& comm;
    const Topology& topology;
    const Backend& backend;
    SchemeFor scheme_for = always({});
    // The negotiator of all levels' plans.
    std::shared_ptr<Negotiator> negotiator = std::make_shared<Negotiator>(comm, topology);
    AmgStepWatch watch = {};
    // The rows of virtual ranks on the level that is coarsened, which this rank alone has all of; null: those
    // of the ranks.
    const RowPartition* shares = nullptr;

    Plan plan(AmgMessages what, std::span<const Item> needed, const SchemeOptions& scheme) const {
        tell(AmgStep::plan, what);
        return negotiator->plan(needed, scheme);
    }
    void tell(AmgStep step, AmgMessages what) const {
        if (watch) watch(step, what);
    }

    // Makes an exchange by this rank's part of a plan; `buffers` must outlive it. Messages go by isend, since
    // most of these exchanges run once.
    ItemExchange exchange(Operations& buffers, Plan plan) const;
    // Operations that make message buffers and nothing else.
    std::unique_ptr<Operations> buffers() const;
};

class GhostValues {
  public:
    // Values travel by the scheme `values`, rows by the scheme `rows` or, without one, as the context
    // chooses. Negotiates; collective, as all other functions. The context must outlive this object.
    GhostValues(const SetupContext& context, const PartRows& A, const SchemeOptions& values,
                const std::optional<SchemeOptions>& rows = {});

    // The values at own rows, followed by those at the ghosts.
    std::vector<double> complete(std::vector<double> own);
    // The ghosts' rows of a matrix of which this rank has the rows `own`. Empty ones do not travel; their
    // lengths do.
    GlobalRows rows(const GlobalRows& own);

    // Sent so far, but for what negotiating takes.
    const Traffic& sent_values() const { return sent_values_; }
    const Traffic& sent_rows() const { return sent_rows_; }
    const SchemeOptions& rows_by() const { return rows_by_; }  // the last ones

  private:
    const SetupContext& context_;
    std::int64_t first_;
    std::vector<Item> ghosts_;
    std::unique_ptr<Operations> buffers_;
    ItemExchange values_;
    std::optional<SchemeOptions> all_rows_by_;
    SchemeOptions rows_by_;
    Traffic sent_values_, sent_rows_;
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
void reverse_exchange_rows(const SetupContext& context, const ReverseExchange& way,
                           std::vector<PartialRow>& slots, Traffic& sent);

}  // namespace keel
