// The rules that tie keys to each other and to the number of ranks.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <initializer_list>
#include <limits>
#include <system_error>
#include <utility>

#include "comm/ranks/communicator.hpp"
#include "kernels/backends/registry.hpp"
#include "miniapp/deck/deck.hpp"
#include "miniapp/deck/rules.hpp"
#include "miniapp/setup/machine_file.hpp"
#include "miniapp/setup/modes.hpp"
#include "miniapp/setup/node_map.hpp"
#include "miniapp/setup/solver_rules.hpp"
#include "miniapp/studies/spmv/matrix_rules.hpp"
#include "solvers/krylov/methods.hpp"

namespace keel {
namespace {

std::string text_of(const Index& triple) {
    return fmt::format("[{}]", fmt::join(triple, ","));
}

// Exact up to 2^53, and beyond that still far above any limit it is compared with.
double exact_product(const Index& n) {
    return 1.0 * n[0] * n[1] * n[2];
}

double boxes_in_all(const Parameters& p, int ranks) {
    const bool automatic = p.problem.boxes == Index{};
    return automatic ? 1.0 * ranks * p.problem.boxes_per_rank : exact_product(p.problem.boxes);
}

void check_coarsening(Rules& rules, const Parameters& p) {
    std::vector<int> widths{p.problem.box};
    while (widths.back() % 2 == 0) widths.push_back(widths.back() / 2);
    std::vector<int> boxes;
    for (std::int64_t box = p.multigrid.bottom_box; box <= 1024; box *= 2)
        boxes.push_back(static_cast<int>(box));

    std::string remedy = fmt::format("choose multigrid.bottom_box from {}", fmt::join(widths, ", "));
    if (!boxes.empty()) remedy += fmt::format(", or problem.box from {}", fmt::join(boxes, ", "));
    rules.require(std::ranges::find(widths, coarsest_box(p)) != widths.end(),
                  {"multigrid.bottom_box", "problem.box"},
                  fmt::format("multigrid.bottom_box = {}: not reached by halving problem.box = {}; {}",
                              p.multigrid.bottom_box, p.problem.box, remedy));

    rules.require(p.comm.ghost_depth <= coarsest_box(p), {"comm.ghost_depth", "multigrid.bottom_box"},
                  fmt::format("comm.ghost_depth = {}: deeper than the coarsest boxes; choose at most "
                              "{} = {}, or a wider one",
                              p.comm.ghost_depth,
                              coarsest_box(p) == p.problem.box ? "problem.box" : "multigrid.bottom_box",
                              coarsest_box(p)));
    rules.require(
        p.multigrid.pre + p.multigrid.post >= 1, {"multigrid.pre", "multigrid.post"},
        "multigrid.pre = 0 and multigrid.post = 0: nothing would be smoothed; give at least one sweep");
}

void check_boxes(Rules& rules, const Parameters& p, int ranks) {
    const double most = std::numeric_limits<int>::max();
    const Index given = p.problem.boxes;
    const bool automatic = given == Index{};
    const bool mixed = !automatic && std::ranges::count(given, 0) > 0;
    rules.require(
        !mixed, {"problem.boxes"},
        fmt::format("problem.boxes = {}: zero in one direction only; give three positive counts, or "
                    "[0,0,0] for as cubic as possible",
                    text_of(given)));
    if (mixed) return;

    const double total = boxes_in_all(p, ranks);
    rules.require(
        total <= most, {"problem.boxes", "problem.boxes_per_rank"},
        fmt::format("{:.0f} boxes in all: at most {:.0f} can be numbered; give fewer", total, most));
    if (total > most) return;

    const Index boxes = resolved_boxes(p, ranks);
    const auto longest = static_cast<std::size_t>(std::ranges::max_element(boxes) - boxes.begin());
    rules.require(
        1.0 * boxes[longest] * p.problem.box <= most,
        {"problem.boxes", "problem.boxes_per_rank", "problem.box"},
        fmt::format("{} boxes of {} cells in direction {}: at most {:.0f} cells can be numbered; give fewer",
                    boxes[longest], p.problem.box, "xyz"[longest], most));
    if (p.run.mode != Mode::spmv) check_solvers(rules, p, boxes_in_all(p, ranks));
    if (automatic) return;

    rules.require(
        ranks <= total || p.run.mode == Mode::spmv, {"problem.boxes"},
        fmt::format("problem.boxes = {}: {:.0f} boxes for {} ranks leave ranks without a box; use at "
                    "most {:.0f} ranks, or more boxes, such as {}",
                    text_of(given), total, ranks, total, text_of(most_cubic(ranks))));
    const double wanted = 1.0 * ranks * p.problem.boxes_per_rank;
    rules.require(
        !rules.is_set("problem.boxes_per_rank") || wanted == total || ranks > total,
        {"problem.boxes_per_rank", "problem.boxes"},
        fmt::format("problem.boxes_per_rank = {}: {:.0f} boxes on {} ranks, but problem.boxes = {} makes "
                    "{:.0f}; give only one of the two keys",
                    p.problem.boxes_per_rank, wanted, ranks, text_of(given), total));
}

void check_bottom_ranks(Rules& rules, const Parameters& p, int ranks) {
    rules.require(bottom_place(p) != BottomPlace::agglomerate || p.multigrid.bottom_ranks <= ranks,
                  {"multigrid.bottom_ranks", "multigrid.bottom_grid"},
                  fmt::format("multigrid.bottom_ranks = {} of {} ranks: choose from 0 (one in eight) to {}",
                              p.multigrid.bottom_ranks, ranks, ranks));
    const double moved = ranks * boxes_in_all(p, ranks);
    rules.require(bottom_place(p) != BottomPlace::replicate || p.problem.ranks == 0 || moved <= 1 << 24,
                  {"multigrid.bottom_grid", "problem.ranks", "problem.boxes", "problem.boxes_per_rank"},
                  fmt::format("multigrid.bottom_grid = \"replicate\": {:.0f} boxes on each of {} imagined "
                              "ranks are too many to "
                              "plan for all ranks at once; choose fewer ranks or boxes, so that ranks times "
                              "boxes is at most {}",
                              boxes_in_all(p, ranks), ranks, 1 << 24));
}

// Keys that were given but play no part in the mode, and what a preconditioned method can be.
void check_mode(Rules& rules, const Deck& deck) {
    const Parameters& p = deck.parameters;
    for (const auto& [key, origin] : deck.origin) {
        const std::string reason = why_idle(key, p);
        rules.require(origin == "default" || reason.empty(), {key, "run.mode", "run.preconditioner"},
                      fmt::format("{}: {}", key, reason));
    }
    if (p.run.mode != Mode::krylov) return;
    const Method& method = method_named(p.bottom.solver);
    rules.require(
        method.is_krylov(), {"bottom.solver", "run.mode"},
        fmt::format(
            "bottom.solver = \"{}\": relaxation alone is no solver of a whole problem; choose another, "
            "or run.mode = solve",
            method.name));
    if (p.run.preconditioner == MainPreconditioner::none) return;
    const auto require = [&](bool holds, std::initializer_list<std::string> keys, const std::string& what) {
        rules.require(holds, keys, "run.preconditioner = \"v_cycle\": " + what);
    };
    const std::string& solver = p.bottom.solver;
    require(p.multigrid.bottom_box < p.problem.box,
            {"multigrid.bottom_box", "problem.box", "run.preconditioner"},
            fmt::format("a V-cycle needs two levels; choose multigrid.bottom_box below problem.box = {}",
                        p.problem.box));
    require(p.bottom.scaling == Scaling::none, {"bottom.scaling", "run.preconditioner"},
            "already scales the system; give bottom.scaling = \"none\"");
    require(
        method.accepts_preconditioner(), {"bottom.solver", "run.preconditioner"},
        fmt::format("bottom.solver = \"{}\" is not one of {}; choose one of these, or preconditioner = none",
                    solver, fmt::join(preconditionable(), ", ")));
    const bool makes_bases = method.accepts_preconditioner() && method.reads("basis");
    require(!makes_bases || p.bottom.basis == Basis::monomial,
            {"bottom.basis", "bottom.solver", "run.preconditioner"},
            "no bounds of the preconditioned spectrum are known; give bottom.basis = \"monomial\"");
    require(!makes_bases || p.bottom.powers != Powers::matrix_powers,
            {"bottom.powers", "bottom.solver", "run.preconditioner"},
            "a V-cycle needs exchanges of its own; give bottom.powers = \"paired\"");
    if (method.preconditioning != Preconditioning::symmetric) return;
    require(
        p.multigrid.pre == p.multigrid.post, {"multigrid.pre", "multigrid.post"},
        fmt::format("{} needs a symmetric one: multigrid.pre = {} must equal multigrid.post = {}; make them "
                    "equal, or choose {}",
                    solver, p.multigrid.pre, p.multigrid.post, default_method()));
    require(p.multigrid.interpolation == Interpolation::constant, {"multigrid.interpolation"},
            fmt::format("{} needs a symmetric one; give multigrid.interpolation = \"constant\", or choose {}",
                        solver, default_method()));
}

// A deck that asks a backend for what it has not.
void check_features(Rules& rules, const Parameters& p) {
    const std::string& name = p.run.backend;
    const auto want = [&](bool BackendFeatures::*feature, bool asked, const std::string& key,
                          const std::string& value) {
        std::vector<std::string> able;
        for (const BackendInfo& info : all_backends())
            if (info.features.*feature) able.push_back(info.name);
        rules.require(
            !asked || backend_info(name).features.*feature, {key, "run.backend"},
            fmt::format("{} = \"{}\": the backend {} has no such thing; choose run.backend from {}, or "
                        "leave the key out",
                        key, value, name, fmt::join(able, ", ")));
    };
    want(&BackendFeatures::asynchronous, p.run.launches == Launches::asynchronous, "run.launches",
         "asynchronous");
    want(&BackendFeatures::graphs, p.run.launches == Launches::graphs, "run.launches", "graphs");
    want(&BackendFeatures::device_memory, p.comm.device == DeviceMessages::staged, "comm.device", "staged");
    want(&BackendFeatures::device_memory, p.comm.device == DeviceMessages::device_aware, "comm.device",
         "device_aware");
}

// Why the JSON lines cannot be written to `file`; empty if they can. Opens nothing, so nothing is truncated.
std::string reason_not_writable(const std::filesystem::path& file) {
    std::error_code ignored;
    if (std::filesystem::is_directory(file, ignored)) return "is a folder; give a file name";
    const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
    if (!std::filesystem::is_directory(folder, ignored)) {
        return fmt::format("there is no folder {}; make it, or choose another", folder.string());
    }
    const bool exists = std::filesystem::exists(file, ignored);
    if (::access(exists ? file.c_str() : folder.c_str(), exists ? W_OK : W_OK | X_OK) == 0) return "";
    return fmt::format("cannot be written: {}; choose another", std::generic_category().message(errno));
}

void check_network(Rules& rules, const Parameters& p) {
    const auto& n = p.network;
    rules.require(n.smallest <= n.largest, {"network.smallest", "network.largest"},
                  fmt::format("network.smallest = {}: more than network.largest = {}; give at most that",
                              n.smallest, n.largest));
    rules.require(
        n.rendezvous_from > 0 || n.eager_from == 0, {"network.eager_from"},
        fmt::format("network.eager_from = {}: counts only with network.rendezvous_from; give that too, or "
                    "neither to find both from the data",
                    n.eager_from));
    rules.require(
        n.rendezvous_from == 0 || n.eager_from <= n.rendezvous_from,
        {"network.eager_from", "network.rendezvous_from"},
        fmt::format("network.eager_from = {}: beyond network.rendezvous_from = {}; give at most that",
                    n.eager_from, n.rendezvous_from));
    if (n.write.empty()) return;
    const std::string reason =
        n.write.ends_with(".toml") ? reason_not_writable(n.write) : "give a name that ends in .toml";
    rules.require(reason.empty(), {"network.write"},
                  fmt::format("network.write = \"{}\": {}", n.write, reason));
}

}  // namespace

std::vector<std::string> validate(const Deck& deck, int started) {
    const Parameters& p = deck.parameters;
    const int ranks = p.problem.ranks > 0 ? p.problem.ranks : started;
    Rules rules(deck);
    rules.require(
        ranks == started || p.comm.ranks_per_node > 0 || !p.comm.node_map.empty(), {"problem.ranks"},
        fmt::format("problem.ranks = {}: of ranks that are not started (here: all but {}) nobody knows "
                    "the nodes; give comm.ranks_per_node or comm.node_map",
                    ranks, started));
    rules.require(p.comm.scheme != SchemeKey::model || !p.comm.machine.empty(), {"comm.scheme"},
                  "comm.scheme = \"model\": no machine to predict times on; give comm.machine, or let "
                  "comm.scheme = \"tuned\" try the schemes");
    if (!p.comm.machine.empty())
        for (const std::string& error : read_machine(p.comm.machine).errors)
            rules.require(false, {"comm.machine"},
                          fmt::format("comm.machine = \"{}\": {}", p.comm.machine, error));
    check_boxes(rules, p, ranks);
    check_bottom_ranks(rules, p, ranks);
    if (p.run.mode == Mode::spmv)
        check_matrix(rules, p, ranks);
    else
        check_coarsening(rules, p);
    check_mode(rules, deck);
    rules.require(
        p.comm.ranks_per_node <= ranks, {"comm.ranks_per_node"},
        fmt::format("comm.ranks_per_node = {}: there are only {} ranks; choose at most that, or 0 to "
                    "detect the nodes",
                    p.comm.ranks_per_node, ranks));
    if (!p.comm.node_map.empty()) {
        const std::string error = read_node_map(p.comm.node_map, ranks).error;
        rules.require(error.empty(), {"comm.node_map"},
                      fmt::format("comm.node_map = \"{}\": {}", p.comm.node_map, error));
        rules.require(
            p.comm.ranks_per_node == 0, {"comm.node_map", "comm.ranks_per_node"},
            fmt::format("comm.node_map = \"{}\" and comm.ranks_per_node = {}: give only one of the two",
                        p.comm.node_map, p.comm.ranks_per_node));
    }
    check_features(rules, p);
    check_network(rules, p);
    if (!p.output.json.empty()) {
        const std::string reason = reason_not_writable(p.output.json);
        rules.require(reason.empty(), {"output.json"},
                      fmt::format("output.json = \"{}\": {}", p.output.json, reason));
    }
    return std::move(rules).errors();
}

std::vector<std::string> validate_for_here(const Deck& deck, int ranks) {
    const Parameters& p = deck.parameters;
    const std::string& name = p.run.backend;
    Rules rules(deck);
    const std::string reason = why_unusable(name);
    rules.require(reason.empty(), {"run.backend"},
                  fmt::format("run.backend = \"{}\": {}; backends that can run here: {}", name, reason,
                              fmt::join(usable_backends(), ", ")));
    const bool device_aware =
        p.comm.device == DeviceMessages::device_aware && backend_info(name).features.device_memory;
    rules.require(
        !device_aware || Session::takes_device_memory(name), {"comm.device"},
        fmt::format("comm.device = \"device_aware\": {} does not say that it takes the memory of {} "
                    "devices; choose staged or auto",
                    Session::library(), name));
    rules.require(p.problem.ranks == 0 || p.problem.ranks == ranks, {"problem.ranks"},
                  fmt::format("problem.ranks = {}: this run has {}; start as many, or imagine them with "
                              "--dry-run",
                              p.problem.ranks, ranks));
    rules.require(
        p.run.mode != Mode::network || ranks > 1, {"run.mode"},
        "run.mode = \"network\": a single rank has nobody to send to; start it on two or more, as mpiexec "
        "-n 2");
    return std::move(rules).errors();
}

Index resolved_boxes(const Parameters& parameters, int ranks) {
    const auto& problem = parameters.problem;
    return problem.boxes == Index{} ? most_cubic(ranks * problem.boxes_per_rank) : problem.boxes;
}

}  // namespace keel
