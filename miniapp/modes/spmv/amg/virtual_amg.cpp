#include "miniapp/modes/spmv/amg/virtual_amg.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "miniapp/deck/text/text.hpp"
#include "miniapp/modes/spmv/amg/return_plans.hpp"
#include "miniapp/report/amg/amg_findings.hpp"
#include "miniapp/schemes/amg_schemes.hpp"
#include "solvers/amg/coarsest/krylov.hpp"

namespace keel {
namespace {

// The columns that every rank needs of others, to multiply by its rows.
std::vector<std::vector<Item>> ghosts_of_all(const GlobalRows& matrix, const RowPartition& rows,
                                             const RowPartition& columns) {
    std::vector<std::vector<Item>> ghosts;
    for (int rank = 0; rank < rows.ranks; ++rank)
        ghosts.push_back(ghosts_of(columns, rank, columns_of(matrix, rows.first(rank), rows.size(rank))));
    return ghosts;
}
std::vector<Request> requests_for(const std::vector<std::vector<Item>>& ghosts) {
    std::vector<Request> requests;
    for (std::size_t rank = 0; rank < ghosts.size(); ++rank)
        for (const Item& item : ghosts[rank]) requests.push_back({item, static_cast<int>(rank)});
    return requests;
}
std::size_t count_of(const PartialColumns& parts) {
    std::size_t count = 0;
    for (const auto& of_rank : parts)
        for (const auto& part : of_rank) count += part.size();
    return count;
}

// The same, each item a row of P: a value and a column an entry. Empty rows do not travel.
std::vector<Request> with_rows(std::vector<Request> requests, const GlobalRows& P) {
    for (Request& request : requests) {
        const auto row = static_cast<std::size_t>(request.item.name);
        request.item.values = static_cast<int>(2 * (P.first[row + 1] - P.first[row]));
    }
    std::erase_if(requests, [](const Request& request) { return request.item.values == 0; });
    return requests;
}

// The partition of rows of the next level, if they live with their roots.
RowPartition by_roots(const RowPartition& rows, const Coarsening& next) {
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(rows.ranks));
    for (const std::int64_t root : next.roots)
        sizes[static_cast<std::size_t>(rows.owner(root))] += next.null.node;
    return partition_of(sizes);
}

// The shares of virtual ranks in the levels, as these are set up.
class VirtualAmgPlanner {
  public:
    // With `keeps_plans` those of the chosen schemes are kept.
    VirtualAmgPlanner(const Resolved& resolved, const RowPartition& finest, const AmgOptions& options,
                      double bytes, bool keeps_plans, VirtualAmg& amg)
        : resolved_(resolved),
          partition_(finest),
          options_(options),
          bytes_(bytes),
          keeps_plans_(keeps_plans),
          amg_(amg) {}

