#pragma once

// The levels of a multigrid hierarchy: each with its operator, its fields and its communication.

#include <memory>
#include <vector>

#include "comm/communicator.hpp"
#include "comm/exchange.hpp"
#include "comm/reduction.hpp"
#include "comm/schemes.hpp"
#include "comm/topology.hpp"
#include "kernels/backends/registry.hpp"
#include "kernels/layout.hpp"
#include "kernels/ledger.hpp"
#include "kernels/neighbours.hpp"
#include "kernels/timed_operations.hpp"

namespace keel {

// The finest operator by formulas of global indices: a alpha at cells, and for each direction the face coefficient
// c (kernels/stencil.hpp) of the face between cells index-1 and index: the same at both ends of a periodic direction, which
// are one face.
struct OperatorFormulas {
    Formula a_alpha;
    std::array<Formula, 3> face;
    bool singular = false;  // constants are in the null space: a = 0 and no Dirichlet face
};

// How the ghosts of one level travel: those of Level's exchanges of the same names.
struct LevelSchemes {
    SchemeOptions ghosts;
    SchemeOptions all_ghosts;
    SchemeOptions deep_ghosts;
};

struct HierarchyOptions {
    int bottom_box = 4;
    int ghost_depth = 1;
    Neighbours neighbours = Neighbours::faces;
    bool all_ghosts =
        false;  // levels below the finest can fill all 26 neighbours' ghosts (linear interpolation)
    int bottom_ghosts = 0;  // layers from all 26 neighbours that the bottom level has besides (matrix powers)
    bool persistent = false;
    SchemeOptions scheme = {};               // of all levels
    std::vector<LevelSchemes> schemes = {};  // by level, in place of it; may be empty
    LevelSchemes schemes_of(int level) const;
    ExchangeOptions exchange{};
    bool deterministic = false;
    AllReduceOptions all_reduce = {};
};

struct Level {
    // Grid-sized arrays a level keeps: u, f, r, three face coefficients, the diagonal and its inverse.
    static constexpr int fields = 8;

    Level(const Layout& boxes, std::unique_ptr<Operations> made, Ledger& ledger, int number)
        : layout(boxes),
          plain(std::move(made)),
          operations(*plain, ledger, number, Caller::multigrid),
          bottom_operations(*plain, ledger, number, Caller::bottom) {}

    Layout layout;
    std::unique_ptr<Operations> plain;
    TimedOperations operations;         // as the cycle calls them
    TimedOperations bottom_operations;  // as the bottom solver calls them
    Stencil L;
    Field u, f, r;
    std::unique_ptr<Exchange> ghosts;       // what the operator needs
    std::unique_ptr<Exchange> all_ghosts;   // what linear interpolation needs; may be absent
    std::unique_ptr<Exchange> deep_ghosts;  // what several powers of the operator need; may be absent
    int deep_layers = 0;                    // of those
    Items<BoundaryItem> outside;            // ghosts beyond physical boundaries
    std::unique_ptr<Reduction> reduction;
    double gershgorin_bound = 0;  // of the spectrum of L
    double jacobi_bound = 2.0;    // of that of D^-1 L
};

// The widths of the boxes of all levels: halving `box` until `bottom_box`.
std::vector<int> level_widths(int box, int bottom_box);

class Hierarchy {
  public:
    // Builds all levels from the finest layout and operator. Collective. The ledger has one column per level and, like
    // the backend, must outlive the hierarchy.
    Hierarchy(const Communicator& comm, const Topology& topology, const Backend& backend,
              const Layout& finest, const OperatorFormulas& formulas, const HierarchyOptions& options,
              Ledger& ledger);

    int levels() const { return static_cast<int>(levels_.size()); }
    Level& level(int l) { return *levels_[static_cast<std::size_t>(l)]; }
    const Level& level(int l) const { return *levels_[static_cast<std::size_t>(l)]; }
    Level& bottom() { return *levels_.back(); }
    bool singular() const { return singular_; }

  private:
    void build_operators(const OperatorFormulas& formulas, const Communicator& comm);

    bool singular_;
    std::vector<std::unique_ptr<Level>> levels_;
};

// u -= mean(u). Collective, one all-reduce.
void remove_mean(Operations& operations, Reduction& reduction, Field u);

}  // namespace keel
