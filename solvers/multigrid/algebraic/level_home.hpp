#pragma once

// The ranks that solve on the bottom level, for a solver that sets up levels of its own there.

#include "solvers/multigrid/level.hpp"
#include "solvers/systems/sparse/sparse_matrix.hpp"

namespace keel {

struct LevelHome {
    Communicator comm;
    Topology topology;  // these ranks'
    const Backend& backend;
    Ledger& ledger;
    SparseOptions sparse;  // as ghosts of the level travel, but for axes, which a matrix does not have
    AlgebraicSchemes schemes;

    SchemeFor scheme_for() const {
        return schemes ? schemes(comm, topology, sparse.scheme) : always(sparse.scheme);
    }
};

inline std::shared_ptr<const LevelHome> home_at(const LevelSite& site, const HierarchyOptions& options) {
    return std::make_shared<const LevelHome>(
        LevelHome{site.comm, site.topology, site.backend, site.ledger,
                  SparseOptions{.scheme = without_axes(options.schemes_of(site.number).ghosts),
                                .exchange = options.exchange,
                                .all_reduce = options.all_reduce,
                                .level = site.number},
                  options.algebraic_schemes});
}

}  // namespace keel