    // The exchanges of a level that is coarsened. The next one to share out is the next level.
    void plan(const PartRows& A, const Coarsening& next) {
        if (entries_of_finest_ == 0) entries_of_finest_ = static_cast<double>(A.places.size());
        const RowPartition roots = by_roots(partition_, next);
        const RowPartition coarse =
            options_.ownership == Ownership::condensed
                ? condensed_partition(roots, static_cast<double>(next.A.places.size()), entries_of_finest_,
                                      next.null.node)
                : roots;
        const GlobalRows& P = next.P.rows;
        std::vector<Request> ghosts = requests_for(ghosts_of_all(A.rows, partition_, partition_));
        const std::vector<std::vector<Item>> needed = ghosts_of_all(P, partition_, coarse);
        std::vector<Request> of_P = requests_for(needed);
        const auto both = static_cast<double>(std::max(ghosts.size(), of_P.size()));
        if (room_for(both * bytes_to_plan_a_request)) {
            using Use = VectorEntries::Use;
            std::vector<Request> rows = with_rows(ghosts, P);
            const ListedPattern of_A(std::move(ghosts));
            compare_all(Use::amg_values, of_A);
            compare_all(Use::amg_rows, ListedPattern(std::move(rows)));
            const SchemeTable& of_rows = amg_.exchanges.back();
            plan_and_keep(Use::amg_first_rows, of_A, of_rows.rows[of_rows.chosen.value_or(0)].scheme);
            const ListedPattern pattern(std::move(of_P));
            compare_all(Use::amg_transfers, pattern);
            const std::vector<SchemeRow> planned = amg_.exchanges.back().rows;
            const Chosen values{Use::amg_returns, chosen_for(Use::amg_transfers, planned)};
            if (options_.ownership != Ownership::condensed) {
                compare_returns(
                    pattern, P, A.rows, needed,
                    {values, {Use::amg_partial_rows, chosen_for(Use::amg_partial_rows, planned)}});
            } else {
                // Rows go home to the owners of roots, and from there to where they stay.
                const auto of_roots = ghosts_of_all(P, partition_, roots);
                const ListedPattern to_roots(requests_for(of_roots));
                const auto by = chosen_for(Use::amg_partial_rows, compared(to_roots));
                compare_returns(pattern, P, A.rows, needed, {values});
                compare_returns(to_roots, P, A.rows, of_roots, {{Use::amg_partial_rows, by}});
            }
        }
        MostOfLevel& most = most_.back();
        most.all_entries_of_P = static_cast<double>(P.columns.size());
        for (int rank = 0; rank < partition_.ranks; ++rank)
            most.entries_of_P = std::max(
                most.entries_of_P,
                static_cast<double>(columns_of(P, partition_.first(rank), partition_.size(rank)).size()));
        partition_ = coarse;
    }
    // The rows of a level.
    void share_out(const PartRows& A) {
        MostOfLevel& most = most_.emplace_back();
        most.all_entries = static_cast<double>(A.places.size());
        most.all_rows = static_cast<double>(partition_.rows);
        for (int rank = 0; rank < partition_.ranks; ++rank) {
            if (partition_.size(rank) == 0) continue;
            ++most.ranks;
            const std::size_t entries =
                columns_of(A.rows, partition_.first(rank), partition_.size(rank)).size();
            most.entries = std::max(most.entries, static_cast<double>(entries));
            most.rows = std::max(most.rows, static_cast<double>(partition_.size(rank)));
        }
    }
    // The exchanges of a level of which nothing coarser came: set-up looked for it.
    void plan_stalled(const PartRows& A) {
        std::vector<Request> ghosts = requests_for(ghosts_of_all(A.rows, partition_, partition_));
        if (!room_for(static_cast<double>(ghosts.size()) * bytes_to_plan_a_request)) return;
        using Use = VectorEntries::Use;
        const ListedPattern pattern(std::move(ghosts));
        for (const Use use : {Use::amg_values, Use::amg_first_rows, Use::amg_rows})
            plan_and_keep(use, pattern, without_axes(resolved_.comm.scheme));
    }
    // The products of the coarsest level by a Krylov method, on the ranks that have rows alone.
    void plan_coarsest(const PartRows& A) {
        std::vector<Request> everybody = requests_for(ghosts_of_all(A.rows, partition_, partition_));
        if (!room_for(2 * static_cast<double>(everybody.size()) * bytes_to_plan_a_request)) return;
        const std::vector<int> ranks = ranks_with_rows();
        std::vector<std::int64_t> sizes;
        for (const int rank : ranks) sizes.push_back(static_cast<std::int64_t>(partition_.size(rank)));
        const RowPartition owners = partition_of(sizes);
        const Topology topology = resolved_.topology.among(ranks);
        const ListedPattern pattern(requests_for(ghosts_of_all(A.rows, owners, owners)));
        SchemeTable table{.use = used_for(VectorEntries::Use::amg_values),
                          .rows = compare(pattern, schemes(), {topology, resolved_.model()})};
        // The scheme is chosen as on all levels, by what all ranks would send.
        table.chosen = chosen_before_run(resolved_.comm, compared(ListedPattern(std::move(everybody))));
        amg_.exchanges.push_back(std::move(table));
    }
    void finish(std::vector<AmgLevelFacts> facts) {
        for (std::size_t l = 0; l < facts.size(); ++l) {
            facts[l].ranks_with_rows = most_[l].ranks;
            facts[l].most_entries = most_[l].entries;
            facts[l].values_by =
                without_axes(resolved_.comm.scheme);  // also on the coarsest, which no table has
        }
        for (const SchemeTable& table : amg_.exchanges)
            if (table.chosen)
                if (SchemeOptions AmgLevelFacts::*const by = scheme_of(table.use.entries()->use))
                    facts[static_cast<std::size_t>(table.use.level)].*by = table.rows[*table.chosen].scheme;
        amg_.levels = std::move(facts);
        amg_.coarsest = coarsest_of(options_, partition_);
        amg_.coarsest_ranks = {resolved_.topology.among(ranks_with_rows()),
                               options_.coarsest == CoarsestRule::gathered};
    }
    const std::vector<MostOfLevel>& most() const { return most_; }
    const RowPartition& shares() const { return partition_; }  // in the last level that was met

