#include "miniapp/setup/validation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <system_error>

#include "comm/ranks/communicator.hpp"
#include "kernels/backends/registry.hpp"
#include "miniapp/deck/text/text.hpp"
#include "miniapp/files/machine_file.hpp"
#include "miniapp/files/node_map.hpp"
#include "miniapp/files/record_name.hpp"
#include "miniapp/setup/problem/shape.hpp"
#include "miniapp/setup/solver_rules.hpp"
#include "solvers/multigrid/smoothers/smoother.hpp"

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
    if (p.problem.shape != DomainShape::cube) return domain_of(p.problem, ranks).count();
    const bool automatic = p.problem.boxes == Index{};
    return automatic ? 1.0 * ranks * p.problem.boxes_per_rank : exact_product(p.problem.boxes);
}

void check_coarsening(Rules& rules, const Parameters& p, const GridUse& use) {
    std::vector<int> widths{p.problem.box};
    while (widths.back() % 2 == 0) widths.push_back(widths.back() / 2);
    std::vector<int> boxes;
    const int widest = p.problem.dimensions == 2 ? 16384 : 1024;
    for (std::int64_t box = p.multigrid.bottom_box; box <= widest; box *= 2)
        boxes.push_back(static_cast<int>(box));

    std::string remedy = fmt::format("choose multigrid.bottom_box from {}", fmt::join(widths, ", "));
    if (!boxes.empty()) remedy += fmt::format(", or problem.box from {}", fmt::join(boxes, ", "));
    rules.require(std::ranges::find(widths, coarsest_box(p, use)) != widths.end(),
                  {"multigrid.bottom_box", "problem.box"},
                  fmt::format("multigrid.bottom_box = {}: not reached by halving problem.box = {}; {}",
                              p.multigrid.bottom_box, p.problem.box, remedy));

    rules.require(p.comm.ghost_depth <= coarsest_box(p, use), {"comm.ghost_depth", "multigrid.bottom_box"},
                  fmt::format("comm.ghost_depth = {}: deeper than the coarsest boxes; choose at most "
                              "{} = {}, or a wider one",
                              p.comm.ghost_depth,
                              coarsest_box(p, use) == p.problem.box ? "problem.box" : "multigrid.bottom_box",
                              coarsest_box(p, use)));
    rules.require(
        p.multigrid.pre + p.multigrid.post >= 1, {"multigrid.pre", "multigrid.post"},
        "multigrid.pre = 0 and multigrid.post = 0: nothing would be smoothed; give at least one sweep");
}

void check_fused(Rules& rules, const Parameters& p, const GridUse& use) {
    if (p.multigrid.smoother_passes != SmootherPasses::fused) return;
    std::vector<std::string> able;
    for (const Smoother& smoother : smoothers())
        if (smoother.fusible > 0) able.push_back(smoother.name);
    rules.require(
        smoother_named(p.multigrid.smoother).fusible > 0, {"multigrid.smoother_passes", "multigrid.smoother"},
        fmt::format("multigrid.smoother_passes = \"fused\": the smoother {} has no fused passes; choose "
                    "multigrid.smoother from {}, or auto",
                    p.multigrid.smoother, fmt::join(able, ", ")));
    const int layers = fusible_half_sweeps(p.multigrid);
    const int narrowest = 2 * coarsest_box(p, use);
    rules.require(
        narrowest > p.problem.box || layers <= narrowest,
        {"multigrid.smoother_passes", "multigrid.bottom_box", "multigrid.pre", "multigrid.post"},
        fmt::format(
            "multigrid.smoother_passes = \"fused\": {} half sweeps want as many ghost layers, and the "
            "level above the bottom has boxes of {}; choose auto, fewer sweeps, or a wider "
            "multigrid.bottom_box",
            layers, narrowest));
}

