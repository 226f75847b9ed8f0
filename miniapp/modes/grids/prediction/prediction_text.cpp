#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "miniapp/deck/text/text.hpp"
#include "miniapp/modes/grids/prediction/prediction.hpp"
#include "miniapp/prediction/solves_text.hpp"
#include "miniapp/report/facts.hpp"
#include "miniapp/report/level_tables.hpp"
#include "miniapp/report/records/records.hpp"

namespace keel {
namespace {

std::string solved_on(const RehearsedOn& on) {
    return fmt::format("{}, {}", grid_text(on), counted(on.cycles, "cycle"));
}

std::string sources_text(const Prediction& prediction, const Resolved& resolved, const GridSetup& grids) {
    const bool whole = !prediction.cycle;
    std::vector<std::string> given;
    for (const PredictedSolve& solve : prediction.solves)
        if (solve.given) given.push_back(solve.solver);
    std::vector<std::string> sources;
    const auto add = [&](const std::string& source) { sources.push_back(source); };
    if (prediction.bottom)
        add(fmt::format("computed: {}, all-reduces and their words, by solving on {}",
                        whole ? "the solve" : "the bottom's iterations", solved_on(*prediction.bottom)));
    if (prediction.sample)
        add(fmt::format(
            "given: bottom.assumed_iterations of {}; what belongs to them {} to solving on {}{}",
            fmt::join(given, ", "), prediction.smaller_sample ? "and to visits according" : "in proportion",
            solved_on(*prediction.sample),
            prediction.smaller_sample ? ", and on " + solved_on(*prediction.smaller_sample) : ""));
    if (prediction.cycle)
        add(fmt::format(
            "computed: V-cycles and the levels above, by solving on {}; the bottom's numbers are those "
            "of as many visits",
            solved_on(*prediction.cycle)));
    add(fmt::format("counted: bytes of work as declared, messages and bytes by the plans of all ranks{}",
                    planned_text(prediction.planned)));
    if (grids.merges() && grids.use.krylov == KrylovLevel::coarsest)
        add("bottom: all levels from the first one in merged boxes on; ranks that have none of a level wait "
            "for "
            "those that do");
    add("modelled: seconds of work, messages and all-reduces by the machine's file; sums under way cost what "
        "work "
        "does not hide; equal ranks, perfect progress, exchanges not overlapped, no contention but a node's "
        "rate");
    return sources_text(resolved, sources);
}

RunFacts levels_of(const GridSetup& grids) {
    RunFacts facts;
    facts.dimensions = grids.domain.dimensions();
    set_levels(facts, grids);
    return facts;
}

}  // namespace

std::string grid_text(const RehearsedOn& on) {
    return fmt::format("{} boxes of {}^{} in {} on {}",
                       fmt::join(on.boxes.begin(), on.boxes.begin() + on.dimensions, "x"), on.box,
                       on.dimensions, counted(on.levels, "level"), counted(on.ranks, "rank"));
}

Json rehearsed_json(const RehearsedOn& on) {
    return {{"boxes", on.boxes},
            {"box", on.box},
            {"levels", on.levels},
            {"ranks", on.ranks},
            {"cycles", on.cycles}};
}

std::string prediction_text(const Prediction& prediction, const Resolved& resolved, const GridSetup& grids) {
    std::string text = sources_text(prediction, resolved, grids) + "\n";
    const RunFacts levels = levels_of(grids);
    if (prediction.solves.size() == 1)
        text += times_text(levels, prediction.solves.front().time.rows) + "\n" +
                communication_text(levels, prediction.solves.front().time.rows) + "\n";
    return text + solves_text(prediction.solves);
}

std::string prediction_records(const Prediction& prediction, const Resolved& resolved,
                               const GridSetup& grids) {
    const int bottom = grids.use.krylov == KrylovLevel::finest ? 0 : grids.levels() - 1;
    std::string lines;
    for (const PredictedSolve& solve : prediction.solves) {
        Json record = solve_json(prediction.solves, solve, resolved, bottom);
        record["computed_on"] = rehearsed_json(solve.given ? *prediction.sample : *prediction.bottom);
        record["cycles_computed_on"] = prediction.cycle ? rehearsed_json(*prediction.cycle) : Json();
        lines += line_of(record) + timer_records(prediction.solves, solve);
    }
    return lines;
}

}  // namespace keel
