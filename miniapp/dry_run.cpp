#include "miniapp/dry_run.hpp"

#include <fmt/format.h>

#include "comm/schemes.hpp"
#include "miniapp/memory.hpp"
#include "miniapp/report.hpp"
#include "solvers/bottom.hpp"
#include "solvers/smoother.hpp"

namespace keel {

namespace {

// What an iteration of each Krylov method costs, by the table of bottom solvers.
std::string solvers_text(const Parameters& parameters) {
    std::vector<Parameters::Contestant> solvers = parameters.contestants;
    if (solvers.empty()) solvers.push_back({parameters.bottom.solver, parameters.bottom});
    std::string text;
    for (const auto& [name, bottom] : solvers) {
        const BottomMethod& method = bottom_method(bottom.solver);
        text += fmt::format(
            "per iteration of {}: {:.4g} exchanges, {:.4g} all-reduces of {:.4g} words together{}\n", name,
            method.exchanges.of(bottom), method.reductions.of(bottom), method.words.of(bottom),
            parameters.run.preconditioner == MainPreconditioner::none ? ""
            : bottom.solver == "cg" ? "; one word more and 1 V-cycle by the preconditioner"
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

}  // namespace

std::string dry_run_text(const Parameters& parameters, const Communicator& comm) {
    const Topology topology = topology_of(parameters, comm);
    if (parameters.run.mode == Mode::network) return network_dry_run_text(parameters, comm, topology);
    if (parameters.run.mode == Mode::spmv) return spmv_dry_run_text(parameters, comm, topology);
    const HierarchyOptions options = hierarchy_options(parameters);
    const auto& multigrid = parameters.multigrid;
    Layout layout = finest_layout(parameters, comm.size(), comm.rank());
    const double fields = comm.max(static_cast<double>(predicted_bytes(parameters, layout, topology)));
    const double arrays = comm.max(static_cast<double>(array_bytes(parameters, layout)));

    std::string text = fmt::format("{} ranks, {}\n", comm.size(), topology.describe());
    if (topology.nodes() > 1) text += fmt::format("nodes {}\n", topology.map());
    for (const std::string& warning : topology.warnings()) text += fmt::format("warning: {}\n", warning);
    text += fmt::format("{:>5} {:>16} {:>8} {:>11} {:>10} {:>10} {:>12} {:>10} {:>10}\n", "level", "cells",
                        "boxes of", "boxes/rank", "exchanges", "messages", "bytes", "off-node", "off-node");
    text += fmt::format("{:>5} {:>16} {:>8} {:>11} {:>10} {:>10} {:>12} {:>10} {:>10}\n", "", "", "",
                        "at most", "per V-cycle", "each", "each", "messages", "bytes");
    const bool krylov = parameters.run.mode == Mode::krylov;
    const auto widths = level_widths(layout.width(), options.bottom_box);
    for (std::size_t l = 0; l < widths.size(); ++l) {
        if (l > 0) layout = layout.coarsened();
        const Index n = layout.cells();
        const auto row = [&](int depth, Neighbours neighbours, const std::string& exchanges) {
            const Traffic traffic = make_plan(ghost_pattern(layout, depth, neighbours, options.scheme),
                                              topology, options.scheme, comm.rank())
                                        .traffic(comm.rank(), topology, 1);
            const auto most = [&](long value) { return comm.max(static_cast<double>(value)); };
            text += fmt::format(
                "{:>5} {:>16} {:>8} {:>11.0f} {:>10} {:>10.0f} {:>12.0f} {:>10.0f} {:>10.0f}\n", l,
                fmt::format("{}x{}x{}", n[0], n[1], n[2]), fmt::format("{}^3", widths[l]),
                most(layout.local_count()), exchanges, most(traffic.messages), most(traffic.bytes),
                most(traffic.off_node_messages), most(traffic.off_node_bytes));
        };
        // Smoothing, the residual that is restricted and, on the finest level, the one of the stopping test; the bottom's
        // exchanges depend on its iterations.
        const int exchanges = exchanges_of(multigrid.smoother, multigrid.pre) +
                              exchanges_of(multigrid.smoother, multigrid.post) + 1 +
                              (l == 0 && !krylov ? 1 : 0);
        row(options.ghost_depth, options.neighbours,
            widths.size() == 1 && krylov ? "-"
            : l + 1 < widths.size()      ? std::to_string(exchanges)
            : krylov ? std::to_string(symmetric_exchanges_of(multigrid.smoother, parameters.bottom.sweeps))
                     : "bottom");
        if (l + 1 == widths.size() && options.bottom_ghosts > 0)
            row(options.bottom_ghosts, Neighbours::all, "powers");
        // All 26 neighbours before a linear interpolation.
        if (l > 0 && multigrid.interpolation == Interpolation::linear) row(1, Neighbours::all, "1");
    }
    text += solvers_text(parameters);
    text += "messages and bytes: sent by the busiest rank in one exchange of ghost cells of one field\n";
    text += fmt::format("memory: {} a rank at its peak (the grids alone, without ghosts and padding: {})\n",
                        megabytes(fields), megabytes(arrays));
    return text;
}

}  // namespace keel