// Cycles in single precision: of whom, by whom, and to what end.
void check_precision(Rules& rules, const Parameters& p, const GridUse& use) {
    if (p.multigrid.precision != CyclePrecision::mixed) return;
    const std::string given = "multigrid.precision = \"mixed\": ";
    rules.require(
        use.mixes, {"multigrid.precision", "run.mode"},
        given + "run.mode = \"" + p.run.mode +
            "\" has cycles in double precision alone; choose double, or run.mode from solve, survey");
    std::vector<std::string> able;
    for (const BackendInfo& info : all_backends())
        if (info.features.single_precision) able.push_back(info.name);
    rules.require(
        backend_info(p.run.backend).features.single_precision, {"multigrid.precision", "run.backend"},
        fmt::format("{}the backend {} has no fields in single precision; choose run.backend from {}, "
                    "or double",
                    given, p.run.backend, fmt::join(able, ", ")));
    rules.require(
        p.multigrid.accelerator == Accelerator::none, {"multigrid.precision", "multigrid.accelerator"},
        given +
            "an accelerator wants a residual in double precision for each cycle, which would cost "
            "what cycles in single precision gain; choose multigrid.accelerator = \"none\", or double");
    rules.require(
        !use.coarsens || coarsest_box(p, use) < p.problem.box,
        {"multigrid.precision", "multigrid.bottom_box", "problem.box"},
        fmt::format("{}problem.box = {} is the coarsest level, which is solved in double precision; "
                    "choose multigrid.bottom_box below it, or double",
                    given, p.problem.box));
    // |f| is no more than |L| max|u|, and so no less than this is what rounding may leave: eps |L| max|u| / max|f|.
    constexpr double least = std::numeric_limits<double>::epsilon();
    rules.require(
        p.multigrid.tolerance >= least, {"multigrid.precision", "multigrid.tolerance"},
        fmt::format("{}multigrid.tolerance = {:g} is below {:.1e}, the rounding of the residual in double "
                    "precision that has to verify it; choose a larger one",
                    given, p.multigrid.tolerance, least));
}

void check_bottom_ranks(Rules& rules, const Parameters& p, const GridUse& use, int ranks) {
    rules.require(bottom_place(p, use) != BottomPlace::agglomerate || p.multigrid.bottom_ranks <= ranks,
                  {"multigrid.bottom_ranks", "multigrid.bottom_grid"},
                  fmt::format("multigrid.bottom_ranks = {} of {} ranks: choose from 0 (one in eight) to {}",
                              p.multigrid.bottom_ranks, ranks, ranks));
    const double moved = ranks * boxes_in_all(p, ranks);
    rules.require(bottom_place(p, use) != BottomPlace::replicate || p.problem.ranks == 0 || moved <= 1 << 24,
                  {"multigrid.bottom_grid", "problem.ranks", "problem.boxes", "problem.boxes_per_rank"},
                  fmt::format("multigrid.bottom_grid = \"replicate\": {:.0f} boxes on each of {} imagined "
                              "ranks are too many to "
                              "plan for all ranks at once; choose fewer ranks or boxes, so that ranks times "
                              "boxes is at most {}",
                              boxes_in_all(p, ranks), ranks, 1 << 24));
}

