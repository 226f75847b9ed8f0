#include <fmt/format.h>

#include "comm/negotiation.hpp"
#include "miniapp/machine_facts.hpp"
#include "miniapp/matrix_memory.hpp"
#include "miniapp/matrix_source.hpp"
#include "miniapp/memory.hpp"
#include "miniapp/report.hpp"
#include "miniapp/simulation.hpp"

namespace keel {

std::string spmv_dry_run_text(const Parameters& p, const Communicator& comm, const Topology& topology) {
    const MatrixSize size = matrix_size(p, comm.size());
    std::string text = fmt::format("{} ranks, {}\n", comm.size(), topology.describe());
    if (topology.nodes() > 1) text += fmt::format("nodes {}\n", topology.map());
    for (const std::string& warning : topology.warnings()) text += fmt::format("warning: {}\n", warning);
    // Planning takes the pattern of every row.
    const auto too_large = exceeds_memory(p, comm.size(), most_ranks_per_node(detect_topology(comm)),
                                          comm.min(memory_of_node()), "node");
    if (too_large)
        return text +
               fmt::format("matrix {}: {} rows, {:.0f} entries; too large here to plan messages for: {}\n",
                           p.problem.matrix, size.rows, size.entries, *too_large);

    const RowPartition partition{size.rows, comm.size()};
    const GlobalRows rows = read_matrix(p, partition, comm.rank());
    const std::vector<Item> ghosts = ghosts_of(partition, comm.rank(), rows);
    const auto line = [&](const char* name, std::size_t mine) {
        const auto value = static_cast<double>(mine);
        text += fmt::format("{:<16} {:>14.0f} {:>16.0f}\n", name, comm.max(value), comm.sum(value));
    };
    text +=
        fmt::format("matrix {}\n{:<16} {:>14} {:>16}\n", p.problem.matrix, "", "most of a rank", "all ranks");
    line("rows", rows.rows());
    line("entries", rows.columns.size());
    line("ghost entries", ghosts.size());

    text += fmt::format("{:<11} {:>18} {:>22} {:>18} {:>22}\n", "", "messages", "bytes", "off-node messages",
                        "off-node bytes");
    const auto cell = [](long busiest, long all, int width) {
        return fmt::format(" {:>{}}", fmt::format("{} / {}", busiest, all), width);
    };
    const auto columns = static_cast<std::size_t>(p.problem.columns);
    SchemeOptions options = hierarchy_options(p).scheme;
    const Scheme chosen = options.scheme;
    double memory = 0;
    double arrays = 0;
    constexpr std::pair<const char*, Scheme> schemes[] = {{"standard", Scheme::standard},
                                                          {"two_step", Scheme::two_step},
                                                          {"three_step", Scheme::three_step},
                                                          {"split", Scheme::split}};
    for (const auto& [name, scheme] : schemes) {
        options.scheme = scheme;
        const Plan plan = negotiate_plan(comm, topology, ghosts, options);
        const auto [busiest, all] = over_ranks(comm, plan.traffic(comm.rank(), topology, columns));
        text += fmt::format("{:<11}{}{}{}{}\n", name, cell(busiest.messages, all.messages, 18),
                            cell(busiest.bytes, all.bytes, 22),
                            cell(busiest.off_node_messages, all.off_node_messages, 18),
                            cell(busiest.off_node_bytes, all.off_node_bytes, 22));
        if (scheme != chosen) continue;
        const MatrixPart part = part_of(rows, ghosts.size(), plan, comm.rank(), topology);
        memory = comm.max(static_cast<double>(predicted_bytes(p, part)));
        arrays = comm.max(static_cast<double>(array_bytes(p, part)));
    }
    text += "messages and bytes: sent in one product of all columns, by the busiest rank / by all\n";
    return text + fmt::format("memory: {} a rank at its peak (the matrix and the vectors alone: {})\n",
                              megabytes(memory), megabytes(arrays));
}

}  // namespace keel
