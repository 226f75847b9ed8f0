#include <fmt/format.h>

#include <vector>

#include "miniapp/deck/text/text.hpp"
#include "miniapp/modes/spmv/amg/virtual_amg.hpp"
#include "miniapp/report/amg/amg_findings.hpp"
#include "miniapp/report/table.hpp"

namespace keel {
namespace {

// Seconds of one exchange on every level, by each scheme, and by the fastest of each level.
std::string sums_over_levels(const VirtualAmg& amg) {
    ReportTable table("one exchange of every level, us; in brackets: times the fastest");
    const std::vector<SchemeRow>& schemes = amg.exchanges.front().rows;
    const auto add = [&](const char* meaning, VectorEntries::Use use) {
        double best = 0;
        std::vector<double> sums(schemes.size());
        for (const SchemeTable& of_level : amg.exchanges) {
            if (of_level.use.entries()->use != use) continue;
            best += fastest(of_level.rows).seconds();
            for (std::size_t n = 0; n < sums.size(); ++n) sums[n] += of_level.rows[n].seconds();
        }
        if (best == 0) return;
        Row row{{"", meaning, "exchange"}, {"", best, "fastest", Unit::microseconds, Kind::predicted}};
        for (std::size_t n = 0; n < sums.size(); ++n)
            row.emplace_back("", sums[n], name(schemes[n].scheme),
                             fmt::format("{:.1f} ({:.2f})", 1e6 * sums[n], sums[n] / best), Kind::predicted);
        table.add(std::move(row));
    };
    add("A x, values of ghosts", VectorEntries::Use::amg_values);
    add("rows of P for A P", VectorEntries::Use::amg_rows);
    add("rows of P^T (A P)", VectorEntries::Use::amg_partial_rows);
    add("P e", VectorEntries::Use::amg_transfers);
    add("P^T r", VectorEntries::Use::amg_returns);
    return table.print();
}

// The work of a run's set-up that no number of the dry run has.
std::string not_counted(const VirtualAmg& amg, const AmgOptions& options) {
    const auto levels = static_cast<long>(amg.levels.size());
    std::string all_reduces = "all-reduces, of the search for roots and of sizes";
    if (options.aggregates() && levels > 1)
        all_reduces += fmt::format("; {} of these are maxima for bounds of eigenvalues", levels - 1);
    return wrapped(
               fmt::format("not counted of set-up: computing, values of ghosts (strength, roots, lengths of "
                           "rows), rows that make P{}, what it takes to agree on plans, and {}",
                           options.ownership == Ownership::condensed ? ", rows that move to fewer ranks" : "",
                           all_reduces),
               4) +
           "\n";
}

}  // namespace

std::string virtual_amg_text(const VirtualAmg& amg, const AmgOptions& options) {
    if (amg.levels.empty()) return "Algebraic multigrid: " + amg.too_large + "\n";
    std::string text = fmt::format("Algebraic multigrid: {}, as on any number of ranks\n",
                                   counted(static_cast<long>(amg.levels.size()), "level"));
    if (!amg.missing.empty()) text += "no cycle: for want of " + amg.missing + remedy(amg.outcome) + "\n";
    text += level_sizes(amg.levels);
    if (amg.missing.empty()) text += wrapped(coarsest_text(amg.coarsest), 4);
    text += fmt::format(
        "matrices below the finest, P and P^T take at least {} on the rank that has most (counted)\n",
        bytes_text(amg.bytes));
    if (!amg.too_large.empty()) text += "too large here: " + amg.too_large + "\n";
    if (!amg.proxy) text += not_counted(amg, options);  // otherwise the prediction says it
    if (amg.exchanges.empty()) return text;
    text += "\n" + scheme_tables_text(amg.exchanges);
    if (amg.exchanges.front().rows.front().time && amg.too_large.empty())
        text += "\n" + sums_over_levels(amg);
    return text;
}

}  // namespace keel
