#include "miniapp/prediction/seconds/prediction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "miniapp/deck/text/text.hpp"
#include "miniapp/report/records/records.hpp"
#include "miniapp/report/tables/table.hpp"

namespace keel {
namespace {

using Solves = std::span<const PredictedSolve>;

// The solves that others are compared with, if they take part: the first one, and the fair choices: most sums
// together, a method for symmetric operators, Anderson acceleration by modified Gram-Schmidt.
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

// Counts and seconds of a solve: of the table and of its record, whose seconds are null where nothing is
// timed.
Row row_of(const PredictedSolve& solve) {
    const auto if_timed = [&](double value) { return solve.is_timed() ? Json(value) : Json(); };
    Row row{{"solver", solve.solver, "solver"}};
    for (const SolveCount& count : solve.counts)
        row.emplace_back(count.field, count.value, count.heading, Unit::count);
    const double share = quotient(solve.seconds().bottom, solve.seconds().solve);
    const Row timed{
        {"reductions", if_timed(solve.time.reductions), "all-reduces\ncount", Unit::count},
        {"reduction_words", if_timed(solve.time.words), "all-reduces\nwords", Unit::count},
        {"exchanges", if_timed(solve.time.exchanges), "exchanges", Unit::count},
        {"all_reduce_seconds", if_timed(solve.seconds().all_reduce), "all-reduces\ntime", Unit::seconds},
        {"bottom_seconds", if_timed(solve.seconds().bottom), "bottom", Unit::seconds},
        {"seconds", if_timed(solve.seconds().solve), "solve", Unit::seconds},
        {"", if_timed(share), "bottom\nof it", Unit::percent},
        {"outcome", solve.outcome, solve.is_timed() ? "" : "outcome"}};
    row.insert(row.end(), timed.begin(), timed.end());
    return row;
}

std::string counts_text(Solves solves) {
    ReportTable table("Predicted solves");
    for (const PredictedSolve& solve : solves) table.add(row_of(solve));
    return table.print();
}

// A speed-up; none where there is nothing to compare.
Cell speed_up(double over, double seconds, const std::string& heading) {
    const double times = quotient(over, seconds);
    return {"", times > 0 ? Json(times) : Json(), heading, Unit::ratio};
}

std::string noise_text(Solves solves) {
    const PredictedSolve& base = *std::ranges::find_if(solves, &PredictedSolve::is_timed);
    ReportTable table(
        fmt::format("With such a delay of each all-reduce: seconds, and the speed-up on {}; messages between "
                    "nodes that follow each other (d seconds / d alpha)",
                    base.solver));
    for (const PredictedSolve& solve : solves) {
        if (!solve.is_timed()) continue;
        Row row{{"", solve.solver, "solver"}};
        for (std::size_t n = 0; n < noises.size(); ++n)
            for (const auto& [part, name] :
                 {std::pair{&Seconds::bottom, "bottom"}, std::pair{&Seconds::solve, "solve"}}) {
                const std::string delay = fmt::format("+{:.0f} us\n", 1e6 * noises[n]);
                row.emplace_back("", solve.delayed[n].*part, delay + name, Unit::seconds);
                if (solves.size() > 1)
                    row.push_back(
                        speed_up(base.delayed[n].*part, solve.delayed[n].*part, delay + name + "\nspeed-up"));
            }
        row.emplace_back("", solve.bottom_messages, "messages\nbottom", Unit::count);
        row.emplace_back("", solve.messages, "messages\nsolve", Unit::count);
        table.add(std::move(row));
    }
    return "\n" + table.print();
}

// "fastest: ca_cg s=8, 1.90x cg; with 200 us of delay 4.10x"; over the first solver where cg takes no part.
std::string answer_text(Solves solves) {
    std::vector<const PredictedSolve*> timed;
    for (const PredictedSolve& solve : solves)
        if (solve.is_timed() && solve.converged) timed.push_back(&solve);
    if (timed.size() < 2) return "";
    const auto cg = std::ranges::find(timed, "cg", &PredictedSolve::solver);
    const PredictedSolve& base = cg == timed.end() ? *timed.front() : **cg;
    const auto fastest_with = [&](std::size_t n) {
        return *std::ranges::min_element(timed, {}, [n](auto* solve) { return solve->delayed[n].solve; });
    };
    const PredictedSolve* const best = fastest_with(0);
    const PredictedSolve* const delayed = fastest_with(noises.size() - 1);
    const double times = base.delayed.back().solve / delayed->delayed.back().solve;
    return fmt::format(
        "fastest: {}{}; with {:.0f} us of delay {}\n", best->solver,
        best == &base
            ? ""
            : fmt::format(", {:.2f}x {}", base.seconds().solve / best->seconds().solve, base.solver),
        1e6 * noises.back(),
        delayed == &base  ? base.solver
        : delayed == best ? fmt::format("{:.2f}x", times)
                          : fmt::format("{}, {:.2f}x {}", delayed->solver, times, base.solver));
}

std::string sources_text(const Resolved& resolved, const std::vector<std::string>& sources) {
    const Machine& machine = resolved.machine->machine;
    std::string text = wrapped(
        fmt::format(
            "Predicted for {}, {}, {}; all-reduces by {}; delays of {} an all-reduce and {} an exchange",
            machine.name, counted(resolved.ranks, "rank"), resolved.topology.describe(),
            name(resolved.comm.all_reduce.algorithm), seconds_text(machine.noise.all_reduce),
            seconds_text(machine.noise.exchange)) +
            (resolved.one_word
                 ? fmt::format("; one of one word takes {}, as given", seconds_text(*resolved.one_word))
                 : "") +
            (machine.concurrency ? fmt::format("; concurrency {:.2g}", *machine.concurrency) : ""),
        4);
    for (const std::string& source : sources) text += "\n" + wrapped("- " + source, 4);
    return text + "\n";
}

// Launches, waits and copies on the levels from the first one on; null without a device.
Json device_json(const PredictedSolve& solve, int first) {
    Json sums = Json::object();
    double all = 0;
    for (const TimerRow& row : solve.time.rows)
        for (std::size_t n = 0; row.level >= first && n < row.device.size(); ++n) {
            sums[device_count_names[n]] = sums.value(device_count_names[n], 0.0) + row.device[n];
            all += row.device[n];
        }
    return all > 0 ? sums : Json();
}

Json solve_json(Solves solves, const PredictedSolve& solve, const Resolved& resolved, int bottom) {
    const Machine& machine = resolved.machine->machine;
    Json over = Json::array();
    Json delayed = Json::array();
    if (solve.is_timed()) {
        for (const PredictedSolve* const base : baselines(solves))
            over.push_back(
                {{"solver", base->solver},
                 {"solve", quotient(base->seconds().solve, solve.seconds().solve)},
                 {"bottom", quotient(base->seconds().bottom, solve.seconds().bottom)},
                 {"all_reduce", quotient(base->seconds().all_reduce, solve.seconds().all_reduce)}});
        for (std::size_t n = 0; n < noises.size(); ++n)
            delayed.push_back({{"all_reduce_delay", noises[n]},
                               {"seconds", solve.delayed[n].solve},
                               {"bottom_seconds", solve.delayed[n].bottom},
                               {"all_reduce_seconds", solve.delayed[n].all_reduce}});
    }
    Json record{{"record", "solve"}, {"predicted", true}, {"repeat", 0}};
    record.update(fields_of(row_of(solve)));
    record.update(
        {{"converged", solve.converged},
         {"machine", machine.name},
         {"allreduce_model", name(resolved.comm.all_reduce.algorithm)},
         {"noise", {{"all_reduce", machine.noise.all_reduce}, {"exchange", machine.noise.exchange}}}});
    record.update(
        {{"parts", solve.is_timed() ? parts_json(parts_of(solve.time.rows, bottom)) : Json()},
         {"speed_ups", over},
         {"delayed", delayed},
         {"latency",
          {{"bottom", {{"messages", solve.bottom_messages}}}, {"solve", {{"messages", solve.messages}}}}},
         {"proxy_solve", {{"cycles", solve.proxy_cycles}, {"iterations", solve.proxy_iterations}}},
         {"iterations_assumed", solve.assumed},
         {"costs", Json::parse(solve.costs)}});
    if (const Json all = device_json(solve, 0); !all.is_null())
        record["device"] = {{"visits", solve.visits}, {"bottom", device_json(solve, bottom)}, {"solve", all}};
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

std::string why_no_machine_computes(const Resolved& resolved) {
    if (!resolved.machine || resolved.machine->machine.compute) return "";
    return ": machine " + resolved.machine->machine.name +
           " has no [compute]; run.mode = network measures and writes it";
}

std::string prediction_text(const Prediction& prediction, const Resolved& resolved) {
    if (!prediction.why_not.empty())
        return wrapped("remark: no seconds are predicted" + prediction.why_not, 4) + "\n";
    const Solves solves = prediction.solves;
    if (solves.empty()) return "";
    std::string text =
        sources_text(resolved, prediction.sources) + "\n" + prediction.tables + counts_text(solves);
    if (std::ranges::any_of(solves, &PredictedSolve::is_timed)) text += noise_text(solves);
    for (const PredictedSolve& solve : solves)
        if (!solve.converged)
            text += fmt::format("remark: {}: its proxy solve did not converge: {}\n", solve.solver,
                                solve.outcome);
    return text + prediction.remarks + answer_text(solves);
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
