#include "miniapp/report/records/records.hpp"

#include <nlohmann/json.hpp>

#include "build_info.hpp"
#include "miniapp/deck/values.hpp"

namespace keel {

std::string line_of(const Json& record) {
    Json whole{{"record", record.at("record")}, {"schema", record_schema}};
    whole.update(record);
    return json_text(whole) + "\n";
}

Json number_or_null(const std::optional<double>& value) {
    return value ? Json(*value) : Json();
}

namespace {

// The first fields of records that begin a report.
Json origin_json(const Origin& origin) {
    Json environment = Json::object();
    for (const auto& [name, value] : origin.environment) environment[name] = value;
    return {{"id", origin.id},
            {"date", origin.date},
            {"label", origin.label},
            {"command", origin.command},
            {"environment", environment},
            {"version", build_info::version},
            {"revision", build_info::revision},
            {"sources", build_info::sources}};
}

Json simulation_json(const std::optional<Simulation>& simulation) {
    if (!simulation) return {};
    const Compute& c = simulation->compute;
    Json cache;
    if (c.cache) cache = {{"bytes", c.cache->bytes}, {"rate", c.cache->rate}};
    return {{"platform", simulation->platform},
            {"machine", simulation->machine},
            {"modelled",
             {{"rate", c.rate},
              {"launch", c.launch},
              {"flop_rate", number_or_null(c.flop_rate)},
              {"cache", cache}}},
            {"not_modelled", not_modelled}};
}

template <class Value>
Json value_or_null(const std::optional<Value>& value) {
    return value ? Json(*value) : Json();
}

Json machine_json(const RunFacts& facts) {
    if (!facts.hardware) return {};
    const Hardware& found = *facts.hardware;
    Json network;
    Json gpus;
    if (found.network) network = Json::array();
    if (found.gpus) gpus = Json::array();
    for (const NetworkDevice& one : found.network.value_or(std::vector<NetworkDevice>{}))
        network.push_back({{"name", one.name},
                           {"driver", one.driver.empty() ? Json() : Json(one.driver)},
                           {"bits_per_second", value_or_null(one.bits_per_second)}});
    for (const Gpu& one : found.gpus.value_or(std::vector<Gpu>{}))
        gpus.push_back({{"model", one.model}, {"driver", one.driver.empty() ? Json() : Json(one.driver)}});
    return {{"processor", value_or_null(found.processor)},
            {"sockets", value_or_null(found.sockets)},
            {"cores", value_or_null(found.cores)},
            {"threads", value_or_null(found.threads)},
            {"hertz", value_or_null(found.hertz)},
            {"memory_bytes", value_or_null(found.memory_bytes)},
            {"memory_type", value_or_null(found.memory_type)},
            {"network", network},
            {"gpus", gpus},
            {"other_nodes", facts.other_nodes}};
}

}  // namespace

Json parts_json(const Parts& parts) {
    return {{"v_cycle", parts.v_cycle},       {"v_cycle_exchange", parts.v_cycle_exchange},
            {"bottom", parts.bottom},         {"bottom_exchange", parts.bottom_exchange},
            {"all_reduce", parts.all_reduce}, {"other", parts.other}};
}

Json moved_json(const std::optional<Movement>& moved, double triad) {
    if (!moved) return {};
    return {{"bytes", moved->bytes},
            {"bytes_per_unknown", moved->per_unknown()},
            {"digits", number_or_null(moved->digits)},
            {"bytes_per_unknown_and_digit", number_or_null(moved->per_unknown_and_digit())},
            {"triad_share", moved->share_of(triad)}};
}

Json volume_json(const Volume& volume) {
    return {{"messages", volume.messages},
            {"bytes", volume.bytes},
            {"off_node_messages", volume.off_node_messages},
            {"off_node_bytes", volume.off_node_bytes}};
}

Json domain_json(const DomainFacts& domain) {
    const BoxFaces& faces = domain.faces;
    return {{"shape", domain.shape},
            {"boxes", domain.boxes},
            {"components", domain.components},
            {"cells", domain.cells},
            {"faces",
             {{"interior", faces.interior},
              {"outer", faces.outer},
              {"missing", faces.missing},
              {"dirichlet", faces.dirichlet},
              {"neumann", faces.neumann}}}};
}

Json run_record(const DeckFacts& deck, const RunFacts& facts) {
    Json levels = Json::array();
    for (std::size_t l = 0; l < facts.levels.size(); ++l)
        levels.push_back({{"cells", facts.cells(l)},
                          {"box", facts.levels[l].width},
                          {"merged", facts.levels[l].merged},
                          {"ranks", facts.levels[l].ranks}});
    Json hosts = Json::array();
    for (const auto& [name, ranks] : facts.hosts) hosts.push_back({{"name", name}, {"ranks", ranks}});
    Json record{{"record", "run"}};
    record.update(origin_json(deck.origin));
    record.update({{"hosts", hosts},
                   {"machine", machine_json(facts)},
                   {"compiler", build_info::compiler},
                   {"build_type", build_info::build_type},
                   {"processor_architecture", build_info::architecture},
                   {"flags", build_info::flags},
                   {"mpi", facts.mpi},
                   {"asynchronous_progress", facts.asynchronous_progress},
                   {"clock", facts.simulation ? "simulated" : "real"},
                   {"simulation", simulation_json(facts.simulation)},
                   {"backend", facts.backend},
                   {"ranks", facts.ranks},
                   {"threads", facts.threads},
                   {"nodes", facts.topology.nodes()},
                   {"node_of", facts.topology.node_of()},
                   {"socket_of", facts.topology.knows_sockets() ? Json(facts.topology.socket_of()) : Json()},
                   {"nodes_detected", facts.topology.source() == NodeSource::detected},
                   {"shared_cores", facts.shared_cores},
                   {"bindings", facts.bindings},
                   {"devices", facts.devices},
                   {"device_sharing", facts.device_sharing},
                   {"device_bytes_per_second",
                    facts.device_bytes_per_second > 0 ? Json(facts.device_bytes_per_second) : Json()},
                   {"device_messages", facts.device_messages},
                   {"boxes", facts.levels.empty() ? Index{} : facts.levels.front().boxes},
                   {"cells", facts.cells(0)},
                   {"domain", facts.domain ? domain_json(*facts.domain) : Json()},
                   {"levels", levels},
                   {"triad_bytes_per_second", facts.triad_bytes_per_second},
                   {"array_bytes", facts.array_bytes},
                   {"predicted_bytes", facts.predicted_bytes},
                   {"remarks", deck.remarks},
                   {"warnings", facts.warnings},
                   {"deck", Json::parse(deck.json)}});
    return record;
}

Json plan_record(const DeckFacts& deck, const Topology& topology, const std::vector<std::string>& warnings,
                 const std::string& plan) {
    Json record{{"record", "plan"}, {"ranks", topology.ranks()}, {"nodes", topology.nodes()}};
    record.update(origin_json(deck.origin));
    record.update(Json::parse(plan));
    record["remarks"] = deck.remarks;
    record["warnings"] = warnings;
    record["deck"] = Json::parse(deck.json);
    return record;
}

Json timer_record(const TimerRow& row) {
    Json record{{"record", "timer"},
                {"op", row.op},
                {"level", row.level},
                {"calls", row.calls},
                {"t_min", row.t_min},
                {"t_mean", row.t_mean},
                {"t_max", row.t_max},
                {"rank_max", row.rank_max},
                {"bytes_moved", row.bytes_moved},
                {"flops", row.flops}};
    record.update(volume_json(row.most_sent));
    const Json all = volume_json(row.all_sent);
    for (const auto& [name, number] : all.items()) record["all_" + name] = number;
    record["words"] = row.words;
    if (row.device != decltype(row.device){})
        for (std::size_t n = 0; n < row.device.size(); ++n) record[device_count_names[n]] = row.device[n];
    if (row.predicted) record["predicted"] = true;
    return record;
}

std::string timer_records(const std::vector<TimerRow>& rows, const std::string& solver) {
    std::string lines;
    const auto add = [&](Json record) {
        if (!solver.empty()) record["solver"] = solver;
        lines += line_of(record);
    };
    for (const TimerRow& row : rows) {
        add(timer_record(row));
        for (std::size_t rank = 0; rank < row.by_rank.size(); ++rank) {
            const RankTime& time = row.by_rank[rank];
            Json record{{"record", "rank_timer"}, {"op", row.op},        {"level", row.level},
                        {"rank", rank},           {"calls", time.calls}, {"seconds", time.seconds}};
            record.update(volume_json(time.sent));
            add(record);
        }
    }
    return lines;
}

std::string closing_records(const Findings& findings) {
    std::string lines;
    for (const Check& check : findings.checks)
        lines += line_of({{"record", "check"},
                          {"name", check.name},
                          {"passed", check.passed},
                          {"value", check.value},
                          {"want", check.want}});
    Json done = Json::array();
    for (const Tally& tally : findings.tallies)
        done.push_back({{"what", tally.what}, {"done", tally.done}, {"all", tally.all}});
    const auto& merit = findings.merit;
    const bool counts = merit && merit->earned() && findings.valid();
    const SolveWork work = counts ? merit->work.value_or(SolveWork{}) : SolveWork{};
    const RunFacts& facts = findings.facts;
    return lines +
           line_of({{"record", "result"},
                    {"fom", counts ? Json(merit->value) : Json()},
                    {"fom_tolerance", number_or_null(work.tolerance)},
                    {"fom_digits", number_or_null(work.digits)},
                    {"unit", merit ? Json(merit->unit) : Json()},
                    {"seconds", merit ? Json(findings.seconds) : Json()},
                    {"parts", findings.parts ? parts_json(*findings.parts) : Json()},
                    {"moved", moved_json(findings.moved, facts.triad_bytes_per_second)},
                    {"mpi_start_seconds", facts.mpi_start_seconds},
                    {"setup_seconds", facts.setup_seconds},
                    {"tuning_seconds", facts.tuning_seconds},
                    {"total_seconds", facts.total_seconds},
                    {"graph_replays", facts.graph_replays},
                    {"measured_bytes", facts.measured_bytes},
                    {"removed_mean", facts.removed_mean},
                    {"zero_right_side", facts.zero_right_side},
                    {"norm_f", facts.norm_f},
                    {"coefficients_seconds", facts.coefficients_seconds},
                    {"done", done},
                    {"interrupted", findings.interrupted()},
                    {"interrupted_by", findings.interrupted() ? Json(name(findings.interruption)) : Json()},
                    {"valid", findings.valid()},
                    {"exit", !findings.trouble.empty() ? 3
                             : findings.interrupted()  ? 4
                             : findings.valid()        ? 0
                                                       : 1}});
}

}  // namespace keel
