#pragma once

// The schemes of algebraic multigrid's messages, level by level: values, rows, and transfers between levels.

#include <optional>

#include "miniapp/report/findings.hpp"
#include "miniapp/schemes/scheme_table.hpp"
#include "miniapp/setup/resolved.hpp"
#include "solvers/amg/options.hpp"
#include "solvers/amg/setup/ghost_values.hpp"

namespace keel {

// Who chooses, and the deck's scheme, where algebraic multigrid exchanges entries for this.
Communication communication_for(VectorEntries::Use use, const Communication& all, const AmgOptions& options);

class AmgSchemeChoice {
  public:
    // `fixed`: the scheme if the deck chooses, or no one does. All must outlive this object.
    // `topology`: of the ranks of `comm`.
    AmgSchemeChoice(const Resolved& resolved, const Communicator& comm, const Topology& topology,
                    const Backend& backend, const SchemeOptions& fixed)
        : resolved_(resolved), comm_(comm), topology_(topology), backend_(backend), fixed_(fixed) {}

    // The fastest by the model, or in a trial of these very items. Refers to this object.
    SchemeFor scheme_for();
    // The check of the trials: no scheme brought other values than the standard one.
    std::vector<Check> checks() const;

  private:
    SchemeOptions choose(std::span<const Item> needed);

    const Resolved& resolved_;
    const Communicator& comm_;
    const Topology& topology_;
    const Backend& backend_;
    SchemeOptions fixed_;
    // Made when they are first asked for, which is collective.
    std::optional<SetupContext> context_;
    std::optional<Communicator> node_;  // the ranks of this one's
    std::vector<Check> tried_;
};

}  // namespace keel
