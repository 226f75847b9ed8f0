#include "miniapp/json_lines.hpp"

#include <nlohmann/json.hpp>

#include "build_info.hpp"

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
            {"node_of", facts.topology.node_of},
            {"nodes_detected", facts.topology.detected},
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
            {"array_bytes", facts.array_bytes},
            {"predicted_bytes", facts.predicted_bytes},
            {"measured_bytes", facts.measured_bytes},
            {"deck", resolved_json(table, parameters)}};
}

Json solve_record(std::size_t repeat, const SolveRecord& solve) {
    Json visits = Json::array();
    for (const auto& v : solve.report.visits)
        visits.push_back({{"iterations", v.iterations},
                          {"outcome", v.outcome},
                          {"vanished", v.vanished},
                          {"true_residual", v.true_residual ? Json(*v.true_residual) : Json()},
                          {"met", v.met},
                          {"reductions", v.counts.reductions},
                          {"exchanges", v.counts.exchanges}});
    return {{"record", "solve"},
            {"repeat", repeat},
            {"seconds", solve.seconds},
            {"converged", solve.report.converged},
            {"cycles", solve.report.cycles},
            {"residuals", solve.report.residuals},
            {"bottom", visits},
            {"bottom_iterations", solve.report.bottom_iterations()},
            {"missed_bottoms", solve.report.missed_bottoms()},
            {"reductions", solve.reductions},
            {"reduction_words", solve.reduction_words},
            {"exchanges", solve.exchanges},
            {"u_l2", solve.u_l2}};
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

}  // namespace

std::string json_lines(const Table& table, const Parameters& parameters, const Results& results) {
    std::string lines;
    const auto add = [&](const Json& record) { lines += record.dump() + "\n"; };
    add(run_record(table, parameters, results.facts));
    for (std::size_t n = 0; n < results.solves.size(); ++n) add(solve_record(n, results.solves[n]));
    for (const TimerRow& row : results.timers) add(timer_record(row));
    for (const Check& check : results.checks)
        add({{"record", "check"},
             {"name", check.name},
             {"passed", check.passed},
             {"value", check.value},
             {"want", check.want}});
    add({{"record", "result"},
         {"fom", results.figure_of_merit},
         {"unit", "dof/s"},
         {"seconds", results.median_seconds()},
         {"valid", results.valid()},
         {"exit", results.valid() ? 0 : 1}});
    return lines;
}

}  // namespace keel
