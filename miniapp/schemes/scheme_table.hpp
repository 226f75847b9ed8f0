#pragma once

// All communication schemes side by side for what a run exchanges, level by level: predicted, and measured if
// they were.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "comm/costs/comparison.hpp"
#include "comm/costs/representatives.hpp"
#include "miniapp/report/timers.hpp"
#include "miniapp/setup/grid_setup.hpp"
#include "miniapp/setup/machine/memory.hpp"
#include "solvers/multigrid/hierarchy.hpp"

namespace keel {

// Ghost cells of a level: what needs them, how many layers, from which neighbours.
struct GhostCells {
    enum class Purpose { stencil, smoothing, interpolation, powers };
    Purpose purpose = Purpose::stencil;
    int depth = 1;
    Neighbours neighbours = Neighbours::faces;
};
constexpr auto names_of(GhostCells::Purpose) {
    return std::array{"stencil", "smoothing", "interpolation", "powers"};
}

// All cells of a level in its redistribution, to its ranks after it or back; `layout` has the boxes before.
struct MovedBoxes {
    Way way = Way::there;
    Agglomeration agglomeration;
};

// Entries of a sparse matrix' vectors: in products, or in solves where these exchange another number of
// vectors at a time. On levels of algebraic multigrid values of ghosts, rows of P of one entry before they
// are smoothed, rows of P for A P, values for P e, and by its plan backwards parts of P^T r and of rows of
// P^T (A P), before which their lengths travel.
struct VectorEntries {
    enum class Use {
        product,
        solve,
        amg_values,
        amg_first_rows,
        amg_rows,
        amg_transfers,
        amg_returns,
        amg_lengths,
        amg_partial_rows
    };
    Use use = Use::product;
};
constexpr auto names_of(VectorEntries::Use) {
    return std::array{"product",       "solve",       "amg_values",  "amg_first_rows",  "amg_rows",
                      "amg_transfers", "amg_returns", "amg_lengths", "amg_partial_rows"};
}

// The purpose of exchanged ghosts or entries of vectors, or the way that boxes travel.
using ExchangeUse = std::variant<GhostCells::Purpose, VectorEntries::Use, Way>;

// One exchange of a level. A matrix has one level; its layout is that of the calling rank's vectors.
struct SchemeUse {
    int level = 0;
    Layout layout;
    std::variant<GhostCells, MovedBoxes, VectorEntries> what;
    std::size_t columns = 1;  // fields or vectors that travel together at most
    std::size_t value_bytes = sizeof(double);
    // The ranks that take part, by their numbers in the run; empty: all. The layout numbers them anew.
    std::vector<int> ranks = {};

    Topology among(const Topology& all) const { return ranks.empty() ? all : all.among(ranks); }
    const GhostCells* ghosts() const { return std::get_if<GhostCells>(&what); }
    const MovedBoxes* moves() const { return std::get_if<MovedBoxes>(&what); }
    const VectorEntries* entries() const { return std::get_if<VectorEntries>(&what); }
    bool is(GhostCells::Purpose purpose) const { return ghosts() && ghosts()->purpose == purpose; }
};
// "stencil", "to_bottom", "to_merged", "product": as records have it.
std::string purpose_of(const SchemeUse& use);

// The exchanges of a mode's grids, in the order of levels.
std::vector<SchemeUse> scheme_uses(const GridSetup& grids, const Layout& finest);
// The pattern of moved boxes.
BoxPattern boxes_moved(const SchemeUse& use);
// Some ranks' part of a grid's plan, or the plan of all ranks of the topology; all as the use's layout
// numbers them.
Plan plan_of(const SchemeUse& use, const Topology& topology, const SchemeOptions& scheme,
             const RanksPlanned& whose);

// The plans of the parts that represent all nodes.
std::vector<Plan> plans_of(const SchemeUse& use, const Representatives& nodes, const SchemeOptions& scheme);

// The schemes side by side for one use.
// The messages of one exchange from a rank to another, and their bytes.
struct SentToRank {
    int source = 0, target = 0;
    double messages = 0, bytes = 0;
};

struct SchemeTable {
    SchemeUse use;
    std::vector<SchemeRow> rows;
    // By row the seconds of an exchange in each round, of the slowest rank; empty if none was tried.
    std::vector<std::vector<double>> rounds = {};
    std::optional<std::size_t> chosen = {};           // number of a row
    std::vector<std::string> left_out = {};           // schemes that there is no room to plan
    int planned_nodes = 0;                            // that stand for all; 0: all were planned
    std::vector<std::vector<SentToRank>> pairs = {};  // by row, by source and target; empty unless asked for

    std::optional<double> least(std::size_t row) const;  // seconds of a round
};

// From plans for all ranks of the topology, or for nodes that stand for them, made by the calling rank alone:
// of every scheme that can be planned within the limit, or of the only one that the deck uses. Pure.
struct Planned {
    bool side_by_side = true;
    DryRunLimit limit = {};
};
std::vector<SchemeTable> plan_all_schemes(const GridSetup& grids, const Layout& finest,
                                          const Communication& comm, const Setup& setup,
                                          const Planned& planned);
// Why not even those can be planned that are used, or that all are compared with, or all within the limit;
// empty if they can.
std::string exceeds_planning(const GridSetup& grids, const Layout& finest, const Communication& comm,
                             const Topology& topology, const Planned& planned);

// Why MPI takes a message of those schemes that a run uses or tries for too long; empty if none is.
std::string too_long_for_mpi(const std::vector<SchemeTable>& tables);

// The row that is chosen before a run: the deck's scheme, or the model's; nothing if trials choose. With a
// model the rows need times.
std::optional<std::size_t> chosen_before_run(const Communication& comm, std::span<const SchemeRow> rows);

// The chosen schemes as a hierarchy wants them; empty if none was chosen.
std::vector<LevelSchemes> schemes_by_level(const std::vector<SchemeTable>& tables);

// Whether schemes or transports differ or are to be compared: several nodes, comm.machine, or a chooser other
// than the deck.
bool schemes_matter(const Resolved& resolved);

// --- As text and records

// Lines of columns; one names the chooser of a run.
std::string scheme_tables_text(const std::vector<SchemeTable>& tables,
                               SchemeChooser chooser = SchemeChooser::nobody);
// The report's text on schemes; empty if none were compared.
std::string schemes_text(SchemeChooser chooser, const std::vector<SchemeTable>& tables,
                         double tuning_seconds);
// "comm.scheme = "auto" is predicted to save 17% of the time", if it is more than a tenth; else empty. Timers
// do not separate the exchanges of a level: the one that gains least stands for all.
std::string scheme_remedy(const std::vector<SchemeTable>& tables, const std::vector<TimerRow>& timers);
// One JSON record a row, "record": "scheme".
std::string scheme_records(SchemeChooser chooser, const std::vector<SchemeTable>& tables);

}  // namespace keel