  private:
    std::vector<int> ranks_with_rows() const {
        std::vector<int> ranks;
        for (int rank = 0; rank < partition_.ranks; ++rank)
            if (partition_.size(rank) > 0) ranks.push_back(rank);
        return ranks;
    }
    void plan_and_keep(VectorEntries::Use use, const ListedPattern& pattern, const SchemeOptions& scheme) {
        if (keeps_plans_) keep(use, scheme, make_plan(pattern, resolved_.topology, scheme, {}));
    }
    void keep(VectorEntries::Use use, const SchemeOptions& scheme, Plan plan) {
        if (!keeps_plans_) return;
        const int level = static_cast<int>(most_.size()) - 1;
        amg_.plans.push_back(
            {level, use, scheme, Representatives::themselves(block_layout(1), resolved_.topology), {}});
        amg_.plans.back().plans.push_back(std::move(plan));
    }

    bool room_for(double needed) {
        if (needed <= bytes_) return true;
        if (amg_.too_large.empty())
            amg_.too_large =
                fmt::format("level {}: to plan what all ranks need of each other takes {} and more of {}",
                            most_.size() - 1, bytes_text(needed), bytes_text(bytes_));
        return false;
    }
    SchemeUse used_for(VectorEntries::Use use) const {
        return {static_cast<int>(most_.size()) - 1, block_layout(0), VectorEntries{use}};
    }
    std::vector<SchemeOptions> schemes() const {
        SchemeOptions options = resolved_.comm.scheme;
        options.columns = 1;
        return candidates_without_axes(options);
    }
    std::vector<SchemeRow> compared(const ListedPattern& pattern) const {
        return compare(pattern, schemes(), {resolved_.topology, resolved_.model()});
    }
    void compare_all(VectorEntries::Use use, const ListedPattern& pattern) {
        SchemeTable table{.use = used_for(use), .rows = compared(pattern)};
        table.chosen = chosen_for(use, table.rows);
        const SchemeOptions& scheme = table.rows[table.chosen.value_or(0)].scheme;
        plan_and_keep(use, pattern, scheme);
        amg_.exchanges.push_back(std::move(table));
    }
    std::optional<std::size_t> chosen_for(VectorEntries::Use use, const std::vector<SchemeRow>& rows) const {
        return chosen_before_run(communication_for(use, resolved_.comm, options_), rows);
    }
    // By plans of P backwards, whose scheme is chosen for P.
    using Chosen = std::pair<VectorEntries::Use, std::optional<std::size_t>>;
    void compare_returns(const ListedPattern& pattern, const GlobalRows& P, const GlobalRows& A,
                         const std::vector<std::vector<Item>>& needed, std::initializer_list<Chosen> uses) {
        const PartialColumns parts = partial_columns(A, P, partition_, needed);
        // At most, for each request and each column of a partial row; two thirds were measured.
        constexpr double bytes_to_return_a_request = 600;
        constexpr double bytes_to_return_a_column = 40;
        if (!room_for(static_cast<double>(pattern.requests().size()) *
                          (bytes_to_plan_a_request + bytes_to_return_a_request) +
                      static_cast<double>(count_of(parts)) * bytes_to_return_a_column))
            return;
        const Setup setup{resolved_.topology, resolved_.model()};
        std::vector<SchemeTable> tables;
        for (const auto& [use, chosen] : uses)
            tables.push_back({.use = used_for(use), .rows = {}, .chosen = chosen});
        std::size_t number = 0;
        for (const SchemeOptions& scheme : schemes()) {
            const ReturnPlans plans = return_plans(make_plan(pattern, resolved_.topology, scheme, {}),
                                                   resolved_.topology, needed, parts);
            for (SchemeTable& table : tables) {
                const bool of_values = table.use.entries()->use == VectorEntries::Use::amg_returns;
                const Plan& plan = of_values ? plans.values : plans.rows;
                table.rows.push_back(summary(scheme, shares_of(plan, 1, setup), setup));
                if (number != table.chosen.value_or(0)) continue;
                keep(table.use.entries()->use, scheme, plan);
                if (!of_values) keep(VectorEntries::Use::amg_lengths, scheme, plans.values);
            }
            ++number;
        }
        for (SchemeTable& table : tables) amg_.exchanges.push_back(std::move(table));
    }

