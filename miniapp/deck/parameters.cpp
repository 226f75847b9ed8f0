#include "miniapp/deck/parameters.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <stdexcept>
#include <utility>

#include "comm/patterns/row_partition.hpp"

namespace keel {

namespace {

struct Range {
    std::int64_t lowest;
    std::int64_t highest;
};

constexpr Range between(std::int64_t lowest, std::int64_t highest) {
    return {lowest, highest};
}

// Up to what the member can hold.
constexpr Range at_least(std::int64_t lowest) {
    return {lowest, std::numeric_limits<std::int64_t>::max()};
}

constexpr Interval above(double lowest) {
    return {.lowest = lowest};
}
constexpr Interval from(double lowest) {
    return {.lowest = lowest, .lowest_open = false};
}
constexpr Interval inside(double lowest, double highest) {
    return {.lowest = lowest, .highest = highest};
}

std::size_t position_of(const std::vector<std::string>& names, const std::string& name) {
    return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
}

// The members of one section of Parameters, as keys. Each function takes the key's name, the member, what is
// allowed, the help and, where the value has one, the unit. Names of choices are in the order of the enum.
template <class Options>
class Section {
  public:
    Section(std::vector<Key>& keys, std::string name, Options Parameters::*options)
        : keys_(keys), name_(std::move(name)), options_(options) {}

    template <std::integral T>
    void integer(std::string key, T Options::*member, Range range, std::string help, std::string unit = "") {
        const auto limit = static_cast<std::int64_t>(
            std::min<std::uint64_t>(std::numeric_limits<T>::max(), std::numeric_limits<std::int64_t>::max()));
        add(std::move(key),
            IntegerKey{as<std::int64_t>(member), range.lowest, std::min(range.highest, limit)},
            std::move(help), std::move(unit));
    }

    void real(std::string key, double Options::*member, Interval allowed, std::string help) {
        add(std::move(key), RealKey{as<double>(member), allowed}, std::move(help));
    }

    void flag(std::string key, bool Options::*member, std::string help) {
        add(std::move(key), FlagKey{as<bool>(member)}, std::move(help));
    }

    void text(std::string key, std::string Options::*member, std::string help, std::string unit) {
        add(std::move(key), TextKey{as<std::string>(member)}, std::move(help), std::move(unit));
    }

    void list(std::string key, std::vector<std::string> Options::*member, std::string help) {
        add(std::move(key), ListKey{as<std::vector<std::string>>(member)}, std::move(help));
    }

    void triple(std::string key, Index Options::*member, int lowest, std::string help, std::string unit) {
        add(std::move(key), TripleKey{as<Index>(member), lowest}, std::move(help), std::move(unit));
    }

    void choice(std::string key, std::string Options::*member, std::vector<std::string> names,
                std::string help) {
        add(std::move(key), ChoiceKey{as<std::string>(member), std::move(names)}, std::move(help));
    }

    template <class Enum>
    requires std::is_enum_v<Enum>
    void choice(std::string key, Enum Options::*member, std::vector<std::string> names, std::string help) {
        const auto options = options_;
        Access<std::string> value{
            [=](const Parameters& p) { return names[static_cast<std::size_t>(p.*options.*member)]; },
            [=](Parameters& p, const std::string& name) {
                p.*options.*member = static_cast<Enum>(position_of(names, name));
            }};
        add(std::move(key), ChoiceKey{std::move(value), names}, std::move(help));
    }

    void boundaries(std::string key, Boundaries Options::*member, std::vector<std::string> names,
                    std::string help) {
        const auto options = options_;
        using Words = std::array<std::string, 3>;
        Access<Words> value{
            [=](const Parameters& p) {
                Words words;
                std::ranges::transform(p.*options.*member, words.begin(), [&](Boundary boundary) {
                    return names[static_cast<std::size_t>(boundary)];
                });
                return words;
            },
            [=](Parameters& p, const Words& words) {
                std::ranges::transform(words, (p.*options.*member).begin(), [&](const std::string& word) {
                    return static_cast<Boundary>(position_of(names, word));
                });
            }};
        add(std::move(key), BoundariesKey{std::move(value), names}, std::move(help));
    }

  private:
    template <class Value, class Member>
    Access<Value> as(Member Options::*member) const {
        const auto options = options_;
        return {[=](const Parameters& p) { return static_cast<Value>(p.*options.*member); },
                [=](Parameters& p, const Value& value) { p.*options.*member = static_cast<Member>(value); }};
    }

    void add(std::string key, decltype(Key::kind) kind, std::string help, std::string unit = "") {
        keys_.push_back({name_, std::move(key), std::move(unit), std::move(help), std::move(kind)});
    }

