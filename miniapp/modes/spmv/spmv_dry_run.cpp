// keel --dry-run of run.mode = spmv.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "comm/plans/negotiation.hpp"
#include "miniapp/deck/text/text.hpp"
#include "miniapp/modes/spmv/amg/virtual_amg.hpp"
#include "miniapp/modes/spmv/matrix_schemes.hpp"
#include "miniapp/modes/spmv/spmv_mode.hpp"
#include "miniapp/report/records/records.hpp"
#include "miniapp/schemes/amg_schemes.hpp"
#include "miniapp/setup/machine/memory.hpp"

namespace keel {
namespace {

struct Sizes {
    MatrixCounts counts = {};
    std::vector<SchemeTable> schemes = {};  // products first
    double memory = 0;                      // of the rank that needs most
    double arrays = 0;                      // the matrix and the vectors alone
    std::string of_whom = {};               // that memory is, if of one rank
    std::optional<VirtualAmg> amg = {};
    Prediction prediction = {};
    std::string refusal = {};  // not empty: why there is nothing else
};

// The sizes by all ranks that there are, each for its own rows.
Sizes negotiated(const MatrixUse& use, const Resolved& resolved, const Communicator& comm,
                 const MatrixSize& size) {
    const Topology& topology = resolved.topology;
    const RowPartition partition{size.rows, comm.size()};
    const GlobalRows rows = read_matrix(use.matrix, partition, comm);
    const VectorPart part{partition, comm.rank(), ghosts_of(partition, comm.rank(), rows.columns)};
    Sizes found{{count_over(comm, rows.rows()), count_over(comm, rows.columns.size()),
                 count_over(comm, part.ghosts.size())},
                compare_schemes(use, resolved, comm, part)};
    if (!tries_schemes(resolved.comm.chooser)) choose_schemes(resolved.comm, comm, found.schemes);
    const Plan plan = negotiate_plan(comm, topology, part.ghosts,
                                     schemes_of_matrix(resolved.comm.scheme, found.schemes).products);
    const MatrixPart mine = part_of(rows.rows(), rows.columns.size(),
                                    ghosts_by_rank(comm, part.ghosts.size()), plan, comm.rank(), topology);
    found.memory = comm.max(static_cast<double>(predicted_bytes(use, mine)));
    found.arrays = comm.max(static_cast<double>(array_bytes(use, mine)));
    if (use.solver)
        found.prediction.why_not =
            predicts(resolved) ? " where each rank has its own rows; start one rank, with problem.ranks"
                               : why_no_machine_computes(resolved);
    return found;
}

// Why one rank has not the memory to plan for all the others.
std::string too_large(const MatrixUse& use, const MatrixSize& size, int ranks, const std::string& what,
                      double needed, const SharedMemory& memory) {
    return fmt::format(
        "problem.matrix = \"{}\", {} rows, {:.0f} entries: to plan for {} ranks that are not here, one rank "
        "holds {}: {} and more of {}, half of this node; choose fewer rows, or start {} ranks",
        use.matrix.options.matrix, size.rows, size.entries, ranks, what, bytes_text(needed),
        bytes_text(memory.to_plan_with()), ranks);
}
// The same of what a dry run may take; empty if it may.
std::string why_not_planned(const DryRunLimit& limit, const DryRunCost& cost, const MatrixUse& use,
                            const MatrixSize& size, int ranks) {
    const std::string exceeded = limit.exceeded_by(cost, "fewer rows or ranks");
    if (exceeded.empty()) return "";
    return fmt::format("problem.matrix = \"{}\", {} rows, {:.0f} entries on {} ranks that are not here: {}",
                       use.matrix.options.matrix, size.rows, size.entries, ranks, exceeded);
}

// The cost without solves, where ranks need `requests` rows of each other.
DryRunCost cost_of(const MatrixUse& use, const MatrixSize& size, double requests, double ranks) {
    DryRunCost cost = cost_of_entries(static_cast<double>(size.rows), size.entries, ranks);
    const DryRunCost of_one = cost_of_requests(requests);
    cost += {static_cast<double>(candidates_without_axes({}).size()) * of_one.seconds,
             bytes_to_read(use, size) + of_one.bytes};
    if (use.uses_amg()) cost += cost_of_amg(size.entries);
    return cost;
}

// Rows that ranks need of each other, by sizes alone; 0 where only the matrix tells.
double requests_of(const MatrixUse& use, const MatrixSize& size, double ranks) {
    const MatrixOptions& options = use.matrix.options;
    const auto rows = static_cast<double>(size.rows);
    const bool grid = options.matrix == grid_matrix;
    if (is_matrix_file(options.matrix) || options.ordering == Ordering::rcm || grid) return 0;
    const double off_diagonal = ranks > 1 ? size.entries - rows : 0;
    if (options.matrix == "arrow") return std::min(off_diagonal, rows + ranks);
    if (options.matrix == "random" || options.ordering == Ordering::random) return off_diagonal;
    if (options.matrix == "banded") return std::min(off_diagonal, 2.0 * options.row_entries * ranks);
    if (options.matrix == "diagonal") return 0;
    // A slice of rows needs a row of cells on each side, and a plane, or as much of these as it is long.
    const Index& cells = use.matrix.cells;
    const double own = rows / ranks;
    const double row = is_square(options.matrix) ? std::sqrt(rows) : cells[0];
    const double plane = row * cells[1];
    const bool all = options.matrix == "stencil27";
    const bool planes = options.matrix.starts_with("stencil") && !is_square(options.matrix) && cells[2] > 1;
    const double of_planes = planes ? std::min(plane + (all ? row + 1 : 0), (all ? 3 : 1) * own) : 0;
    return std::min(off_diagonal, 2 * ranks * (1 + std::min(row, own) + of_planes));
}

// From the plans that were made, and a proxy solve.
Prediction predict(const MatrixUse& use, const Resolved& resolved, const MatrixSize& size, const Sizes& found,
                   const GlobalRows& all, const Pattern& pattern) {
    if (const std::optional<VirtualAmg>& amg = found.amg)
        return predict(use, resolved, size, *amg->proxy, amg->plans, &*amg->coarsest_ranks);
    const MatrixPart most{static_cast<std::size_t>(found.counts.rows.most),
                          static_cast<std::size_t>(found.counts.nonzeros.most)};
    const SchemeOptions scheme = schemes_of_matrix(resolved.comm.scheme, found.schemes).solves;
    std::vector<ExchangePlan> plans;
    plans.push_back({0,
                     VectorEntries::Use::solve,
                     scheme,
                     Representatives::themselves(block_layout(1), resolved.topology),
                     {}});
    plans.front().plans.push_back(make_plan(pattern, resolved.topology, scheme, {}));
    return predict(use, resolved, size, proxy_solve(use, all, most), plans, nullptr);
}

// The sizes of virtual ranks, by this rank alone.
Sizes planned_here(const MatrixUse& use, const Resolved& resolved, const MatrixSize& size,
                   const SharedMemory& memory, Progress& progress) {
    const Topology& topology = resolved.topology;
    const int ranks = topology.ranks();
    double needed = bytes_to_read(use, size);
    const RowPartition partition{size.rows, ranks};
    std::vector<Request> requests;
    Sizes found;
    int largest = 0;                   // the rank with most entries
    std::vector<std::int64_t> ghosts;  // by rank
    const double available = memory.to_plan_with();
    const bool asked = predicts(resolved) && use.solver;
    progress.say("making the matrix");
    GlobalRows all = read_whole_matrix(use.matrix);
    if (use.uses_amg() && use.amg.is_independent_of_ranks())
        found.amg = plan_virtual_amg(use.amg, resolved, all, available - needed, is_singular(use.matrix),
                                     asked ? &use : nullptr);
    for (int rank = 0; rank < ranks; ++rank) {
        const std::span columns = columns_of(all, partition.first(rank), partition.size(rank));
        const std::vector<Item> needs = ghosts_of(partition, rank, columns);
        ghosts.push_back(static_cast<std::int64_t>(needs.size()));
        needed += static_cast<double>(needs.size()) * bytes_to_plan_a_request;
        if (needed > memory.to_plan_with())
            return {.refusal = too_large(use, size, ranks, "what all need of each other", needed, memory)};
        for (const Item& item : needs) requests.push_back({item, rank});
        const DryRunCost cost = cost_of(use, size, static_cast<double>(requests.size()), ranks);
        if (const std::string reason = why_not_planned(memory.limit, cost, use, size, ranks); !reason.empty())
            return {.refusal = reason};
        if (static_cast<double>(columns.size()) > found.counts.nonzeros.most) largest = rank;
        found.counts.rows.add(partition.size(rank));
        found.counts.nonzeros.add(columns.size());
        found.counts.ghosts.add(needs.size());
    }
    if (asked)
        found.prediction.why_not =
            found.amg        ? why_not_predicted(*found.amg)
            : use.uses_amg() ? " of a hierarchy that depends on ranks; choose amg.coarsening = \"pmis\" or "
                               "\"aggregation\""
                             : why_not_predicted(use, size, available - needed, memory.limit);
    else if (use.solver)
        found.prediction.why_not = why_no_machine_computes(resolved);
    const bool predicted = asked && found.prediction.why_not.empty();
    if (!predicted || found.amg) all = {};
    progress.say("planning messages");
    const ListedPattern pattern(std::move(requests));
    found.schemes = plan_all_schemes(use, resolved, partition, pattern);
    const MatrixSchemes schemes = schemes_of_matrix(resolved.comm.scheme, found.schemes);
    const Plan plan = make_plan(pattern, topology, schemes.products, largest);
    const MatrixPart part =
        part_of(partition.size(largest), static_cast<std::size_t>(found.counts.nonzeros.most), ghosts, plan,
                largest, topology);
    found.memory = static_cast<double>(predicted_bytes(use, part));
    found.arrays = static_cast<double>(array_bytes(use, part));
    found.of_whom = fmt::format("; of rank {}, which has most entries", largest);
    if (predicted) found.prediction = predict(use, resolved, size, found, all, pattern);
    return found;
}

std::string sizes_text(const MatrixUse& use, const Sizes& found) {
    const SchemeTable& products = found.schemes.front();
    const SchemeRow& row = products.rows[products.chosen.value_or(0)];
    return counts_text(found.counts, row.most_sent, row.all) +
           fmt::format(
               "messages and bytes: sent in one product of {} by the scheme {}\n"
               "memory: {} a rank at its peak, {} of them matrix and vectors{}\n",
               counted(use.columns, "column"), name(row.scheme), bytes_text(found.memory),
               bytes_text(found.arrays), found.of_whom);
}

Json json_of(const Count& count) {
    return {{"most", count.most}, {"all", count.all}};
}

Json plan_json(const MatrixUse& use, const MatrixSize& size, const Sizes& found) {
    const SchemeTable& products = found.schemes.front();
    const SchemeRow& row = products.rows[products.chosen.value_or(0)];
    Json plan{{"matrix", use.matrix.options.matrix},   {"unknowns", size.rows},
              {"array_bytes", found.arrays},           {"predicted_bytes", found.memory},
              {"busiest", volume_json(row.most_sent)}, {"all", volume_json(row.all)},
              {"rows", json_of(found.counts.rows)},    {"entries", json_of(found.counts.nonzeros)},
              {"ghosts", json_of(found.counts.ghosts)}};
    if (found.amg && found.amg->missing.empty() && !found.amg->levels.empty())
        plan["amg_coarsest"] = coarsest_json(found.amg->coarsest);
    return plan;
}

}  // namespace

std::string PreparedSpmv::exceeds_planning(const SharedMemory& shared) const {
    if (!resolved_.has_virtual_ranks()) return "";
    const SharedMemory memory{shared.bytes, 1, shared.where, shared.limit};
    const MatrixSize size = matrix_size(use_.matrix);
    const double ranks = resolved_.ranks;
    const DryRunCost cost = cost_of(use_, size, requests_of(use_, size, ranks), ranks);
    if (std::string reason = why_not_planned(memory.limit, cost, use_, size, resolved_.ranks);
        !reason.empty())
        return reason;
    const double read = bytes_to_read(use_, size);
    return read <= memory.to_plan_with() ? ""
                                         : too_large(use_, size, resolved_.ranks, "the matrix", read, memory);
}

DryRun PreparedSpmv::dry_run(const Communicator& comm, const SharedMemory& memory, Progress& progress) const {
    if (resolved_.has_virtual_ranks() && comm.rank() > 0) return {};
    const MatrixSize size = matrix_size(use_.matrix);
    const SharedMemory of_one{memory.bytes, 1, memory.where, memory.limit};
    const Sizes found = resolved_.has_virtual_ranks() ? planned_here(use_, resolved_, size, of_one, progress)
                                                      : negotiated(use_, resolved_, comm, size);
    if (comm.rank() > 0) return {};
    if (!found.refusal.empty()) return {.refusal = found.refusal};
    if (const std::string refusal = too_long_for_mpi(found.schemes); !refusal.empty())
        return {.refusal = refusal};
    std::string text = fmt::format("matrix {}\n", use_.matrix.options.matrix) + sizes_text(use_, found);
    std::string amg_schemes;
    if (found.amg) {
        text += "\n" + virtual_amg_text(*found.amg, use_.amg);
        for (const SchemeTable& table : found.amg->exchanges)
            amg_schemes += scheme_records(
                communication_for(table.use.entries()->use, resolved_.comm, use_.amg).chooser, {table});
    }
    std::string records;
    if (schemes_matter(resolved_)) {
        const SchemeChooser chooser = resolved_.comm.chooser;
        text += "\n" + schemes_text(chooser, found.schemes, {}, 0);
        records = scheme_records(chooser, found.schemes);
    }
    records += amg_schemes;
    text += prediction_text(found.prediction, resolved_);
    records += prediction_records(found.prediction, resolved_);
    return {text, plan_json(use_, size, found).dump(), records};
}

}  // namespace keel
