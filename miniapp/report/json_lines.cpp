#include "miniapp/report/json_lines.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "build_info.hpp"
#include "miniapp/report/overloaded.hpp"
#include "miniapp/schemes/scheme_table.hpp"

namespace keel {
namespace {

using Json = nlohmann::ordered_json;

Json run_record(const Table& table, const Parameters& parameters, const RunFacts& facts) {
    Json levels = Json::array();
    for (std::size_t l = 0; l < facts.level_cells.size(); ++l)
        levels.push_back({{"cells", facts.level_cells[l]}, {"box", facts.level_boxes[l]}});
    return {{"record", "run"},
            {"version", build_info::version},
            {"revision", build_info::revision},
            {"compiler", build_info::compiler},
            {"build_type", build_info::build_type},
            {"flags", build_info::flags},
            {"mpi", facts.mpi},
            {"asynchronous_progress", facts.asynchronous_progress},
            {"backend", facts.backend},
            {"ranks", facts.ranks},
            {"threads", facts.threads},
            {"nodes", facts.topology.nodes()},
            {"node_of", facts.topology.node_of()},
            {"nodes_detected", facts.topology.source() == NodeSource::detected},
            {"shared_cores", facts.shared_cores},
            {"bindings", facts.bindings},
            {"devices", facts.devices},
            {"device_sharing", facts.device_sharing},
            {"device_messages", facts.device_messages},
            {"graph_replays", facts.graph_replays},
            {"boxes", facts.boxes},
            {"cells", facts.cells},
            {"levels", levels},
            {"triad_bytes_per_second", facts.triad_bytes_per_second},
            {"setup_seconds", facts.setup_seconds},
            {"tuning_seconds", facts.tuning_seconds},
            {"array_bytes", facts.array_bytes},
            {"predicted_bytes", facts.predicted_bytes},
            {"measured_bytes", facts.measured_bytes},
            {"deck", resolved_json(table, parameters)}};
}

// What a solve record tells in every mode.
void add_cost(Json& record, const SolveCost& cost, double u_l2) {
    record["reductions"] = cost.reductions;
    record["reduction_words"] = cost.reduction_words;
    record["exchanges"] = cost.exchanges;
    record["u_l2"] = u_l2;
}

Json number(const std::optional<double>& value) {
    return value ? Json(*value) : Json();
}

Json solve_record(std::size_t repeat, const SolveRecord& solve) {
    Json visits = Json::array();
    for (const auto& v : solve.report.visits)
        visits.push_back({{"iterations", v.iterations},
                          {"outcome", v.outcome},
                          {"vanished", v.vanished},
                          {"restarts", v.restarts},
                          {"residual", number(v.residual)},
                          {"true_residual", number(v.true_residual)},
                          {"met", v.met},
                          {"applications", v.counts.applications},
                          {"columns_dropped", v.columns_dropped},
                          {"reductions", v.counts.reductions},
                          {"reduction_words", v.counts.words},
                          {"exchanges", v.counts.exchanges}});
    Json record{{"record", "solve"},
                {"solver", solve.solver},
                {"repeat", repeat},
                {"seconds", solve.cost.seconds},
                {"converged", solve.report.converged},
                {"cycles", solve.report.cycles},
                {"residuals", solve.report.residuals},
                {"bottom", visits},
                {"bottom_iterations", solve.report.bottom_iterations()},
                {"missed_bottoms", solve.report.missed_bottoms()}};
    add_cost(record, solve.cost, solve.u_l2);
    return record;
}

// Of a Krylov method as main solver.
Json krylov_record(std::size_t repeat, const std::string& solver, double seconds, const Report& report) {
    return {{"record", "solve"},
            {"solver", solver},
            {"repeat", repeat},
            {"seconds", seconds},
            {"converged", report.succeeded()},
            {"iterations", report.iterations},
            {"outcome", name(report.outcome)},
            {"vanished", report.vanished},
            {"restarts", report.restarts},
            {"columns_dropped", report.columns_dropped},
            {"residuals", report.residuals},
            {"true_residual", report.true_residual},
            {"applications", report.counts.applications}};
}

Json solve_record(std::size_t repeat, const KrylovRecord& solve) {
    Json record = krylov_record(repeat, solve.solver, solve.cost.seconds, solve.report);
    record["v_cycles"] = solve.v_cycles;
    add_cost(record, solve.cost, solve.u_l2);
    return record;
}

Json timer_record(const TimerRow& row) {
    return {{"record", "timer"},
            {"op", row.op},
            {"level", row.level},
            {"calls", row.calls},
            {"t_min", row.t_min},
            {"t_mean", row.t_mean},
            {"t_max", row.t_max},
            {"rank_max", row.rank_max},
            {"bytes_moved", row.bytes_moved},
            {"flops", row.flops},
            {"messages", row.messages},
            {"bytes", row.bytes},
            {"off_node_messages", row.off_node_messages},
            {"off_node_bytes", row.off_node_bytes},
            {"all_messages", row.all_messages},
            {"all_bytes", row.all_bytes},
            {"all_off_node_messages", row.all_off_node_messages},
            {"all_off_node_bytes", row.all_off_node_bytes},
            {"words", row.words}};
}

// Numbers of the last round, which are those of every round unless sums differ in their last bits.
Json survey_record(const SurveyResults& survey, const SurveyResults::Row& row) {
    const std::vector<double> seconds = row.seconds();
    const SolveRecord& last = row.solves.back();
    Json record{{"record", "survey"},
                {"solver", row.solver},
                {"converged", row.converged()},
                {"cycles", last.report.cycles},
                {"bottom_iterations", last.report.bottom_iterations()},
                {"missed_bottoms", last.report.missed_bottoms()},
                {"seconds_min", *std::min_element(seconds.begin(), seconds.end())},
                {"seconds_median", median(seconds)},
                {"speed_up", number(survey.speed_up(row))}};
    add_cost(record, last.cost, last.u_l2);
    return record;
}

std::vector<Json> network_records(const NetworkResults& network) {
    std::vector<Json> records;
    const auto add = [&](const char* what, Json fields) {
        Json record{{"record", "network"}, {"what", what}};
        record.update(fields);
        records.push_back(record);
    };
    for (const auto& one : network.classes)
        for (const Sample& sample : one.samples)
            add("ping_pong", {{"class", name(one.locality)},
                              {"pairs", one.pairs.size()},
                              {"bytes", sample.bytes},
                              {"seconds", sample.seconds}});
    for (const NodeSample& sample : network.node_pong)
        add("node_pong",
            {{"processes", sample.processes}, {"bytes", sample.node_bytes}, {"seconds", sample.seconds}});
    for (const Sample& sample : network.all_reduce)
        add("all_reduce", {{"bytes", sample.bytes}, {"seconds", sample.seconds}});
    for (const auto& one : network.classes)
        for (const Fit& fit : one.fits)
            add("fit", {{"class", name(fit.locality)},
                        {"protocol", name(fit.protocol)},
                        {"samples", fit.samples},
                        {"alpha", fit.cost.alpha},
                        {"beta", fit.cost.beta},
                        {"rms_residual", fit.rms_residual},
                        {"max_residual", fit.max_residual},
                        {"accepted", fit.accepted()}});
    add("machine", {{"name", network.machine.name},
                    {"eager_from", network.switches.eager_from},
                    {"rendezvous_from", network.switches.rendezvous_from},
                    {"injection_beta", number(network.machine.injection_beta)},
                    {"remarks", network.remarks}});
    return records;
}

std::vector<Json> spmv_records(const SpmvResults& spmv) {
    const auto traffic = [](const Traffic& t) {
        return Json{{"messages", t.messages},
                    {"bytes", t.bytes},
                    {"off_node_messages", t.off_node_messages},
                    {"off_node_bytes", t.off_node_bytes}};
    };
    std::vector<Json> records{{{"record", "spmv"},
                               {"rows", spmv.rows},
                               {"nonzeros", spmv.nonzeros},
                               {"columns", spmv.columns},
                               {"most_rows", spmv.most_rows},
                               {"most_nonzeros", spmv.most_nonzeros},
                               {"most_ghosts", spmv.most_ghosts},
                               {"all_ghosts", spmv.all_ghosts},
                               {"busiest", traffic(spmv.traffic.busiest)},
                               {"all", traffic(spmv.traffic.all)},
                               {"bytes_moved", spmv.bytes_moved},
                               {"seconds", spmv.seconds}}};
    for (const TimerRow& row : spmv.timers) records.push_back(timer_record(row));
    for (std::size_t n = 0; n < spmv.solves.size(); ++n) {
        const auto& [report, seconds] = spmv.solves[n];
        Json record = krylov_record(n, spmv.solver, seconds, report);
        record["reductions"] = report.counts.reductions;
        record["reduction_words"] = report.counts.words;
        record["exchanges"] = report.counts.exchanges;
        records.push_back(std::move(record));
    }
    return records;
}

}  // namespace

std::string json_lines(const Table& table, const Parameters& parameters, const Results& results) {
    std::string lines;
    const auto add = [&](const Json& record) { lines += record.dump() + "\n"; };
    add(run_record(table, parameters, results.facts));
    const auto add_solves = [&](const auto& mode) {
        for (std::size_t n = 0; n < mode.solves.size(); ++n) add(solve_record(n, mode.solves[n]));
        for (const TimerRow& row : mode.timers) add(timer_record(row));
    };
    std::visit(Overloaded{add_solves,
                          [&](const NetworkResults& network) {
                              for (const Json& record : network_records(network)) add(record);
                          },
                          [&](const SpmvResults& spmv) {
                              for (const Json& record : spmv_records(spmv)) add(record);
                          },
                          [](const ExchangeResults&) {},
                          [&](const SurveyResults& survey) {
                              // In the order in which they ran.
                              for (std::size_t n = 0; n < survey.rows.front().solves.size(); ++n)
                                  for (const auto& row : survey.rows) add(solve_record(n, row.solves[n]));
                              for (const auto& row : survey.rows) {
                                  add(survey_record(survey, row));
                                  for (const TimerRow& timer : row.timers) {
                                      Json record = timer_record(timer);
                                      record["solver"] = row.solver;
                                      add(record);
                                  }
                              }
                          }},
               results.of_mode);
    lines += scheme_json_lines(parameters, results.facts.schemes);
    const bool solves = !std::holds_alternative<NetworkResults>(results.of_mode) &&
                        !std::holds_alternative<ExchangeResults>(results.of_mode);
    for (const Check& check : results.checks)
        add({{"record", "check"},
             {"name", check.name},
             {"passed", check.passed},
             {"value", check.value},
             {"want", check.want}});
    add({{"record", "result"},
         {"fom", solves ? Json(results.figure_of_merit()) : Json()},
         {"unit", solves ? Json(std::holds_alternative<SpmvResults>(results.of_mode) ? "nonzeros/s" : "dof/s")
                         : Json()},
         {"seconds", solves ? Json(results.seconds) : Json()},
         {"valid", results.valid()},
         {"exit", results.valid() ? 0 : 1}});
    return lines;
}

}  // namespace keel
