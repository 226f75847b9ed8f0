// keel --dry-run of run.mode = spmv.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "comm/plans/negotiation.hpp"
#include "miniapp/report/report.hpp"
#include "miniapp/setup/machine_facts.hpp"
#include "miniapp/setup/memory.hpp"
#include "miniapp/setup/simulation.hpp"
#include "miniapp/studies/spmv/matrix_memory.hpp"
#include "miniapp/studies/spmv/matrix_schemes.hpp"
#include "miniapp/studies/spmv/matrix_source.hpp"

namespace keel {
namespace {

// Of the rank that has most, and of all.
struct Count {
    double most = 0;
    double all = 0;

    void add(std::size_t one) {
        most = std::max(most, static_cast<double>(one));
        all += static_cast<double>(one);
    }
};

struct Findings {
    Count rows, entries, ghosts;
    std::vector<SchemeTable> schemes;  // of products first
    double memory = 0;                 // of the rank that needs most
    double arrays = 0;                 // the matrix and the vectors alone
    std::string of_whom{};             // that memory is, if of one rank
};
using Complaint = std::string;

// By all ranks that there are, each for its own rows.
std::variant<Findings, Complaint> negotiated(const Parameters& p, const Communicator& comm,
                                             const Topology& topology, const MatrixSize& size) {
    // Planning takes the pattern of every row.
    if (auto complaint = exceeds_memory(p, comm.size(), most_ranks_per_node(detect_topology(comm)),
                                        comm.min(memory_of_node()), "node"))
        return *complaint;
    const RowPartition partition{size.rows, comm.size()};
    const GlobalRows rows = read_matrix(p, partition, comm.rank());
    const VectorPart part{partition, comm.rank(), ghosts_of(partition, comm.rank(), rows.columns)};
    const auto count = [&](std::size_t mine) {
        const auto value = static_cast<double>(mine);
        return Count{comm.max(value), comm.sum(value)};
    };
    Findings found{count(rows.rows()), count(rows.columns.size()), count(part.ghosts.size()),
                   compare_schemes(p, comm, part, topology)};
    if (!tries_schemes(p)) choose_schemes(p, comm, found.schemes);
    const Plan plan =
        negotiate_plan(comm, topology, part.ghosts, schemes_of_matrix(p, found.schemes).products);
    const MatrixPart mine = part_of(rows, part.ghosts.size(), plan, comm.rank(), topology);
    found.memory = comm.max(static_cast<double>(predicted_bytes(p, mine)));
    found.arrays = comm.max(static_cast<double>(array_bytes(p, mine)));
    return found;
}

GlobalRows rows_of(const GlobalRows& all, const RowPartition& partition, int rank) {
    const auto first = static_cast<std::size_t>(partition.first(rank));
    GlobalRows rows;
    for (std::size_t r = first; r < first + partition.size(rank); ++r) {
        rows.columns.insert(rows.columns.end(), all.columns.begin() + all.first[r],
                            all.columns.begin() + all.first[r + 1]);
        rows.first.push_back(static_cast<std::int64_t>(rows.columns.size()));
    }
    return rows;
}

// By this rank alone, for ranks that are not there.
std::variant<Findings, Complaint> imagined(const Parameters& p, const Topology& topology,
                                           const MatrixSize& size) {
    const int ranks = topology.ranks();
    const double available = memory_of_node() / 2;  // others need some too
    double needed = bytes_to_read(p, size);
    const auto too_large = [&](const std::string& what) {
        return fmt::format(
            "to plan for {} ranks that are not here, one rank holds {}: {:.1f} GB and more of {:.1f} GB, "
            "half "
            "of this node; choose fewer rows, or start {} ranks",
            ranks, what, needed * 1e-9, available * 1e-9, ranks);
    };
    if (needed > available) return too_large("the matrix");
    const RowPartition partition{size.rows, ranks};
    std::vector<Request> requests;
    Findings found;
    GlobalRows largest;
    int rank_of_largest = 0;
    std::size_t ghosts_of_largest = 0;
    {
        const GlobalRows all = read_matrix(p, ranks, 0, static_cast<std::size_t>(size.rows));
        for (int rank = 0; rank < ranks; ++rank) {
            GlobalRows rows = rows_of(all, partition, rank);
            const std::vector<Item> ghosts = ghosts_of(partition, rank, rows.columns);
            needed += static_cast<double>(ghosts.size() * bytes_to_plan_a_request);
            if (needed > available) return too_large("what all need of each other");
            for (const Item& item : ghosts) requests.push_back({item, rank});
            found.rows.add(rows.rows());
            found.entries.add(rows.columns.size());
            found.ghosts.add(ghosts.size());
            if (rank > 0 && rows.columns.size() <= largest.columns.size()) continue;
            largest = std::move(rows);
            rank_of_largest = rank;
            ghosts_of_largest = ghosts.size();
        }
    }
    const ListedPattern pattern(std::move(requests));
    const auto model = model_of(p);
    found.schemes = plan_all_schemes(p, partition, pattern, {topology, model ? &*model : nullptr});
    const Plan plan =
        make_plan(pattern, topology, schemes_of_matrix(p, found.schemes).products, rank_of_largest);
    const MatrixPart part = part_of(largest, ghosts_of_largest, plan, rank_of_largest, topology);
    found.memory = static_cast<double>(predicted_bytes(p, part));
    found.arrays = static_cast<double>(array_bytes(p, part));
    found.of_whom = fmt::format("; of rank {}, which has most entries", rank_of_largest);
    return found;
}

std::string findings_text(const Parameters& p, const Findings& found) {
    std::string text = fmt::format("{:<24} {:>14} {:>16}\n", "", "most of a rank", "all ranks");
    const auto line = [&](const char* name, const Count& count) {
        text += fmt::format("{:<24} {:>14.0f} {:>16.0f}\n", name, count.most, count.all);
    };
    line("rows", found.rows);
    line("entries", found.entries);
    line("ghost entries", found.ghosts);
    const SchemeTable& products = found.schemes.front();
    const SchemeRow& row = products.rows[products.chosen.value_or(0)];
    const auto sent = [&](const char* name, double Volume::*number) {
        line(name, {row.most_sent.*number, row.all.*number});
    };
    sent("messages a product", &Volume::messages);
    sent("  of them off node", &Volume::off_node_messages);
    sent("bytes a product", &Volume::bytes);
    sent("  of them off node", &Volume::off_node_bytes);
    return text + fmt::format(
                      "messages and bytes: sent in one product of {} column{} by the scheme {}\n"
                      "memory: {} a rank at its peak (the matrix and the vectors alone: {}){}\n",
                      p.problem.columns, p.problem.columns == 1 ? "" : "s", name(row.scheme),
                      megabytes(found.memory), megabytes(found.arrays), found.of_whom);
}

}  // namespace

DryRun dry_run_of_matrix(const Parameters& p, const Communicator& comm, const Topology& topology) {
    const int ranks = ranks_of(p, comm);
    const bool there = ranks == comm.size();
    if (!there && comm.rank() > 0) return {};
    const MatrixSize size = matrix_size(p, ranks);
    const auto result = there ? negotiated(p, comm, topology, size) : imagined(p, topology, size);
    if (comm.rank() > 0) return {};

    std::string text = fmt::format("{} ranks, {}\n", ranks, topology.describe());
    if (topology.nodes() > 1 && there) text += fmt::format("nodes {}\n", topology.map());
    for (const std::string& warning : topology.warnings()) text += fmt::format("warning: {}\n", warning);
    if (const auto* complaint = std::get_if<Complaint>(&result))
        return {text + fmt::format(
                           "matrix {}: {} rows, {:.0f} entries; too large here to plan messages for: {}\n",
                           p.problem.matrix, size.rows, size.entries, *complaint),
                ""};
    const auto& found = std::get<Findings>(result);
    text += fmt::format("matrix {}\n", p.problem.matrix) + findings_text(p, found);
    if (!schemes_matter(p, topology)) return {text, ""};
    text += "\n";
    if (found.schemes.front().chosen) text += choices_text(p, found.schemes, {}) + "\n";
    return {text + scheme_tables_text(found.schemes), scheme_json_lines(p, found.schemes)};
}

}  // namespace keel
