#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "miniapp/modes/grids/orthogonalise/orthogonalise.hpp"

namespace keel {
namespace {

constexpr std::array headings{"start-up", "recycled", "iteration"};  // by WindowPhase

}  // namespace

QRCost window_cost(const Orthogonaliser& row, WindowPhase phase, long depth) {
    if (phase == WindowPhase::recycled) return row.append(depth, depth);
    if (phase == WindowPhase::iteration) return row.iteration(depth, depth);
    QRCost sum;
    for (long k = 0; k < depth; ++k) sum += row.append(k, depth);
    return sum;
}

ReportTable orthogonalise_table(const std::vector<MethodResult>& results, int depth, double rows,
                                Kind of_seconds, const std::string& where) {
    ReportTable table(
        fmt::format(
            "Orthogonalisation of {} columns{}: start-up fills the window, recycled replaces the oldest "
            "column, an iteration also solves the least-squares problem; speed-up over mgs",
            depth, where),
        "orthogonalise");
    const auto& methods = orthogonalisers();
    const auto mgs =
        static_cast<std::size_t>(std::ranges::find(methods, "mgs", &Orthogonaliser::name) - methods.begin());
    for (std::size_t n = 0; n < results.size(); ++n) {
        Row row{{"method", methods[n].name, "method"},
                {"depth", depth},
                {"rows", rows},
                {"predicted", of_seconds == Kind::predicted}};
        for (const WindowPhase phase : window_phases) {
            const auto p = static_cast<std::size_t>(phase);
            const WindowResult& result = results[n][p];
            const double seconds = median(result.seconds);
            const double speed_up = seconds > 0 ? median(results[mgs][p].seconds) / seconds : 0;
            const std::string head = std::string(headings[p]) + "\n";
            row.emplace_back(name(phase), Json{{"reductions", result.reductions},
                                               {"words", result.words},
                                               {"bytes_per_row", result.cost.bytes},
                                               {"seconds", result.seconds}});
            row.emplace_back("", result.reductions, head + "all-reduces");
            row.emplace_back("", result.words, head + "words");
            row.emplace_back("", seconds, head + "time", Unit::seconds, of_seconds);
            row.emplace_back("", speed_up, head + "speed-up", Unit::ratio, of_seconds);
        }
        table.add(std::move(row));
    }
    return table;
}

}  // namespace keel
