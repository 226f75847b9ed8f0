#include "miniapp/studies/dry_run.hpp"

#include <fmt/format.h>

#include "miniapp/report/report.hpp"
#include "miniapp/schemes/scheme_table.hpp"
#include "miniapp/setup/memory.hpp"
#include "miniapp/setup/modes.hpp"
#include "miniapp/setup/simulation.hpp"
#include "miniapp/studies/spmv/spmv.hpp"
#include "solvers/krylov/methods.hpp"
#include "solvers/multigrid/smoother.hpp"

namespace keel {

namespace {

// What an iteration of each Krylov method costs, by the table of bottom solvers.
std::string solvers_text(const Parameters& parameters) {
    std::vector<Parameters::Contestant> solvers = parameters.contestants;
    if (solvers.empty()) solvers.push_back({parameters.bottom.solver, parameters.bottom});
    std::string text;
    for (const auto& [name, bottom] : solvers) {
        const Method& method = method_named(bottom.solver);
        text += fmt::format(
            "per iteration of {}: {:.4g} exchanges, {:.4g} all-reduces of {:.4g} words together{}\n", name,
            method.exchanges.of(bottom), method.reductions.of(bottom), method.words.of(bottom),
            parameters.run.preconditioner == MainPreconditioner::none ? ""
            : method.preconditioning == Preconditioning::symmetric
                ? "; one word more and 1 V-cycle by the preconditioner"
                : "; and a V-cycle for each application of the operator");
    }
    return text;
}

// Who would send to whom.
std::string network_dry_run_text(const Parameters& parameters, const Communicator& comm,
                                 const Topology& topology) {
    std::string text = fmt::format("{} ranks, {}\nping-pong of {} to {} bytes, {} repeats, pairs of ranks:\n",
                                   comm.size(), topology.describe(), parameters.network.smallest,
                                   parameters.network.largest, parameters.network.repeats);
    for (const auto& one : network_classes(comm, topology)) {
        text += fmt::format("{:<10}", name(one.locality));
        for (const Pair& pair : one.pairs) text += fmt::format(" {}-{}", pair.first, pair.second);
        text += one.pairs.empty() ? " none: not measured\n" : "\n";
    }
    return text;
}

// Sizes, exchanges and messages of each level.
std::string levels_text(const Parameters& parameters, const std::vector<SchemeTable>& tables, int ranks) {
    const auto& multigrid = parameters.multigrid;
    std::string text =
        fmt::format("{:>5} {:>16} {:>8} {:>11} {:>10} {:>10} {:>12} {:>10} {:>10}\n", "level", "cells",
                    "boxes of", "boxes/rank", "exchanges", "messages", "bytes", "off-node", "off-node");
    text += fmt::format("{:>5} {:>16} {:>8} {:>11} {:>10} {:>10} {:>12} {:>10} {:>10}\n", "", "", "",
                        "at most", "per V-cycle", "each", "each", "messages", "bytes");
    const bool krylov = parameters.run.mode == Mode::krylov;
    const int levels = tables.back().use.level + 1;
    const bool moved = bottom_place(parameters) != BottomPlace::distributed;
    const int boxes = (tables.front().use.layout.box_count() + ranks - 1) / ranks;
    for (const SchemeTable& table : tables) {
        const GhostUse& use = table.use;
        // The ghosts of an F-cycle's start come on top.
        const bool interpolation = use.purpose == Purpose::interpolation;
        if (interpolation && multigrid.interpolation != Interpolation::linear) continue;
        const int l = use.level;
        // Smoothing, the residual that is restricted and, on the finest level, the one of the stopping test; the bottom's
        // exchanges depend on its iterations.
        const int exchanges = exchanges_of(multigrid.smoother, multigrid.pre) +
                              exchanges_of(multigrid.smoother, multigrid.post) + 1 +
                              (l == 0 && !krylov ? 1 : 0);
        const std::string per_cycle =
            parameters.run.mode == Mode::exchange ? "-"
            : interpolation                       ? "1"
            : use.purpose == Purpose::powers      ? "powers"
            : moves_boxes(use.purpose)            ? "1"
            : levels == 1 && krylov               ? "-"
            : l + 1 < levels                      ? std::to_string(exchanges)
            : moved                               ? "checks"
            : krylov ? std::to_string(symmetric_exchanges_of(multigrid.smoother, parameters.bottom.sweeps))
                     : "bottom";
        const SchemeRow& row = table.rows[table.chosen.value_or(0)];
        // The bytes of so many fields as the text says.
        const double share =
            static_cast<double>(parameters.problem.columns) / static_cast<double>(table.columns);
        const Index n = use.layout.cells();
        text +=
            fmt::format("{:>5} {:>16} {:>8} {:>11} {:>10} {:>10.0f} {:>12.0f} {:>10.0f} {:>10.0f}\n", l,
                        fmt::format("{}x{}x{}", n[0], n[1], n[2]), fmt::format("{}^3", use.layout.width()),
                        boxes, per_cycle, row.most_sent.messages, share * row.most_sent.bytes,
                        row.most_sent.off_node_messages, share * row.most_sent.off_node_bytes);
    }
    return text;
}

}  // namespace

DryRun dry_run_of(const Parameters& parameters, const Communicator& comm) {
    const Topology topology = topology_of(parameters, comm);
    if (parameters.run.mode == Mode::network) return {network_dry_run_text(parameters, comm, topology), ""};
    if (parameters.run.mode == Mode::spmv) return dry_run_of_matrix(parameters, comm, topology);
    const int ranks = ranks_of(parameters, comm);
    const Layout finest = finest_layout(parameters, ranks, comm.rank());
    const auto model = model_of(parameters);
    const auto tables = plan_all_schemes(parameters, finest, {topology, model ? &*model : nullptr});
    const bool solves = parameters.run.mode != Mode::exchange;
    const double fields = comm.max(
        solves ? static_cast<double>(predicted_bytes(parameters, finest, topology, schemes_by_level(tables)))
               : 0.0);
    const double arrays = comm.max(static_cast<double>(array_bytes(parameters, finest)));
    if (comm.rank() > 0) return {};

    std::string text = fmt::format("{} ranks, {}\n", ranks, topology.describe());
    const bool imagined = ranks != comm.size();
    if (topology.nodes() > 1 && !imagined) text += fmt::format("nodes {}\n", topology.map());
    for (const std::string& warning : topology.warnings()) text += fmt::format("warning: {}\n", warning);
    text += levels_text(parameters, tables, ranks);
    if (solves) text += solvers_text(parameters);
    text += fmt::format(
        "messages and bytes: sent by the busiest rank in one exchange of ghost cells of {} field{}{}\n",
        parameters.problem.columns, parameters.problem.columns == 1 ? "" : "s",
        tables.front().chosen ? "" : ", by the standard scheme");
    if (solves)
        text +=
            fmt::format("memory: {} a rank at its peak (the grids alone, without ghosts and padding: {}){}\n",
                        megabytes(fields), megabytes(arrays),
                        imagined ? fmt::format("; of the first {} ranks", comm.size()) : "");
    if (!schemes_matter(parameters, topology)) return {text, ""};
    text += "\n";
    if (tables.front().chosen) text += choices_text(parameters, tables, {}) + "\n";
    return {text + scheme_tables_text(tables), scheme_json_lines(parameters, tables)};
}

}  // namespace keel
