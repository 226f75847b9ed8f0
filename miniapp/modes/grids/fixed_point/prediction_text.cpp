#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "miniapp/deck/text/text.hpp"
#include "miniapp/modes/grids/fixed_point/prediction.hpp"
#include "miniapp/prediction/solves_text.hpp"
#include "miniapp/report/records/records.hpp"

namespace keel {
namespace {

std::string sources_text(const FixedPointPrediction& prediction, const Resolved& resolved) {
    const PredictedFixedPoint& first = prediction.rows.front();
    std::vector<std::string> sources;
    const auto add = [&](const std::string& source) { sources.push_back(source); };
    add(fmt::format("computed: what an iteration does{}, by iterating on {}",
                    first.iterated_on ? "" : ", and how many it takes", grid_text(first.on)));
    if (first.iterated_on)
        add(fmt::format("computed: how many iterations the real coarsest level takes, on {}",
                        grid_text(*first.iterated_on)));
    if (prediction.bottom)
        add(fmt::format(
            "computed: the bottom's iterations, all-reduces and their words in a visit, by solving "
            "on {}",
            grid_text(*prediction.bottom)));
    add(fmt::format("counted: bytes of work as declared, messages and bytes by the plans of all ranks{}",
                    planned_text(prediction.planned)));
    add("modelled: seconds of work, messages and all-reduces by the machine's file; equal ranks, exchanges "
        "not "
        "overlapped, no contention but a node's rate");
    return sources_text(resolved, sources);
}

// Seconds of another row over this one's; those that did not converge have none.
std::string times(const PredictedFixedPoint* over, const PredictedFixedPoint& row) {
    if (over == nullptr || !over->converged || !row.converged) return "-";
    return fmt::format("{:.2f}", over->solve.seconds.solve / row.solve.seconds.solve);
}

const PredictedFixedPoint* row_of(const FixedPointPrediction& prediction, const char* solver) {
    for (const PredictedFixedPoint& row : prediction.rows)
        if (row.solve.solver == solver) return &row;
    return nullptr;
}

std::string rows_text(const FixedPointPrediction& prediction) {
    std::vector<std::vector<std::string>> table{{"method", "iterations", "evaluations", "all-reduces",
                                                 "words", "of QR", "exchanges", "all-reduces", "bottom",
                                                 "solve", "of mgs", "of picard"}};
    const auto whole = [](double value) { return fmt::format("{:.0f}", value); };
    for (const PredictedFixedPoint& row : prediction.rows) {
        if (!row.converged) {
            table.push_back({row.solve.solver, whole(row.iterations), name(row.outcome)});
            continue;
        }
        const PredictedSolve& solve = row.solve;
        table.push_back({solve.solver, whole(row.iterations), whole(row.evaluations),
                         whole(solve.time.reductions), whole(solve.time.words), whole(row.qr_reductions),
                         whole(solve.time.exchanges), seconds_text(solve.seconds.all_reduce),
                         seconds_text(solve.seconds.bottom), seconds_text(solve.seconds.solve),
                         times(row_of(prediction, "mgs"), row), times(row_of(prediction, "picard"), row)});
    }
    return aligned(table);
}

std::string noise_text(const FixedPointPrediction& prediction) {
    std::vector<std::vector<std::string>> table{{"method"}};
    for (const double noise : noises) table.front().push_back(fmt::format("solve +{:.0f} us", 1e6 * noise));
    const PredictedFixedPoint* const mgs = row_of(prediction, "mgs");
    for (const PredictedFixedPoint& row : prediction.rows) {
        if (!row.converged) continue;
        std::vector<std::string>& line = table.emplace_back(1, row.solve.solver);
        for (std::size_t n = 0; n < noises.size(); ++n) {
            const double seconds = row.solve.noisy[n].solve;
            line.push_back(seconds_text(seconds));
            if (mgs && mgs->converged)
                line.back() += fmt::format(" ({:.2f})", mgs->solve.noisy[n].solve / seconds);
        }
    }
    return "\nWith all-reduces that much later; in brackets the speed-up on mgs\n" + aligned(table);
}

}  // namespace

std::string prediction_text(const FixedPointPrediction& prediction, const Resolved& resolved,
                            const AndersonOptions& acceleration) {
    std::string text = sources_text(prediction, resolved);
    text += fmt::format("\nPredicted solves, acceleration of depth {}\n", acceleration.depth);
    return text + rows_text(prediction) + noise_text(prediction);
}

std::string prediction_records(const FixedPointPrediction& prediction, const Resolved& resolved,
                               const GridSetup& grids, const AndersonOptions& acceleration) {
    std::string lines;
    for (const PredictedFixedPoint& row : prediction.rows) {
        const PredictedSolve& solve = row.solve;
        const auto if_converged = [&](double value) { return row.converged ? Json(value) : Json(); };
        const bool accelerated = solve.solver != "picard";
        Json noisy = Json::array();
        for (std::size_t n = 0; row.converged && n < noises.size(); ++n)
            noisy.push_back({{"all_reduce_late", noises[n]}, {"seconds", solve.noisy[n].solve}});
        lines += line_of(
            {{"record", "solve"},
             {"predicted", true},
             {"solver", accelerated ? "anderson" : "picard"},
             {"repeat", 0},
             {"depth", accelerated ? acceleration.depth : 0},
             {"orthogonalisation", accelerated ? Json(solve.solver) : Json()},
             {"converged", row.converged},
             {"outcome", name(row.outcome)},
             {"machine", resolved.machine->machine.name},
             {"allreduce_model", name(resolved.comm.all_reduce_model)},
             {"iterations", row.iterations},
             {"evaluations", row.evaluations},
             {"map_cycles", solve.cycles},
             {"bottom_iterations", solve.iterations},
             {"orthogonalisation_reductions", row.qr_reductions},
             {"orthogonalisation_words", row.qr_words},
             {"seconds", if_converged(solve.seconds.solve)},
             {"bottom_seconds", if_converged(solve.seconds.bottom)},
             {"all_reduce_seconds", if_converged(solve.seconds.all_reduce)},
             {"reductions", if_converged(solve.time.reductions)},
             {"reduction_words", if_converged(solve.time.words)},
             {"exchanges", if_converged(solve.time.exchanges)},
             {"parts", row.converged ? parts_json(parts_of(solve.time.rows, grids.levels() - 1)) : Json()},
             {"noisy", noisy},
             {"rehearsed_iterations", row.rehearsed_iterations},
             {"computed_on", rehearsed_json(row.on)},
             {"iterations_computed_on", row.iterated_on ? rehearsed_json(*row.iterated_on) : Json()},
             {"bottom_computed_on", prediction.bottom ? rehearsed_json(*prediction.bottom) : Json()}});
    }
    return lines;
}

}  // namespace keel
