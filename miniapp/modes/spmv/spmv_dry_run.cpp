// keel --dry-run of run.mode = spmv.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

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
    int largest = 0;                        // the rank with most entries
    double memory = 0;                      // its
    double arrays = 0;                      // the matrix and the vectors alone
    std::optional<VirtualAmg> amg = {};
    Prediction prediction = {};
    std::string refusal = {};  // not empty: why there is nothing else
};

// Why a dry run may not take so much; empty if it may.
std::string why_not_planned(const DryRunLimit& limit, const DryRunCost& cost, const MatrixUse& use,
                            const MatrixSize& size, int ranks) {
    const std::string exceeded = limit.exceeded_by(cost, "fewer rows or ranks");
    if (exceeded.empty()) return "";
    return fmt::format("problem.matrix = \"{}\", {} rows, {:.0f} entries on {}: {}",
                       use.matrix.options.matrix, size.rows, size.entries, counted(ranks, "rank"), exceeded);
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

// From the plans that were made, and a proxy solve.
Prediction predict(const MatrixUse& use, const Resolved& resolved, const MatrixSize& size, const Sizes& found,
                   const GlobalRows& all, const Pattern& pattern) {
    if (const std::optional<VirtualAmg>& amg = found.amg)
        return predict(use, resolved, size, *amg->proxy, amg->setup, amg->plans, &*amg->coarsest_ranks);
    const auto& [rows, entries, ghosts] = found.counts;
    const MostOfLevel most{
        .entries = entries.most, .rows = rows.most, .all_entries = entries.all, .all_rows = rows.all};
    const SchemeOptions scheme = schemes_of_matrix(resolved.comm.scheme, found.schemes).solves;
    std::vector<ExchangePlan> plans;
    plans.push_back({0,
                     VectorEntries::Use::solve,
                     scheme,
                     Representatives::themselves(block_layout(1), resolved.topology),
                     {}});
    plans.front().plans.push_back(make_plan(pattern, resolved.topology, scheme, {}));
    return predict(use, resolved, size, proxy_solve(use, all, most), {}, plans, nullptr);
}

// The sizes of all ranks, virtual ones too, by this rank alone.
Sizes planned_here(const MatrixUse& use, const Resolved& resolved, const MatrixSize& size,
                   const DryRunLimit& limit, Progress& progress) {
    const Topology& topology = resolved.topology;
    const int ranks = topology.ranks();
    const double available = limit.bytes_here - bytes_to_read(use, size);
    const RowPartition partition = owners_of_rows(use.matrix, topology);
    std::vector<Request> requests;
    Sizes found;
    std::vector<std::int64_t> ghosts;  // by rank
    const bool asked = predicts(resolved) && use.solver;
    progress.say("making the matrix");
    GlobalRows all = read_whole_matrix(use.matrix);
    if (use.uses_amg())
        found.amg = plan_virtual_amg(use.amg, resolved, partition, all, available, use.matrix,
                                     asked ? &use : nullptr);
    for (int rank = 0; rank < ranks; ++rank) {
        const std::span columns = columns_of(all, partition.first(rank), partition.size(rank));
        const std::vector<Item> needs = ghosts_of(partition, rank, columns);
        ghosts.push_back(static_cast<std::int64_t>(needs.size()));
        for (const Item& item : needs) requests.push_back({item, rank});
        const DryRunCost cost = cost_of(use, size, static_cast<double>(requests.size()), ranks);
        if (const std::string reason = why_not_planned(limit, cost, use, size, ranks); !reason.empty())
            return {.refusal = reason};
        if (static_cast<double>(columns.size()) > found.counts.nonzeros.most) found.largest = rank;
        found.counts.rows.add(partition.size(rank));
        found.counts.nonzeros.add(columns.size());
        found.counts.ghosts.add(needs.size());
    }
    if (asked)
        found.prediction.why_not =
            found.amg              ? why_not_predicted(*found.amg)
            : use.factors_blocks() ? " of a preconditioner whose blocks are the rows of each rank; choose "
                                     "bottom.preconditioner = \"amg\" or \"none\""
                                   : why_not_predicted(use, size, limit);
    else if (use.solver)
        found.prediction.why_not = why_no_machine_computes(resolved);
    const bool predicted = asked && found.prediction.why_not.empty();
    if (!predicted || found.amg) all = {};
    progress.say("planning messages");
    const ListedPattern pattern(std::move(requests));
    found.schemes = plan_all_schemes(use, resolved, partition, pattern);
    const MatrixSchemes schemes = schemes_of_matrix(resolved.comm.scheme, found.schemes);
    const Plan plan = make_plan(pattern, topology, schemes.products, found.largest);
    const MatrixPart part =
        part_of(partition.size(found.largest), static_cast<std::size_t>(found.counts.nonzeros.most), ghosts,
                plan, found.largest, topology, use.columns);
    found.memory = static_cast<double>(predicted_bytes(use, part));
    found.arrays = array_bytes(use, {static_cast<std::int64_t>(part.rows), found.counts.nonzeros.most});
    if (predicted) found.prediction = predict(use, resolved, size, found, all, pattern);
    return found;
}

std::string sizes_text(const MatrixUse& use, const Sizes& found) {
    const SchemeTable& products = found.schemes.front();
    const SchemeRow& row = products.rows[products.chosen.value_or(0)];
    return counts_text(found.counts, row.most_sent, row.all) +
           fmt::format(
               "messages and bytes: sent in one product of {} by the scheme {}\n"
               "memory: {} a rank at its peak, {} of them matrix and vectors; of rank {}, which has most "
               "entries\n",
               counted(use.columns, "column"), name(row.scheme), bytes_text(found.memory),
               bytes_text(found.arrays), found.largest);
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

// One rank plans for all, also where others share its node.
DryRunLimit limit_of_one(const SharedMemory& memory) {
    return SharedMemory{memory.bytes, 1, memory.where, memory.dry_run_limit}.limit();
}

}  // namespace

std::string PreparedSpmv::exceeds_planning(const SharedMemory& memory) const {
    const MatrixSize size = matrix_size(use_.matrix);
    const double ranks = resolved_.ranks;
    const DryRunCost cost = cost_of(use_, size, requests_of(use_, size, ranks), ranks);
    return why_not_planned(limit_of_one(memory), cost, use_, size, resolved_.ranks);
}

DryRun PreparedSpmv::dry_run(const Communicator& comm, const SharedMemory& memory, Progress& progress) const {
    if (comm.rank() > 0) return {};
    const MatrixSize size = matrix_size(use_.matrix);
    const Sizes found = planned_here(use_, resolved_, size, limit_of_one(memory), progress);
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
        text += "\n" + schemes_text(chooser, found.schemes, 0);
        records = scheme_records(chooser, found.schemes);
    }
    records += amg_schemes;
    text += prediction_text(found.prediction, resolved_);
    records += prediction_records(found.prediction, resolved_);
    return {text, json_text(plan_json(use_, size, found)), records};
}

}  // namespace keel