// Boxes that are to be merged, and what cannot go on on fewer ranks.
void check_agglomeration(Rules& rules, const Parameters& p, const GridUse& use, int ranks) {
    if (agglomerate(p, use) == 0 || boxes_in_all(p, ranks) > std::numeric_limits<int>::max()) return;
    const std::string given = fmt::format("multigrid.agglomerate = {}: ", p.multigrid.agglomerate);
    rules.require(
        p.problem.shape == DomainShape::cube, {"multigrid.agglomerate", "problem.shape"},
        fmt::format("{}the boxes of problem.shape = \"{}\" do not tile larger ones; choose never, or "
                    "problem.shape = \"cube\"",
                    given, name(p.problem.shape)));
    const Index boxes = resolved_boxes(p.problem, ranks);
    const auto dimensions = static_cast<std::size_t>(p.problem.dimensions);
    const bool alone = product(boxes) == 1;  // as one of merged boxes would be
    Index even = boxes;
    for (std::size_t d = 0; d < dimensions; ++d) even[d] += even[d] % 2;
    rules.require(
        alone || can_merge(boxes, dimensions), {"multigrid.agglomerate", "problem.boxes"},
        fmt::format(
            "{}{} boxes do not tile larger ones: {} of them become one, so each direction has to have "
            "an even number; give problem.boxes, such as {}, or choose never",
            given, text_of(boxes), dimensions == 2 ? 4 : 8, text_of(even)));
    rules.require(
        alone || coarsest_box(p, use) < p.problem.box,
        {"multigrid.agglomerate", "multigrid.bottom_box", "problem.box"},
        fmt::format("{}problem.box = {} is the coarsest box too, and the boxes of the finest level are never "
                    "merged; choose a smaller multigrid.bottom_box, a larger problem.box, or never",
                    given, p.problem.box));
    rules.require(bottom_place(p, use) == BottomPlace::distributed,
                  {"multigrid.agglomerate", "multigrid.bottom_grid"},
                  fmt::format("{}merged boxes are on fewer ranks already; choose multigrid.bottom_grid = "
                              "\"distributed\", not {}, or never",
                              given, name(bottom_place(p, use))));
    rules.require(
        !use.full_approximation, {"multigrid.agglomerate", "problem.equation"},
        given + "the levels of a full approximation scheme are where the finest one is; choose never");
    rules.require(p.comm.scheme != name(SchemeChooser::tuned), {"multigrid.agglomerate", "comm.scheme"},
                  given +
                      "comm.scheme = \"tuned\" tries exchanges of all ranks, and merged levels have fewer; "
                      "choose a scheme, model, or never");
}

// Of a coarse cell at an edge that two boxes make around a missing one nobody knows what lies diagonally beyond.
void check_interpolation(Rules& rules, const Parameters& p, const GridUse& use) {
    const bool f_cycle = p.multigrid.cycle == Cycle::f;
    const auto [key, word, instead] = use.full_multigrid ? std::array{"run.mode", "full_multigrid", "solve"}
                                      : f_cycle          ? std::array{"multigrid.cycle", "F", "V"}
                                                : std::array{"multigrid.interpolation", "linear", "constant"};
    rules.require(
        p.problem.shape == DomainShape::cube || !use.coarsens || !interpolates_linearly(p, use),
        {key, "problem.shape"},
        fmt::format("{} = \"{}\": interpolates linearly, which is not defined at the inner edges of "
                    "problem.shape = \"{}\"; choose {}, or problem.shape = \"cube\"",
                    key, word, name(p.problem.shape), instead));
}

void check_data(Rules& rules, const Parameters& p, int ranks) {
    if (p.problem.data == BoundaryData::zero) return;
    const std::string given = fmt::format("problem.data = \"{}\": ", name(p.problem.data));
    rules.require(p.problem.rhs != Rhs::manufactured, {"problem.data", "problem.rhs"},
                  given +
                      "problem.rhs = \"manufactured\" has boundary values of its own; choose another "
                      "problem.rhs, or leave problem.data out");
    rules.require(domain_of(p.problem, ranks).has_dirichlet(),
                  {"problem.data", "problem.boundary", "problem.outside"},
                  given +
                      "no face is a Dirichlet one; give a side of problem.boundary, or problem.outside "
                      "where boxes are missing, as \"dirichlet\", or leave it out");
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

}  // namespace

