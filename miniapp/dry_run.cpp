#include "miniapp/dry_run.hpp"

#include <fmt/format.h>

#include "comm/ghosts.hpp"
#include "comm/plan.hpp"
#include "miniapp/memory.hpp"
#include "miniapp/report.hpp"
#include "solvers/smoother.hpp"

namespace keel {

std::string dry_run_text(const Parameters& parameters, const Communicator& comm) {
    const Topology topology = topology_of(parameters, comm);
    const HierarchyOptions options = hierarchy_options(parameters);
    const auto& multigrid = parameters.multigrid;
    Layout layout = finest_layout(parameters, comm.size(), comm.rank());
    const double fields = comm.max(static_cast<double>(predicted_bytes(parameters, layout)));
    const double arrays = comm.max(static_cast<double>(array_bytes(parameters, layout)));

    std::string text = fmt::format("{} ranks, {}\n", comm.size(), topology.describe());
    text += fmt::format("{:>5} {:>16} {:>8} {:>11} {:>10} {:>10} {:>12} {:>10} {:>10}\n", "level", "cells",
                        "boxes of", "boxes/rank", "exchanges", "messages", "bytes", "off-node", "off-node");
    text += fmt::format("{:>5} {:>16} {:>8} {:>11} {:>10} {:>10} {:>12} {:>10} {:>10}\n", "", "", "",
                        "at most", "per V-cycle", "each", "each", "messages", "bytes");
    const auto widths = level_widths(layout.width(), multigrid.bottom_box);
    for (std::size_t l = 0; l < widths.size(); ++l) {
        if (l > 0) layout = layout.coarsened();
        const Index n = layout.cells();
        const auto row = [&](int depth, Neighbours neighbours, const std::string& exchanges) {
            const Traffic traffic =
                plan_standard(ghost_pattern(layout, depth, neighbours)).traffic(topology, 1);
            const auto most = [&](long value) { return comm.max(static_cast<double>(value)); };
            text += fmt::format(
                "{:>5} {:>16} {:>8} {:>11.0f} {:>10} {:>10.0f} {:>12.0f} {:>10.0f} {:>10.0f}\n", l,
                fmt::format("{}x{}x{}", n[0], n[1], n[2]), fmt::format("{}^3", widths[l]),
                most(layout.local_count()), exchanges, most(traffic.messages), most(traffic.bytes),
                most(traffic.off_node_messages), most(traffic.off_node_bytes));
        };
        // Smoothing and the residual that is restricted; the bottom's exchanges depend on its iterations.
        const int exchanges = exchanges_of(multigrid.smoother, multigrid.pre) +
                              exchanges_of(multigrid.smoother, multigrid.post) + 1 + (l == 0 ? 1 : 0);
        row(options.ghost_depth, options.neighbours,
            l + 1 == widths.size() ? "bottom" : std::to_string(exchanges));
        // All 26 neighbours before a linear interpolation.
        if (l > 0 && multigrid.interpolation == Interpolation::linear) row(1, Neighbours::all, "1");
    }
    text += "messages and bytes: sent by the busiest rank in one exchange of ghost cells of one field\n";
    text += fmt::format("memory: {} a rank at its peak (the grids alone, without ghosts and padding: {})\n",
                        megabytes(fields), megabytes(arrays));
    return text;
}

}  // namespace keel
