#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "miniapp/deck/text/text.hpp"
#include "miniapp/modes/grids/orthogonalise/orthogonalise.hpp"
#include "miniapp/modes/repeat.hpp"
#include "miniapp/report/records/records.hpp"

namespace keel {

QRCost window_cost(const Orthogonaliser& row, WindowPhase phase, long depth) {
    if (phase == WindowPhase::recycled) return row.append(depth, depth);
    if (phase == WindowPhase::iteration) return row.iteration(depth, depth);
    QRCost sum;
    for (long k = 0; k < depth; ++k) sum += row.append(k, depth);
    return sum;
}

std::string orthogonalise_text(const std::vector<MethodResult>& results, int depth, const std::string& what) {
    constexpr const char* line =
        "{:<14} {:>11} {:>7} {:>10} {:>7} {:>12} {:>7} {:>10} {:>7} {:>12} {:>7} {:>10} {:>7}\n";
    std::string text = fmt::format(
        "Orthogonalisation of {} columns, {}: all of an empty window; one in the place of the oldest; and "
        "that with "
        "the least-squares problem\n",
        depth, what);
    text += fmt::format(line, "method", "all-reduces", "words", "start-up", "of mgs", "all-reduces", "words",
                        "recycled", "of mgs", "all-reduces", "words", "iteration", "of mgs");
    const auto& rows = orthogonalisers();
    const auto mgs =
        static_cast<std::size_t>(std::ranges::find(rows, "mgs", &Orthogonaliser::name) - rows.begin());
    for (std::size_t n = 0; n < rows.size(); ++n) {
        const auto cell = [&](std::size_t p) {
            const double seconds = median(results[n][p].seconds);
            const double of_mgs = seconds > 0 ? median(results[mgs][p].seconds) / seconds : 0;
            return std::pair(seconds_text(seconds), fmt::format("{:.2f}x", of_mgs));
        };
        const auto [a, fa] = cell(0);
        const auto [b, fb] = cell(1);
        const auto [c, fc] = cell(2);
        const MethodResult& r = results[n];
        text += fmt::format(line, rows[n].name, r[0].reductions, r[0].words, a, fa, r[1].reductions,
                            r[1].words, b, fb, r[2].reductions, r[2].words, c, fc);
    }
    return text + "\n";
}

std::string orthogonalise_records(const std::vector<MethodResult>& results, int depth, double rows,
                                  bool predicted) {
    std::string lines;
    for (std::size_t n = 0; n < results.size(); ++n) {
        Json record{{"record", "orthogonalise"},
                    {"method", orthogonalisers()[n].name},
                    {"depth", depth},
                    {"rows", rows},
                    {"predicted", predicted}};
        for (const WindowPhase phase : window_phases) {
            const WindowResult& result = results[n][static_cast<std::size_t>(phase)];
            record[name(phase)] = {{"reductions", result.reductions},
                                   {"words", result.words},
                                   {"bytes_per_row", result.cost.bytes},
                                   {"seconds", result.seconds}};
        }
        lines += line_of(record);
    }
    return lines;
}

}  // namespace keel