namespace {

// What a deck says of z though there is none; whether the boxes are one layer.
bool check_dimensions(Rules& rules) {
    const ProblemOptions& problem = rules.parameters().problem;
    if (problem.dimensions == 3) {
        constexpr int widest = 1024;
        rules.require(
            problem.box <= widest, {"problem.box", "problem.dimensions"},
            fmt::format("problem.box = {}: boxes of problem.dimensions = 3 are at most {} cells wide; "
                        "choose that or less, or problem.dimensions = 2",
                        problem.box, widest));
        return true;
    }
    const auto plane = [&](bool holds, const char* key, const std::string& value, const std::string& remedy) {
        rules.require(holds, {key, "problem.dimensions"},
                      fmt::format("{} = {}: problem.dimensions = 2 has no third direction; {}, or "
                                  "problem.dimensions = 3",
                                  key, value, remedy));
        return holds;
    };
    const auto numbers = [](const auto& three) { return fmt::format("[{}]", fmt::join(three, ",")); };
    Index layer = problem.boxes;
    layer[2] = 1;
    bool flat =
        plane(problem.boxes == Index{} || problem.boxes[2] == 1, "problem.boxes", numbers(problem.boxes),
              "boxes are one layer: give 1 as the third number, such as " + numbers(layer));
    const auto& positions = problem.boxes_list.positions;
    const auto above = std::ranges::find_if(positions, [](const Index& at) { return at[2] != 0; });
    if (above != positions.end())
        flat = plane(false, "problem.boxes_list", fmt::format("[..., {}, ...]", numbers(*above)),
                     "boxes are one layer: give 0 as the third number of each position");
    plane(problem.anisotropy[2] == 1, "problem.anisotropy", numbers(problem.anisotropy),
          "give 1 as the third number");
    plane(problem.drift[2] == 0, "problem.drift", numbers(problem.drift), "give 0 as the third number");
    const auto [x, y, z] = problem.boundary;
    const auto words = [](const Sides<Boundary>& sides) {
        return sides.low == sides.high ? fmt::format("\"{}\"", name(sides.low))
                                       : fmt::format("\"{}/{}\"", name(sides.low), name(sides.high));
    };
    plane(z == Boundary::periodic || (x == y && y == z), "problem.boundary",
          fmt::format("[{},{},{}]", words(x), words(y), words(z)),
          "give \"periodic\" as the third word, or one word for all");
    return flat;
}

}  // namespace

bool check_boxes(Rules& rules, int ranks, bool one_for_each_rank) {
    if (!check_dimensions(rules)) return false;
    const Parameters& p = rules.parameters();
    const auto dimensions = static_cast<std::size_t>(p.problem.dimensions);
    const double most = std::numeric_limits<int>::max();
    const bool all = p.problem.shape == DomainShape::cube;
    const Index given = p.problem.boxes;
    const bool automatic = given == Index{};
    const bool mixed = !automatic && std::ranges::count(given, 0) > 0;
    rules.require(
        !mixed, {"problem.boxes"},
        fmt::format("problem.boxes = {}: zero in one direction only; give three positive counts, or "
                    "[0,0,0] for as cubic as possible",
                    text_of(given)));
    if (mixed) return all;

    const double around = all ? boxes_in_all(p, ranks) : exact_product(resolved_boxes(p.problem, ranks));
    rules.require(
        around <= most, {"problem.boxes", "problem.boxes_per_rank", "problem.boxes_list"},
        fmt::format("{:.0f} boxes in all: at most {:.0f} can be numbered; give fewer", around, most));
    if (around > most) return all;
    const auto [culprits, reason] = why_no_domain(p.problem, ranks);
    rules.require(culprits.empty(), culprits, reason);
    if (!culprits.empty()) return false;
    const double total = boxes_in_all(p, ranks);

    const Index boxes = resolved_boxes(p.problem, ranks);
    const auto longest = static_cast<std::size_t>(std::ranges::max_element(boxes) - boxes.begin());
    rules.require(
        1.0 * boxes[longest] * p.problem.box <= most,
        {"problem.boxes", "problem.boxes_per_rank", "problem.box"},
        fmt::format("{} boxes of {} cells in direction {}: at most {:.0f} cells can be numbered; give fewer",
                    boxes[longest], p.problem.box, "xyz"[longest], most));
    if (automatic && p.problem.shape != DomainShape::list) return true;

    rules.require(
        ranks <= total || !one_for_each_rank, {"problem.boxes", "problem.boxes_list", "problem.shape"},
        fmt::format("problem.boxes = {}: {:.0f} boxes{} for {} ranks leave ranks without a box; use at "
                    "most {:.0f} ranks, or more boxes{}",
                    text_of(boxes), total, all ? "" : " of this shape", ranks, total,
                    all ? ", such as " + text_of(most_cubic(ranks, dimensions)) : ""));
    const double wanted = 1.0 * ranks * p.problem.boxes_per_rank;
    rules.require(
        !rules.is_set("problem.boxes_per_rank") || wanted == total || ranks > total,
        {"problem.boxes_per_rank", "problem.boxes"},
        fmt::format("problem.boxes_per_rank = {}: {:.0f} boxes on {}, but problem.boxes = {} makes "
                    "{:.0f}; give only one of the two keys",
                    p.problem.boxes_per_rank, wanted, counted(ranks, "rank"), text_of(boxes), total));
    return true;
}

