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
    // Both must outlive this object.
    AmgSchemeChoice(const Resolved& resolved, const Backend& backend)
        : resolved_(resolved), backend_(backend) {}

    // For a hierarchy on the ranks of `comm`, which the topology is of: the fastest by the model, or in a
    // trial of these very items; `fixed` if the deck chooses, or no one does, by the fastest transport if
    // these are tried. Refers to this object and to all but `fixed`. Collective.
    SchemeFor scheme_for(const Communicator& comm, const Topology& topology, const SchemeOptions& fixed);
    // The check of the trials of all hierarchies: no scheme brought other values than the standard one. None
    // where none were tried.
    std::vector<Check> checks() const;

  private:
    struct Ranks {
        SetupContext context;  // the hierarchy's
        Communicator node;     // the ranks of this rank's node
    };
    SchemeOptions choose(Ranks& ranks, const Communication& how, std::span<const Item> needed);

    const Resolved& resolved_;
    const Backend& backend_;
    std::vector<Check> tried_;
};

}  // namespace keel
