#include "miniapp/prediction/prediction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "miniapp/deck/text/text.hpp"

namespace keel {
namespace {

using Solves = std::span<const PredictedSolve>;

// Those that others are compared with, if they take part: the first one, and the fair choices: most sums together, a method for
// symmetric operators, Anderson acceleration by modified Gram-Schmidt.
std::vector<const PredictedSolve*> baselines(Solves solves) {
    std::vector<const PredictedSolve*> found{&solves.front()};
    for (const char* const fair : {"bicgstab", "bicgstab_fused", "cg", "mgs"})
        for (const PredictedSolve& solve : solves)
            if (solve.solver == fair && &solve != found.front()) found.push_back(&solve);
    return found;
}

double quotient(double over, double seconds) {
    return seconds > 0 ? over / seconds : 0.0;
}

std::string times(double value) {
    return value > 0 ? fmt::format("{:.2f}", value) : "-";
}

std::string counts_text(Solves solves) {
    std::vector<std::vector<std::string>> rows{{"solver"}};
    for (const SolveCount& count : solves.front().counts) rows.front().push_back(count.heading);
    for (const char* const heading :
         {"reductions", "words", "exchanges", "all-reduces", "bottom", "solve", "bottom of it"})
        rows.front().push_back(heading);
    const auto whole = [](double value) { return fmt::format("{:.0f}", value); };
    for (const PredictedSolve& solve : solves) {
        std::vector<std::string>& row = rows.emplace_back(1, solve.solver);
        for (const SolveCount& count : solve.counts) row.push_back(whole(count.value));
        if (!solve.is_timed()) {
            row.push_back(solve.outcome);
            continue;
        }
        for (const double value : {solve.time.reductions, solve.time.words, solve.time.exchanges})
            row.push_back(whole(value));
        for (double Seconds::*const part : {&Seconds::all_reduce, &Seconds::bottom, &Seconds::solve})
            row.push_back(seconds_text(solve.seconds.*part));
        row.push_back(fmt::format("{:.0f} %", 100 * quotient(solve.seconds.bottom, solve.seconds.solve)));
    }
    return "Predicted solves\n" + aligned(rows);
}

std::string speed_ups_text(Solves solves) {
    if (solves.size() == 1) return "";
    const auto over = baselines(solves);
    std::vector<std::vector<std::string>> rows{{"solver"}};
    for (const PredictedSolve* const base : over)
        for (const char* const part : {" solve", " bottom", " sums"})
            rows.front().push_back(base->solver + part);
    for (const PredictedSolve& solve : solves) {
        if (!solve.is_timed()) continue;
        std::vector<std::string>& row = rows.emplace_back(1, solve.solver);
        for (const PredictedSolve* const base : over)
            for (double Seconds::*const part : {&Seconds::solve, &Seconds::bottom, &Seconds::all_reduce})
                row.push_back(times(quotient(base->seconds.*part, solve.seconds.*part)));
    }
    return "\nSpeed-ups: seconds of another solver's solve, bottom and sums (all-reduces) over those of the "
           "row\n" +
           aligned(rows);
}

std::string noise_text(Solves solves) {
    std::vector<std::vector<std::string>> rows{{"solver"}};
    for (const double noise : noises)
        for (const char* const part : {"bottom", "solve"})
            rows.front().push_back(fmt::format("{} +{:.0f} us", part, 1e6 * noise));
    const PredictedSolve& base = *std::ranges::find_if(solves, &PredictedSolve::is_timed);
    for (const PredictedSolve& solve : solves) {
        if (!solve.is_timed()) continue;
        std::vector<std::string>& row = rows.emplace_back(1, solve.solver);
        for (std::size_t n = 0; n < noises.size(); ++n)
            for (double Seconds::*const part : {&Seconds::bottom, &Seconds::solve})
                row.push_back(fmt::format("{} ({})", seconds_text(solve.noisy[n].*part),
                                          times(quotient(base.noisy[n].*part, solve.noisy[n].*part))));
    }
    return fmt::format("\nWith such a delay of each all-reduce; in brackets the speed-up on {}\n",
                       base.solver) +
           aligned(rows);
}

std::string latency_text(Solves solves) {
    const auto tolerated = [](const LatencyTolerance& of) {
        return of.seconds ? seconds_text(*of.seconds) : std::string("any");
    };
    std::vector<std::vector<std::string>> rows{
        {"solver", "messages in the bottom", "in the solve", "bottom 5 % slower", "solve 5 % slower"}};
    for (const PredictedSolve& solve : solves)
        if (solve.is_timed())
            rows.push_back({solve.solver, fmt::format("{:.0f}", solve.bottom.messages),
                            fmt::format("{:.0f}", solve.solve.messages), tolerated(solve.bottom),
                            tolerated(solve.solve)});
    return "\nLatency between nodes: d seconds / d alpha, which is how many messages follow each other, and "
           "how much "
           "longer each may take\n" +
           aligned(rows);
}

std::string rates_text(Solves solves) {
    std::vector<std::vector<std::string>> rows{
        {"solver", "bottom, memory", "bottom, network", "solve, memory", "solve, network"}};
    for (const PredictedSolve& solve : solves) {
        if (!solve.is_timed()) continue;
        std::vector<std::string>& row = rows.emplace_back(1, solve.solver);
        for (const RateShares* const of : {&solve.bottom_rates, &solve.solve_rates})
            for (const double share : {of->memory, of->network})
                row.push_back(fmt::format("{:.1f} %", std::abs(share) < 5e-4 ? 0.0 : 100 * share));
    }
    return "\nBandwidth: the part of the seconds that grows in proportion as the rate of memory, or that "
           "between "
           "nodes, shrinks\n" +
           aligned(rows);
}

// Nulls where nothing is timed.
Json seconds_json(const Seconds& seconds, bool timed = true) {
    const auto json = [&](double value) { return timed ? Json(value) : Json(); };
    return {{"seconds", json(seconds.solve)},
            {"bottom_seconds", json(seconds.bottom)},
            {"all_reduce_seconds", json(seconds.all_reduce)}};
}

Json shares_json(const RateShares& of) {
    return {{"memory", of.memory}, {"network", of.network}};
}

Json tolerance_json(const LatencyTolerance& of) {
    return {{"messages", of.messages}, {"tolerated_seconds", number_or_null(of.seconds)}};
}

std::string sources_text(const Resolved& resolved, const std::vector<std::string>& sources) {
    const Machine& machine = resolved.machine->machine;
    std::string text = wrapped(
        fmt::format(
            "Predicted for {}, {}, {}; all-reduces by {}; delays of {} an all-reduce and {} an exchange",
            machine.name, counted(resolved.ranks, "rank"), resolved.topology.describe(),
            name(resolved.comm.all_reduce_model), seconds_text(machine.noise.all_reduce),
            seconds_text(machine.noise.exchange)),
        4);
    for (const std::string& source : sources) text += "\n" + wrapped("- " + source, 4);
    return text + "\n";
}

Json solve_json(Solves solves, const PredictedSolve& solve, const Resolved& resolved, int bottom) {
    const Machine& machine = resolved.machine->machine;
    const auto if_timed = [&](double value) { return solve.is_timed() ? Json(value) : Json(); };
    Json over = Json::array();
    Json noisy = Json::array();
    if (solve.is_timed()) {
        for (const PredictedSolve* const base : baselines(solves))
            over.push_back({{"solver", base->solver},
                            {"solve", quotient(base->seconds.solve, solve.seconds.solve)},
                            {"bottom", quotient(base->seconds.bottom, solve.seconds.bottom)},
                            {"all_reduce", quotient(base->seconds.all_reduce, solve.seconds.all_reduce)}});
        for (std::size_t n = 0; n < noises.size(); ++n) {
            Json one{{"all_reduce_late", noises[n]}};
            one.update(seconds_json(solve.noisy[n]));
            noisy.push_back(one);
        }
    }
    Json record{{"record", "solve"}, {"predicted", true}, {"solver", solve.solver}, {"repeat", 0}};
    record.update(seconds_json(solve.seconds, solve.is_timed()));
    record.update(
        {{"converged", solve.converged},
         {"outcome", solve.outcome},
         {"machine", machine.name},
         {"allreduce_model", name(resolved.comm.all_reduce_model)},
         {"noise", {{"all_reduce", machine.noise.all_reduce}, {"exchange", machine.noise.exchange}}}});
    for (const SolveCount& count : solve.counts) record[count.field] = count.value;
    record.update(
        {{"reductions", if_timed(solve.time.reductions)},
         {"reduction_words", if_timed(solve.time.words)},
         {"exchanges", if_timed(solve.time.exchanges)},
         {"parts", solve.is_timed() ? parts_json(parts_of(solve.time.rows, bottom)) : Json()},
         {"speed_ups", over},
         {"noisy", noisy},
         {"latency", {{"bottom", tolerance_json(solve.bottom)}, {"solve", tolerance_json(solve.solve)}}},
         {"bandwidth",
          {{"bottom", shares_json(solve.bottom_rates)}, {"solve", shares_json(solve.solve_rates)}}},
         {"proxy_solve", {{"cycles", solve.proxy_cycles}, {"iterations", solve.proxy_iterations}}},
         {"iterations_assumed", solve.assumed}});
    record.update(Json::parse(solve.more));
    return record;
}

// With the solver's name where there are several, or its set-up has rows of its own.
std::string timers_of(const std::vector<TimerRow>& rows, const std::string& solver) {
    std::string lines;
    for (const TimerRow& row : rows) {
        Json record = timer_record(row);
        if (!solver.empty()) record["solver"] = solver;
        lines += line_of(record);
    }
    return lines;
}

}  // namespace

bool predicts(const Resolved& resolved) {
    return resolved.machine && resolved.machine->machine.compute;
}

std::string prediction_text(const Prediction& prediction, const Resolved& resolved) {
    if (!prediction.why_not.empty())
        return wrapped("remark: no seconds are predicted" + prediction.why_not, 4) + "\n";
    const Solves solves = prediction.solves;
    if (solves.empty()) return "";
    std::string text =
        sources_text(resolved, prediction.sources) + "\n" + prediction.tables + counts_text(solves);
    if (std::ranges::any_of(solves, &PredictedSolve::is_timed))
        text += speed_ups_text(solves) + noise_text(solves) + latency_text(solves) + rates_text(solves);
    for (const PredictedSolve& solve : solves)
        if (!solve.converged)
            text += fmt::format("remark: {}: its proxy solve did not converge: {}\n", solve.solver,
                                solve.outcome);
    return text + prediction.remarks;
}

std::string prediction_records(const Prediction& prediction, const Resolved& resolved) {
    std::string lines;
    for (const PredictedSolve& solve : prediction.solves) {
        lines += line_of(solve_json(prediction.solves, solve, resolved, prediction.bottom));
        if (solve.setup) lines += timers_of(solve.setup->rows, "amg.setup");
        const bool named = solve.setup || prediction.solves.size() > 1;
        lines += timers_of(solve.time.rows, named ? solve.solver : "");
    }
    return lines;
}

}  // namespace keel