    const Resolved& resolved_;
    RowPartition partition_;
    const AmgOptions& options_;
    double entries_of_finest_ = 0;
    double bytes_;
    bool keeps_plans_;
    VirtualAmg& amg_;
    std::vector<MostOfLevel> most_;  // by level
};

}  // namespace

SchemeOptions AmgLevelFacts::*scheme_of(VectorEntries::Use use) {
    switch (use) {
        case VectorEntries::Use::amg_values:
            return &AmgLevelFacts::values_by;
        case VectorEntries::Use::amg_rows:
            return &AmgLevelFacts::rows_by;
        case VectorEntries::Use::amg_partial_rows:
            return &AmgLevelFacts::partial_rows_by;
        case VectorEntries::Use::amg_transfers:
            return &AmgLevelFacts::transfers_by;
        default:
            return nullptr;
    }
}

std::string why_not_predicted(const VirtualAmg& amg) {
    if (amg.proxy) return "";
    if (!amg.too_large.empty()) return ": " + amg.too_large;
    if (!amg.missing.empty()) return ": there is no cycle, for want of " + amg.missing + remedy(amg.outcome);
    return " with a Krylov method on the coarsest level; choose amg.coarsest = \"replicated\" or "
           "\"gathered\"";
}

VirtualAmg plan_virtual_amg(const AmgOptions& options, const Resolved& resolved, const RowPartition& owners,
                            const GlobalRows& all, double bytes, const MatrixChoice& matrix,
                            const MatrixUse* solved) {
    const Communicator alone = Communicator::self();
    const Topology topology = detect_topology(alone);
    const auto backend = make_backend(all_backends().front().name);
    const auto rows = static_cast<std::int64_t>(all.rows());
    VirtualAmg amg;
    // At most, for each entry; up to 150 and 310 bytes were measured with 7 and 27 points.
    const double needed = static_cast<double>(all.columns.size()) * (options.aggregates() ? 170 : 330);
    if (needed > bytes) {
        amg.too_large =
            fmt::format("not set up here, which takes up to {} of {}", bytes_text(needed), bytes_text(bytes));
        return amg;
    }
    Ledger ledger(most_amg_levels);
    SparseMatrix A(alone, topology, *backend, RowPartition{rows, 1}, all, {}, ledger);
    VirtualAmgPlanner planner(resolved, owners, options, bytes, solved != nullptr, amg);
    const bool singular = is_singular(matrix) || rows_cancel(alone, all);
    const std::optional<NearNull> modes = near_null(matrix, 0, all.rows());
    const bool takes_modes = modes && options.takes_near_null();
    SetupRecorder recorder(ledger, options, static_cast<std::size_t>(takes_modes ? modes->vectors : 1));
    const Communicator watched =
        alone.watched([&](Collective what, std::size_t words) { recorder.note(what, words); });
    SetupContext context{watched, topology, *backend};
    context.shares = &planner.shares();
    context.watch = [&](AmgStep step, AmgMessages what) { recorder.note(step, what); };
    const auto watch = [&](const PartRows& level, const Coarsening* next) {
        planner.share_out(level);
        if (next) {
            planner.plan(level, *next);
            recorder.next_level();
        } else if (coarsest_rule(options, level.partition.rows) == CoarsestRule::krylov) {
            planner.plan_coarsest(level);
        } else if (level.partition.rows > options.max_coarse) {
            planner.plan_stalled(level);
        }
    };
    AmgHierarchy hierarchy(context, A, all, options, {}, ledger,
                           {.watch = watch, .singular = singular, .near_null = modes});
    planner.finish(hierarchy.facts());
    amg.outcome = hierarchy.outcome();
    amg.missing = hierarchy.missing();
    if (!amg.missing.empty() || !amg.too_large.empty()) return amg;
    amg.setup = recorder.take(amg.levels, planner.most(), resolved.comm);
    if (solved && !hierarchy.varies()) amg.proxy = proxy_solve(*solved, hierarchy, A, ledger, planner.most());
    return amg;
}

}  // namespace keel