void check_grids(Rules& rules, const GridUse& use, int ranks) {
    const Parameters& p = rules.parameters();
    if (!check_boxes(rules, ranks, true)) return;
    check_bottom_ranks(rules, p, use, ranks);
    check_coarsening(rules, p, use);
    check_fused(rules, p, use);
    check_precision(rules, p, use);
    check_agglomeration(rules, p, use, ranks);
    check_interpolation(rules, p, use);
    check_data(rules, p, ranks);
    check_solvers(rules, use, boxes_of_solvers(p, use, ranks, boxes_in_all(p, ranks)));
}

void check_sums(Rules& rules) {
    const Parameters& p = rules.parameters();
    rules.require(
        p.comm.allreduce != AllReduceAlgorithm::automatic || !p.comm.machine.empty(),
        {"comm.allreduce", "comm.machine"},
        "comm.allreduce = \"auto\": the quickest is the one on comm.machine; give one, such as hopper");
}

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

std::string reason_not_new(const std::filesystem::path& file, const std::filesystem::path& json) {
    std::error_code ignored;
    if (!json.empty() && is_same_file(file, json)) return "is output.json too; choose another";
    if (std::filesystem::is_regular_file(file, ignored))
        return "is there already; choose another, or remove it";
    return reason_not_writable(file);
}

bool is_same_file(const std::filesystem::path& a, const std::filesystem::path& b) {
    std::error_code ignored;
    const auto whole = [&](const std::filesystem::path& path) {
        return std::filesystem::weakly_canonical(std::filesystem::absolute(path, ignored), ignored);
    };
    return std::filesystem::equivalent(a, b, ignored) || whole(a) == whole(b);
}