    std::vector<Key>& keys_;
    std::string name_;
    Options Parameters::*options_;
};

void add_problem(std::vector<Key>& keys) {
    using Problem = Parameters::Problem;
    Section s(keys, "problem", &Parameters::problem);
    s.integer("box", &Problem::box, between(1, 1024), "cells per box edge", "cells");
    s.integer("boxes_per_rank", &Problem::boxes_per_rank, at_least(1),
              "for each rank, if problem.boxes is not given", "boxes");
    s.integer("ranks", &Problem::ranks, between(0, 65536),
              "that --dry-run and --print-plan imagine; 0 = those that were started", "ranks");
    s.triple("boxes", &Problem::boxes, 0,
             "of the domain per direction; [0,0,0] = as cubic as possible from ranks x boxes_per_rank",
             "boxes");
    s.real("a", &Problem::a, from(0),
           "a of a alpha u - b div(beta grad u) = f; 0 makes it Poisson's equation");
    s.real("b", &Problem::b, above(0), "b of the same");
    s.choice("coefficients", &Problem::coefficients, {"constant", "smooth", "ball"},
             "beta: 1, K^(0.5 sin sin sin), or K inside a ball of radius 1/4 and 1 outside");
    s.real("contrast", &Problem::contrast, above(0), "K of smooth and ball");
    s.choice("alpha", &Problem::alpha, {"constant", "wave"}, "alpha: 1, or 1 + cos cos cos / 2");
    s.choice("rhs", &Problem::rhs, {"triangle", "wave", "point", "manufactured", "random"},
             "f: triangle wave, sines of the cell number, 1 in the first cell, from a known u, or random");
    s.integer("seed", &Problem::seed, at_least(0), "of rhs = random, matrix = random and ordering = random");
    s.choice("placement", &Problem::placement, {"curve", "lexicographic", "round_robin", "scattered"},
             "which rank owns which box; curve = space-filling");
    s.boundaries("boundary", &Problem::boundary, {"periodic", "dirichlet", "neumann"},
                 "one word for all directions, or an array of three");
    s.text(
        "matrix", &Problem::matrix,
        "of mode = spmv: stencil7, stencil27, banded, random or arrow, or a Matrix Market file that ends in "
        ".mtx",
        "path");
    s.integer("rows", &Problem::rows, between(1, most_rows), "of matrix = banded, random, arrow", "rows");
    s.integer("row_entries", &Problem::row_entries, between(1, 10000),
              "of matrix = banded: on each side of the diagonal; of random: beside it, at most");
    s.choice("ordering", &Problem::ordering, {"natural", "random", "rcm"},
             "of the matrix' rows: as given, shuffled, or reverse Cuthill-McKee");
    s.integer("columns", &Problem::columns, between(1, 1000),
              "vectors at a time that the matrix of mode = spmv is multiplied by, or that mode = exchange "
              "exchanges",
              "columns");
}

void add_multigrid(std::vector<Key>& keys) {
    using Multigrid = MultigridOptions;
    Section s(keys, "multigrid", &Parameters::multigrid);
    s.choice("cycle", &Multigrid::cycle, {"V", "F"}, "V-cycles, or full multigrid first (F)");
    s.integer("pre", &Multigrid::pre, between(0, 1000), "smoothing before the coarse correction", "sweeps");
    s.integer("post", &Multigrid::post, between(0, 1000), "smoothing after the coarse correction", "sweeps");
    s.choice("smoother", &Multigrid::smoother, {"gsrb", "jacobi", "chebyshev"},
             "red-black Gauss-Seidel, weighted Jacobi or Chebyshev");
    s.choice("interpolation", &Multigrid::interpolation, {"constant", "linear"},
             "of the correction: piecewise constant or trilinear");
    s.integer("bottom_box", &Multigrid::bottom_box, at_least(1),
              "stop coarsening at this box width; problem.box halved 0 or more times", "cells");
    s.choice(
        "bottom_grid", &Multigrid::bottom_grid, {"distributed", "agglomerate", "gather", "replicate"},
        "where the coarsest level is solved on: where its boxes are, on fewer ranks, on one, or on every "
        "rank all of it");
    s.integer("bottom_ranks", &Multigrid::bottom_ranks, at_least(0),
              "of bottom_grid = agglomerate; 0 = one rank in eight", "ranks");
    s.real("tolerance", &Multigrid::tolerance, inside(0, 1), "stop at max|f - L u| <= tolerance max|f|");
    s.integer("max_cycles", &Multigrid::max_cycles, at_least(1), "give up after so many", "cycles");
    s.real("jacobi_weight", &Multigrid::jacobi_weight, inside(0, 2), "weight of smoother = jacobi");
    s.real("chebyshev_ratio", &Multigrid::chebyshev_ratio, above(1),
           "smoother = chebyshev damps the eigenvalues of D^-1 L in [bound / ratio, bound]");
}

void add_bottom(std::vector<Key>& keys, const Names& names) {
    using Bottom = BottomOptions;
    Section s(keys, "bottom", &Parameters::bottom);
    s.choice("solver", &Bottom::solver, names.bottom_solvers, "on the coarsest level; smooth = relax only");
    s.real("tolerance", &Bottom::tolerance, inside(0, 1),
           "reduction of the 2-norm of the residual, per visit or, in run.mode = krylov, per solve");
    s.integer("max_iterations", &Bottom::max_iterations, at_least(1), "per visit or solve", "iterations");
    s.choice("scaling", &Bottom::scaling, {"jacobi", "none"},
             "of the bottom system by its diagonal: right for bicgstab, symmetric for cg");
    s.integer("max_restarts", &Bottom::max_restarts, at_least(0),
              "per visit, when the true residual has not followed the recursive one", "restarts");
    s.integer("sweeps", &Bottom::sweeps, at_least(1), "of solver = smooth", "sweeps");
    s.integer("depth", &Bottom::depth, between(1, 1000), "of deep_pipelined_cg: on their way at a time",
              "all-reduces");
    s.integer("replace_every", &Bottom::replace_every, at_least(0),
              "of pipelined_bicgstab: recursive residuals by true ones; 0 = never", "iterations");
    s.integer("s", &Bottom::s, at_least(1), "of the s-step methods ca_bicgstab and ca_cg: per all-reduce",
              "iterations");
    s.choice("basis", &Bottom::basis, {"monomial", "newton", "chebyshev"},
             "of their Krylov spaces; beyond s = 4 newton or chebyshev, with scaling = jacobi");
    s.flag("telescoping", &Bottom::telescoping,
           "their s = 1, 2, 4, ... up to bottom.s, instead of bottom.s from the start");
    s.choice("powers", &Bottom::powers, {"paired", "sequential", "matrix_powers"},
             "their exchanges: for both Krylov spaces at once; one space after the other; or of several "
             "layers of ghosts, for several powers of the operator");
    s.integer("powers_depth", &Bottom::powers_depth, at_least(0),
              "of powers = matrix_powers, at most the width of the level's boxes; 0 = as many as there are "
              "powers, if "
              "the box has them",
              "ghost layers");
    s.integer("block", &Bottom::block, between(1, 1000),
              "of the enlarged methods enlarged_cg and sre_cg: directions at a time", "columns");
    s.choice("splitting", &Bottom::splitting, {"boxes", "interleaved", "slabs"},
             "their residual's: box or cell n in column n mod bottom.block, or slabs across x");
    s.choice("variant", &Bottom::variant, {"orthodir", "orthomin"},
             "of enlarged_cg: one all-reduce per iteration, or two that stand scaling = none");
}

void add_comm(std::vector<Key>& keys) {
    using Comm = Parameters::Comm;
    Section s(keys, "comm", &Parameters::comm);
    s.choice("scheme", &Comm::scheme,
             {"standard", "two_step", "three_step", "split", "staged_axes", "model", "tuned"},
             "ghosts straight from rank to rank; by way of a partner on the other node; gathered by node; "
             "the same in "
             "several messages; along x, y, z in turn; on each level what is fastest on comm.machine "
             "(model), or when tried "
             "(tuned)");
    s.choice("partner_rule", &Comm::partner_rule, {"local_index", "max_need"},
             "of two_step: the partner has the sender's place on its node, or needs most of what comes");
    s.integer("message_cap", &Comm::message_cap, at_least(1), "of split: longest message between nodes",
              "bytes");
    s.choice(
        "cap_rule", &Comm::cap_rule, {"paper", "always"},
        "of split: raise the cap to a message a rank where few nodes send, or wherever there would be more");
    s.integer("ranks_per_node", &Comm::ranks_per_node, at_least(0),
              "0 = detect; else pretend nodes of so many", "ranks");
    s.text("machine", &Comm::machine,
           "to predict times on: NAME of inputs/machines/NAME.toml, or a path; \"\" = none", "path");
    s.text("node_map", &Comm::node_map, "pretend nodes: file with a label a line for each rank; \"\" = none",
           "path");
    s.flag("persistent", &Comm::persistent, "persistent MPI requests in exchanges");
    s.integer("ghost_depth", &Comm::ghost_depth, between(1, 8), "layers of ghost cells", "cells");
    s.choice("neighbours", &Comm::neighbours, {"faces", "all"},
             "ghosts from the 6 boxes across the faces, or from all 26");
    s.flag("overlap", &Comm::overlap,
           "smooth, apply and restrict the interior of boxes while their messages are under way");
    s.choice("device", &Comm::device, {"auto", "staged", "device_aware"},
             "messages of a GPU's fields: by way of host memory, or from the device if the MPI takes that");
    s.choice("allreduce", &Comm::allreduce, {"mpi", "recursive_doubling"},
             "sums over ranks by MPI_(I)allreduce, or our own from point-to-point messages");
    s.flag("progress", &Comm::progress,
           "moves on all-reduces under way, between operations of the bottom solver");
}

void add_run(std::vector<Key>& keys, const Names& names) {
    using Run = Parameters::Run;
    Section s(keys, "run", &Parameters::run);
    s.choice("mode", &Run::mode, {"solve", "krylov", "survey", "network", "exchange", "spmv"},
             "multigrid; bottom.solver on the finest grid itself; multigrid with one bottom solver after the "
             "other; no solve but timed messages; no solve but exchanges by all schemes; sparse "
             "matrix-vector products");
    s.choice("preconditioner", &Run::preconditioner, {"none", "v_cycle"},
             "of mode = krylov: one V-cycle, its bottom relaxed in bottom.sweeps sweeps");
    s.list("survey", &Run::survey,
           "of mode = survey: bottom solvers, each with keys of [bottom] of its own, as \"ca_cg s=8 "
           "basis=newton\"; [] = all");
    s.choice("backend", &Run::backend, names.backends, "what runs the kernels");
    s.choice(
        "launches", &Run::launches, {"synchronous", "asynchronous", "graphs"},
        "the host waits for each operation of a GPU, so that its time is its own; or only for results; or "
        "also replays recurring sequences as graphs");
    s.flag("deterministic", &Run::deterministic, "sums in a fixed order, whatever the threads and ranks");
    s.integer("warmup", &Run::warmup, at_least(0), "solved first and thrown away", "solves");
    s.integer("repeats", &Run::repeats, at_least(1), "measured", "solves");
    s.flag("solve", &Run::solve, "of mode = spmv: also solve A u = A x by bottom.solver");
    s.flag("verbose", &Run::verbose, "progress on stderr even where it is no terminal");
}

void add_network(std::vector<Key>& keys) {
    using Network = Parameters::Network;
    Section s(keys, "network", &Parameters::network);
    s.integer("smallest", &Network::smallest, between(1, 1 << 30), "message of mode = network", "bytes");
    s.integer("largest", &Network::largest, between(1, 1 << 30), "message", "bytes");
    s.integer("repeats", &Network::repeats, at_least(1), "of each measurement, of which the fastest counts");
    s.integer("eager_from", &Network::eager_from, at_least(0),
              "first eager message, if rendezvous_from is given; 0 = none is short", "bytes");
    s.integer("rendezvous_from", &Network::rendezvous_from, at_least(0),
              "first rendezvous message; 0 = this and eager_from are found from the data", "bytes");
    s.text("write", &Network::write, "machine file, such as inputs/machines/NAME.toml; \"\" = none", "path");
}

void add_output(std::vector<Key>& keys) {
    Section s(keys, "output", &Parameters::output);
    s.text("json", &Parameters::Output::json, "file of JSON lines, one record a line; \"\" = none", "path");
}

}  // namespace

bool Interval::contains(double x) const {
    return std::isfinite(x) && (lowest_open ? x > lowest : x >= lowest) &&
           (highest_open ? x < highest : x <= highest);
}

Table::Table(const Names& names) {
    add_problem(keys_);
    add_multigrid(keys_);
    add_bottom(keys_, names);
    add_comm(keys_);
    add_run(keys_, names);
    add_network(keys_);
    add_output(keys_);
    for (const Key& key : keys_) {
        const auto* choice = std::get_if<ChoiceKey>(&key.kind);
        if (choice && std::ranges::count(choice->names, choice->value.get(Parameters{})) != 1) {
            throw std::logic_error(key.full_name() + ": the default is not one of the choices");
        }
    }
}

std::vector<std::string> Table::sections() const {
    std::vector<std::string> sections;
    for (const Key& key : keys_) {
        if (sections.empty() || sections.back() != key.section) sections.push_back(key.section);
    }
    return sections;
}

const Key* Table::find(std::string_view section, std::string_view name) const {
    const auto found = std::ranges::find_if(
        keys_, [&](const Key& key) { return key.section == section && key.name == name; });
    return found == keys_.end() ? nullptr : &*found;
}

}  // namespace keel
