#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "miniapp/deck/text/text.hpp"
#include "miniapp/report/facts.hpp"
#include "miniapp/report/level_tables.hpp"
#include "miniapp/report/records/records.hpp"
#include "miniapp/studies/grids/prediction/prediction.hpp"

namespace keel {
namespace {

// Those that others are compared with, if they take part: the study's baseline, and what one would take who knows that most of
// its sums can be had together, or that the operator is symmetric.
std::vector<const PredictedSolve*> baselines(const Prediction& prediction) {
    std::vector<const PredictedSolve*> found{&prediction.solves.front()};
    for (const char* const fair : {"bicgstab", "bicgstab_fused", "cg"})
        for (const PredictedSolve& solve : prediction.solves)
            if (solve.solver == fair && &solve != found.front()) found.push_back(&solve);
    return found;
}

double quotient(double over, double seconds) {
    return seconds > 0 ? over / seconds : 0.0;
}

std::string solved_on(const RehearsedOn& on) {
    return fmt::format("{}, {}", grid_text(on), counted(on.cycles, "cycle"));
}

std::string sources_text(const Prediction& prediction, const Resolved& resolved) {
    const Machine& machine = resolved.machine->machine;
    const bool whole = !prediction.cycle;
    std::vector<std::string> given;
    for (const PredictedSolve& solve : prediction.solves)
        if (solve.given) given.push_back(solve.solver);
    std::string text = wrapped(
        fmt::format(
            "Predicted for {}, {}, {}; all-reduces by {}; late by {} an all-reduce and {} an exchange",
            machine.name, counted(resolved.ranks, "rank"), resolved.topology.describe(),
            name(resolved.comm.all_reduce_model), seconds_text(machine.noise.all_reduce),
            seconds_text(machine.noise.exchange)),
        4);
    const auto add = [&](const std::string& line) { text += "\n" + wrapped("- " + line, 4); };
    if (prediction.bottom)
        add(fmt::format("computed: {}, all-reduces and their words, by solving on {}",
                        whole ? "the solve" : "the bottom's iterations", solved_on(*prediction.bottom)));
    if (prediction.sample)
        add(fmt::format(
            "given: bottom.given_iterations of {}; what belongs to them in proportion to solving on {}",
            fmt::join(given, ", "), solved_on(*prediction.sample)));
    if (prediction.cycle)
        add(fmt::format(
            "computed: V-cycles and the levels above, by solving on {}; the bottom's numbers are those "
            "of as many visits",
            solved_on(*prediction.cycle)));
    add(fmt::format("counted: bytes of work as declared, messages and bytes by the plans of all ranks{}",
                    prediction.planned_nodes == 0
                        ? ""
                        : fmt::format(" on {} nodes, which stand for all", prediction.planned_nodes)));
    add("modelled: seconds of work, messages and all-reduces by the machine's file; sums under way cost what "
        "work "
        "does not hide; equal ranks, perfect progress, exchanges not overlapped, no contention but a node's "
        "rate");
    return text + "\n";
}

std::string times(double value) {
    return value > 0 ? fmt::format("{:.2f}", value) : "-";
}

std::string solves_text(const Prediction& prediction) {
    std::vector<std::vector<std::string>> rows{{"solver", "cycles", "iterations", "reductions", "words",
                                                "exchanges", "all-reduces", "bottom", "solve",
                                                "bottom of it"}};
    for (const PredictedSolve& solve : prediction.solves)
        rows.push_back({solve.solver, fmt::format("{:.0f}", solve.cycles),
                        fmt::format("{:.0f}", solve.iterations), fmt::format("{:.0f}", solve.time.reductions),
                        fmt::format("{:.0f}", solve.time.words), fmt::format("{:.0f}", solve.time.exchanges),
                        seconds_text(solve.seconds.all_reduce), seconds_text(solve.seconds.bottom),
                        seconds_text(solve.seconds.solve),
                        fmt::format("{:.0f} %", 100 * quotient(solve.seconds.bottom, solve.seconds.solve))});
    return "Predicted solves\n" + aligned(rows);
}

std::string speed_ups_text(const Prediction& prediction) {
    if (prediction.solves.size() == 1) return "";
    const auto over = baselines(prediction);
    std::vector<std::vector<std::string>> rows{{"solver"}};
    for (const PredictedSolve* const base : over)
        for (const char* const part : {" solve", " bottom", " sums"})
            rows.front().push_back(base->solver + part);
    for (const PredictedSolve& solve : prediction.solves) {
        std::vector<std::string>& row = rows.emplace_back(1, solve.solver);
        for (const PredictedSolve* const base : over)
            for (double Seconds::*const part : {&Seconds::solve, &Seconds::bottom, &Seconds::all_reduce})
                row.push_back(times(quotient(base->seconds.*part, solve.seconds.*part)));
    }
    return "\nSpeed-ups: seconds of another solver's solve, bottom and sums (all-reduces) over those of the "
           "row\n" +
           aligned(rows);
}

std::string noise_text(const Prediction& prediction) {
    std::vector<std::vector<std::string>> rows{{"solver"}};
    for (const double noise : noises)
        for (const char* const part : {"bottom", "solve"})
            rows.front().push_back(fmt::format("{} +{:.0f} us", part, 1e6 * noise));
    const PredictedSolve& base = prediction.solves.front();
    for (const PredictedSolve& solve : prediction.solves) {
        std::vector<std::string>& row = rows.emplace_back(1, solve.solver);
        for (std::size_t n = 0; n < noises.size(); ++n)
            for (double Seconds::*const part : {&Seconds::bottom, &Seconds::solve})
                row.push_back(fmt::format("{} ({})", seconds_text(solve.noisy[n].*part),
                                          times(quotient(base.noisy[n].*part, solve.noisy[n].*part))));
    }
    return fmt::format("\nWith all-reduces that much later; in brackets the speed-up on {}\n", base.solver) +
           aligned(rows);
}

std::string latency_text(const Prediction& prediction) {
    const auto tolerated = [](const LatencyTolerance& of) {
        return of.seconds ? seconds_text(*of.seconds) : std::string("any");
    };
    std::vector<std::vector<std::string>> rows{
        {"solver", "messages in the bottom", "in the solve", "bottom 5 % slower", "solve 5 % slower"}};
    for (const PredictedSolve& solve : prediction.solves)
        rows.push_back({solve.solver, fmt::format("{:.0f}", solve.bottom.messages),
                        fmt::format("{:.0f}", solve.solve.messages), tolerated(solve.bottom),
                        tolerated(solve.solve)});
    return "\nLatency between nodes: d seconds / d alpha, which is how many messages follow each other, and "
           "how much longer "
           "each may take\n" +
           aligned(rows);
}

RunFacts levels_of(const GridSetup& grids) {
    RunFacts facts;
    facts.dimensions = grids.domain.dimensions();
    set_levels(facts, grids);
    return facts;
}

Json seconds_json(const Seconds& seconds) {
    return {{"seconds", seconds.solve},
            {"bottom_seconds", seconds.bottom},
            {"all_reduce_seconds", seconds.all_reduce}};
}

Json tolerance_json(const LatencyTolerance& of) {
    return {{"messages", of.messages}, {"tolerated_seconds", number_or_null(of.seconds)}};
}

Json solve_json(const Prediction& prediction, const PredictedSolve& solve, const Resolved& resolved,
                int bottom) {
    const Machine& machine = resolved.machine->machine;
    Json over = Json::array();
    for (const PredictedSolve* const base : baselines(prediction))
        over.push_back({{"solver", base->solver},
                        {"solve", quotient(base->seconds.solve, solve.seconds.solve)},
                        {"bottom", quotient(base->seconds.bottom, solve.seconds.bottom)},
                        {"all_reduce", quotient(base->seconds.all_reduce, solve.seconds.all_reduce)}});
    Json noisy = Json::array();
    for (std::size_t n = 0; n < noises.size(); ++n) {
        Json one{{"all_reduce_late", noises[n]}};
        one.update(seconds_json(solve.noisy[n]));
        noisy.push_back(one);
    }
    Json record{{"record", "solve"}, {"predicted", true}, {"solver", solve.solver}, {"repeat", 0}};
    record.update(seconds_json(solve.seconds));
    record.update(
        {{"converged", solve.converged},
         {"outcome", solve.outcome},
         {"machine", machine.name},
         {"allreduce_model", name(resolved.comm.all_reduce_model)},
         {"noise", {{"all_reduce", machine.noise.all_reduce}, {"exchange", machine.noise.exchange}}},
         {"cycles", solve.cycles},
         {"bottom_iterations", solve.iterations},
         {"reductions", solve.time.reductions},
         {"reduction_words", solve.time.words},
         {"exchanges", solve.time.exchanges},
         {"parts", parts_json(parts_of(solve.time.rows, bottom))},
         {"speed_ups", over},
         {"noisy", noisy},
         {"latency", {{"bottom", tolerance_json(solve.bottom)}, {"solve", tolerance_json(solve.solve)}}},
         {"rehearsed",
          {{"cycles", solve.rehearsed_cycles}, {"bottom_iterations", solve.rehearsed_iterations}}},
         {"iterations_given", solve.given},
         {"computed_on", rehearsed_json(solve.given ? *prediction.sample : *prediction.bottom)},
         {"cycles_computed_on", prediction.cycle ? rehearsed_json(*prediction.cycle) : Json()}});
    return record;
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
    std::string text = sources_text(prediction, resolved) + "\n";
    const RunFacts levels = levels_of(grids);
    if (prediction.solves.size() == 1)
        text += LevelTables(levels, prediction.solves.front().time.rows).times() + "\n" +
                LevelTables(levels, prediction.solves.front().time.rows).communication() + "\n";
    text += solves_text(prediction) + speed_ups_text(prediction) + noise_text(prediction) +
            latency_text(prediction);
    for (const PredictedSolve& solve : prediction.solves)
        if (!solve.converged)
            text += fmt::format("remark: {}: the solve that stands for it did not converge: {}\n",
                                solve.solver, solve.outcome);
    if (prediction.goal)
        text += fmt::format(
            "schedule of the first V-cycle of {} in {}: {}, {} and, of all ranks, {:.0f} messages "
            "(counted)\n",
            prediction.solves.front().solver, resolved.goal, counted(prediction.goal->exchanges, "exchange"),
            counted(prediction.goal->sums, "all-reduce"), prediction.goal->messages);
    return text;
}

std::string prediction_records(const Prediction& prediction, const Resolved& resolved,
                               const GridSetup& grids) {
    const int bottom = grids.use.krylov == KrylovLevel::finest ? 0 : grids.levels() - 1;
    std::string lines;
    for (const PredictedSolve& solve : prediction.solves) {
        lines += line_of(solve_json(prediction, solve, resolved, bottom));
        for (const TimerRow& row : solve.time.rows) {
            Json record = timer_record(row);
            if (prediction.solves.size() > 1) record["solver"] = solve.solver;
            lines += line_of(record);
        }
    }
    return lines;
}

}  // namespace keel