void check_common(Rules& rules, const NamedFiles& files, int started) {
    const Parameters& p = rules.parameters();
    const int ranks = p.problem.ranks > 0 ? p.problem.ranks : started;
    rules.require(
        ranks == started || p.comm.ranks_per_node > 0 || !p.comm.node_map.empty(), {"problem.ranks"},
        fmt::format("problem.ranks = {}: of ranks that are not started (here: all but {}) nobody knows "
                    "the nodes; give comm.ranks_per_node or comm.node_map",
                    ranks, started));
    rules.require(p.comm.scheme != name(SchemeChooser::model) || !p.comm.machine.empty(), {"comm.scheme"},
                  "comm.scheme = \"model\": no machine to predict times on; give comm.machine, or let "
                  "comm.scheme = \"tuned\" try the schemes");
    if (files.machine)
        for (const std::string& error : parse_machine(*files.machine).errors)
            rules.require(false, {"comm.machine"},
                          fmt::format("comm.machine = \"{}\": {}", p.comm.machine, error));
    rules.require(
        p.comm.ranks_per_node <= ranks, {"comm.ranks_per_node", "problem.ranks"},
        fmt::format(
            "comm.ranks_per_node = {}: there {} only {}; choose at most that, or 0 to detect the nodes",
            p.comm.ranks_per_node, ranks == 1 ? "is" : "are", counted(ranks, "rank")));
    const auto switches = [&] {
        const Machine machine = files.machine ? parse_machine(*files.machine).machine : Machine();
        return machine.messages[static_cast<std::size_t>(Memory::host)].has_value();
    };
    rules.require(p.comm.message_cap > 0 || switches(), {"comm.message_cap", "comm.machine"},
                  "comm.message_cap = 0: from where on messages take a rendezvous is comm.machine's to say; "
                  "give one with [host], such as lassen, or a number of bytes");
    rules.require(p.comm.ranks_per_socket == 0 || !p.comm.machine.empty(),
                  {"comm.ranks_per_socket", "comm.machine"},
                  fmt::format("comm.ranks_per_socket = {}: sockets count where times are predicted; give "
                              "comm.machine, or leave it out",
                              p.comm.ranks_per_socket));
    rules.require(p.comm.ranks_per_node == 0 || p.comm.ranks_per_socket <= p.comm.ranks_per_node,
                  {"comm.ranks_per_socket", "comm.ranks_per_node"},
                  fmt::format("comm.ranks_per_socket = {}: a node has only {}; choose at most that, or 0",
                              p.comm.ranks_per_socket, counted(p.comm.ranks_per_node, "rank")));
    if (files.node_map) {
        const NodeMap map = parse_node_map(*files.node_map, ranks);
        rules.require(map.error.empty(), {"comm.node_map"},
                      fmt::format("comm.node_map = \"{}\": {}", p.comm.node_map, map.error));
        rules.require(map.sockets.empty() || p.comm.ranks_per_socket == 0,
                      {"comm.node_map", "comm.ranks_per_socket"},
                      fmt::format("comm.node_map = \"{}\" has sockets, and comm.ranks_per_socket = {}: give "
                                  "only one of the two",
                                  p.comm.node_map, p.comm.ranks_per_socket));
        rules.require(
            p.comm.ranks_per_node == 0, {"comm.node_map", "comm.ranks_per_node"},
            fmt::format("comm.node_map = \"{}\" and comm.ranks_per_node = {}: give only one of the two",
                        p.comm.node_map, p.comm.ranks_per_node));
    }
    check_features(rules, p);
    if (!p.output.goal.empty()) {
        const std::string reason = reason_not_new(p.output.goal, p.output.json);
        rules.require(reason.empty(), {"output.goal"},
                      fmt::format("output.goal = \"{}\": {}", p.output.goal, reason));
        rules.require(
            files.machine && parse_machine(*files.machine).machine.compute, {"output.goal", "comm.machine"},
            "output.goal: work takes as long as on comm.machine; give one with [compute], such as hopper");
        constexpr int most = 4096;
        rules.require(ranks <= most, {"output.goal", "problem.ranks"},
                      fmt::format("output.goal: a schedule of {} ranks would fill disks; choose at most {}",
                                  ranks, most));
    }
    rules.require(p.output.goal_events == OutputOptions{}.goal_events || !p.output.goal.empty(),
                  {"output.goal_events", "output.goal"},
                  "output.goal_events: nothing is written; give output.goal, or leave it out");
    if (p.output.json.empty()) return;
    const std::string wrong = wrong_word(p.output.json, *rules.deck().table);
    // Folders that are words are looked for when these are known.
    const std::string folder = std::filesystem::path(p.output.json).parent_path().string();
    const std::string reason = !wrong.empty()                    ? wrong
                               : folder.find('{') != folder.npos ? ""
                                                                 : reason_not_writable(p.output.json);
    rules.require(reason.empty(), {"output.json"},
                  fmt::format("output.json = \"{}\": {}", p.output.json, reason));
    for (const std::string& input :
         {rules.deck().file, files.machine ? files.machine->name : "", files.boxes ? files.boxes->name : "",
          files.node_map ? files.node_map->name : ""})
        rules.require(
            input.empty() || !is_same_file(input, p.output.json), {"output.json"},
            fmt::format("output.json = \"{}\": is read by this run; choose another", p.output.json));
}

namespace {

// What a simulated run needs, and what could not end there.
void check_simulated(Rules& rules) {
    const Parameters& p = rules.parameters();
    rules.require(
        !p.comm.machine.empty(), {"comm.machine"},
        "comm.machine = \"\": time is simulated here, and computing takes what a machine's file says; "
        "give one with [compute], such as hopper");
    // They would end by a clock that stands still while the program computes, hours later or never.
    for (const auto& [key, seconds] :
         {std::pair{"run.min_seconds", p.run.min_seconds}, std::pair{"run.time_limit", p.run.time_limit}})
        rules.require(
            seconds == 0, {key},
            fmt::format("{} = {}: time is simulated here, and repeats itself; leave it out", key, seconds));
}

}  // namespace

void check_run(Rules& rules, int started) {
    if (simulated()) check_simulated(rules);
    const Parameters& p = rules.parameters();
    const std::string& backend = p.run.backend;
    const std::string reason = why_unusable(backend);
    rules.require(reason.empty(), {"run.backend"},
                  fmt::format("run.backend = \"{}\": {}; backends that can run here: {}", backend, reason,
                              fmt::join(usable_backends(), ", ")));
    const bool device_aware =
        p.comm.device == DeviceMessages::device_aware && backend_info(backend).features.device_memory;
    rules.require(
        !device_aware || Session::takes_device_memory(backend), {"comm.device"},
        fmt::format("comm.device = \"device_aware\": {} does not say that it takes the memory of {} "
                    "devices; choose staged or auto",
                    Session::library(), backend));
    rules.require(p.problem.ranks == 0 || p.problem.ranks == started, {"problem.ranks"},
                  fmt::format("problem.ranks = {}: this run has {}; start as many, or imagine them with "
                              "--dry-run",
                              p.problem.ranks, started));
    // A deck may serve both; the command line was meant for this run.
    for (const std::string key :
         {"bottom.given_iterations", "comm.allreduce_model", "output.goal", "output.goal_events"})
        rules.require(!rules.is_set(key) || rules.deck().origin.at(key) != "command line", {key},
                      key + ": plays a part in the predictions of --dry-run alone; leave it out");
}

std::vector<std::string> warnings_of_domain(const GridSetup& grids, bool shape_given) {
    std::vector<std::string> warnings;
    const Index n = grids.domain.around();
    const std::size_t dimensions = grids.domain.dimensions();
    const auto [least, most] = std::ranges::minmax(std::span(n).first(dimensions));
    if (!shape_given && grids.domain.whole() && most >= 4 * least && most > 4)
        warnings.push_back(
            fmt::format("{} make a domain of {}x{}x{}: give another shape by problem.boxes, or start a "
                        "number of ranks with small "
                        "factors",
                        counted(static_cast<long>(product(n)), "box"), n[0], n[1], n[2]));
    const auto [weakest, strongest] =
        std::ranges::minmax(std::span(grids.problem.anisotropy).first(dimensions));
    if (grids.use.krylov == KrylovLevel::coarsest && strongest > 4 * weakest)
        warnings.push_back(
            fmt::format("problem.anisotropy = [{}]: smoothing points while coarsening in all directions "
                        "takes many cycles "
                        "above a ratio of 4, here {:.3g}; multigrid.max_cycles ends it",
                        fmt::join(grids.problem.anisotropy, ","), strongest / weakest));
    const long boxes = grids.domain.count();
    if (const long over = boxes % grids.ranks; over != 0 && boxes > grids.ranks)
        warnings.push_back(fmt::format(
            "{} boxes on {} ranks: {} have {}, the others {}, and {:.0f}% of all ranks' time is waiting at "
            "the least",
            boxes, grids.ranks, counted(over, "rank"), boxes / grids.ranks + 1, boxes / grids.ranks,
            100 * (1 - static_cast<double>(boxes) / static_cast<double>(grids.ranks) /
                           static_cast<double>(boxes / grids.ranks + 1))));
    return warnings;
}

}  // namespace keel
