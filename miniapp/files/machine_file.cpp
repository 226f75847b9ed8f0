#include "miniapp/files/machine_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

#include "comm/patterns/pattern.hpp"
#include "miniapp/deck/rules.hpp"
#include "miniapp/deck/section.hpp"
#include "miniapp/deck/text/toml.hpp"
#include "miniapp/files/data_folders.hpp"

namespace keel {

namespace fs = std::filesystem;

namespace {

// The part of a machine; one that is to be written to is made if it is not there.
template <class T>
T* part(std::optional<T>& whole) {
    if (!whole) whole = T{};
    return &*whole;
}
template <class T>
const T* part(const std::optional<T>& whole) {
    return whole ? &*whole : nullptr;
}
// Files are read copy by copy.
CopyCosts* part(std::vector<CopyCosts>& copies) {
    return copies.empty() ? &copies.emplace_back() : &copies.back();
}
const CopyCosts* part(const std::vector<CopyCosts>& copies) {
    return copies.empty() ? nullptr : &copies.back();
}

// Within these no sum over ranks and messages overflows, and no time vanishes.
constexpr Interval positive{1e-18, 1e18, false, false};
constexpr Interval duration{0, 1e18, false, false};

// The inverse of a rate; printed by another key.
ValueKind<double> inverse_kind() {
    ValueKind<double> kind = real_kind(positive);
    kind.parse = [parse = kind.parse](const DeckValue& value) {
        Parsed<double> parsed = parse(value);
        if (parsed.value) parsed.value = 1 / *parsed.value;
        return parsed;
    };
    kind.print = [](double) { return DeckValue(); };
    return kind;
}

// `find` returns the address of the structure in a machine.
template <class Options, class Find>
Section<Options> section(Table& table, const std::string& name, const Find& find) {
    return {table, name, [find](auto& p) { return find(p.mode_options.template of<Machine>()); }};
}

template <class Find>
Section<Postal> postal(Table& table, const std::string& name, const Find& find) {
    return section<Postal>(table, name, find)
        .real("alpha", &Postal::alpha, positive, "seconds a message")
        .real("beta", &Postal::beta, positive, "seconds a byte")
        .add("rate", inverse_kind(), &Postal::beta, "bytes a second, in place of beta");
}

void add_messages(Table& table, Memory memory) {
    const auto costs = [=](auto& machine) {
        return part(machine.messages[static_cast<std::size_t>(memory)]);
    };
    section<MessageCosts>(table, name(memory), costs)
        .integer("eager_from", &MessageCosts::eager_from, at_least(0),
                 "bytes of the first eager message, 0 if none is short")
        .integer("rendezvous_from", &MessageCosts::rendezvous_from, at_least(0),
                 "bytes of the first rendezvous message");
    for (const Locality locality : values_of<Locality>())
        for (const Protocol protocol : values_of<Protocol>())
            postal(table, fmt::format("{}.{}.{}", name(memory), name(locality), name(protocol)),
                   [=](auto& machine) {
                       auto* const messages = costs(machine);
                       return messages ? part(messages->at(locality, protocol)) : nullptr;
                   })
                .real("overhead", &Postal::overhead, duration, "seconds of alpha that keep the process busy");
}

Table machine_table() {
    Table table;
    const auto whole = [](auto& machine) { return &machine; };
    const auto count = integer_kind(1, std::numeric_limits<int>::max(), {});
    section<Machine>(table, "machine", whole)
        .add("ranks_per_node", count, &Machine::ranks_per_node, "ranks of a node")
        .add("ranks_per_socket", count, &Machine::ranks_per_socket, "ranks of a socket")
        .add("gpus_per_node", count, &Machine::gpus_per_node, "GPUs of a node")
        .add("gpus_per_socket", count, &Machine::gpus_per_socket, "GPUs of a socket")
        .real("concurrency", &Machine::concurrency, Interval{0, 1, false, false},
              "share of alpha that passes beside other messages of the process");
    section<Machine>(table, "machine.injection", whole)
        .real("beta", &Machine::injection_beta, positive, "seconds a byte that a node sends, 1 / R_N")
        .add("rate", inverse_kind(), &Machine::injection_beta, "R_N, in place of beta");
    for (const Memory memory : values_of<Memory>()) add_messages(table, memory);
    for (const Carrier carrier : values_of<Carrier>())
        for (const Locality locality : values_of<Locality>())
            section<Carriage>(table, fmt::format("transports.{}.{}", name(carrier), name(locality)),
                              [=](auto& machine) {
                                  return part(machine.transports[static_cast<std::size_t>(carrier)]
                                                                [static_cast<std::size_t>(locality)]);
                              })
                .real("overhead", &Carriage::overhead, positive, "seconds that a short message is busy")
                .real("latency", &Carriage::latency, positive, "seconds of an exchange of short messages");
    const auto copy = [](auto& machine) { return part(machine.copies); };
    section<CopyCosts>(table, "copy", copy)
        .integer("processes", &CopyCosts::processes, at_least(1), "processes of a node that copy at a time");
    for (const auto& [name, way] :
         {std::pair("copy.to_device", &CopyCosts::to_device), std::pair("copy.to_host", &CopyCosts::to_host)})
        postal(table, name, [=, way = way](auto& machine) {
            auto* const costs = copy(machine);
            return costs ? &(costs->*way) : nullptr;
        });
    const auto compute = [](auto& machine) { return part(machine.compute); };
    section<Compute>(table, "compute", compute)
        .real("rate", &Compute::rate, positive, "bytes a second that a rank moves from and to memory")
        .real("launch", &Compute::launch, duration, "seconds that an operation takes at least, 0 if none")
        .real("flop_rate", &Compute::flop_rate, positive, "flops a second of a rank")
        .real("look", &Compute::look, duration, "seconds of asking whether a message has come");
    section<Compute::Cache>(table, "compute.cache",
                            [=](auto& machine) {
                                auto* const costs = compute(machine);
                                return costs ? part(costs->cache) : nullptr;
                            })
        .real("bytes", &Compute::Cache::bytes, positive, "bytes of a rank's share of the cache")
        .real("rate", &Compute::Cache::rate, positive,
              "bytes a second that a rank moves from and to the cache");
    section<LaunchCosts>(table, "launch", [](auto& machine) { return part(machine.launch); })
        .real("launch", &LaunchCosts::launch, duration, "seconds of a kernel or copy that is sent alone")
        .real("wait", &LaunchCosts::wait, duration, "seconds of a host's wait for its device")
        .real("replay", &LaunchCosts::replay, duration, "seconds of a graph that is sent")
        .real("node", &LaunchCosts::node, duration, "seconds of a kernel or copy in a graph")
        .real("block", &LaunchCosts::block, positive, "bytes a second that one block of threads moves");
    section<Noise>(table, "noise", [](auto& machine) { return &machine.noise; })
        .real("all_reduce", &Noise::all_reduce, duration, "seconds that an all-reduce is late")
        .real("nonblocking_all_reduce", &Noise::nonblocking_all_reduce, duration,
              "seconds that a pending one is late")
        .real("exchange", &Noise::exchange, duration, "seconds that an exchange is late");
    return table;
}

// The keys that sections need, and values that must fit together.
void check_machine(Rules& rules) {
    const Table& table = *rules.deck().table;
    const auto value = [&](const std::string& key) { return table.find(key)->value(rules.parameters()); };
    const auto need = [&](const std::string& key) {
        const std::string section = key.substr(0, key.rfind('.'));
        const Key* const found = table.find(key);
        rules.require(!rules.is_set(section) || rules.is_set(key), {key, section},
                      fmt::format("{} is missing; give {}", key,
                                  found ? "the " + found->meaning : "{ alpha = ..., beta = ... }"));
    };
    const auto limit = [&](const std::string& low, const std::string& high) {
        if (!rules.is_set(low) || !rules.is_set(high)) return;
        rules.allow(value(low) <= value(high), {low, high},
                    fmt::format("more than {} = {}; give at most that", high, json_text(value(high))));
    };
    for (const char* const key : {"copy.processes", "copy.to_device", "copy.to_host", "compute.rate",
                                  "compute.cache.bytes", "compute.cache.rate", "launch.launch", "launch.wait",
                                  "launch.replay", "launch.node", "launch.block"})
        need(key);
    if (!rules.is_set("launch")) need("compute.launch");
    rules.require(!rules.is_set("launch") || !rules.is_set("compute.launch") || value("compute.launch") == 0,
                  {"compute.launch", "launch"},
                  "the section [launch] prices launches, too; leave compute.launch out");
    rules.require(!rules.is_set("launch") || rules.is_set("compute"), {"launch", "compute"},
                  "launches are priced beside the bytes of their work; give the section [compute], too");
    limit("machine.ranks_per_socket", "machine.ranks_per_node");
    limit("machine.gpus_per_socket", "machine.gpus_per_node");
    limit("compute.rate", "compute.cache.rate");
    for (const std::string memory : names_of(Memory{})) {
        const std::string eager = memory + ".eager_from";
        const std::string rendezvous = memory + ".rendezvous_from";
        need(eager);
        need(rendezvous);
        limit(eager, rendezvous);
        for (const std::string place : names_of(Locality{}))
            for (const auto& [protocol, used] :
                 {std::pair("short", value(eager) > 0), std::pair("eager", value(eager) < value(rendezvous))})
                if (const auto cost = fmt::format("{}.{}.{}", memory, place, protocol); rules.is_set(cost))
                    rules.require(used, {cost, eager, rendezvous},
                                  fmt::format("{}: by {} and rendezvous_from no message is {}; leave it out, "
                                              "or change the limits",
                                              cost, eager, protocol));
    }
    for (const std::string& section : table.sections()) {
        if (section.starts_with("transports.")) {
            need(section + ".overhead");
            need(section + ".latency");
            const std::string isend = "transports.isend" + section.substr(section.rfind('.'));
            rules.require(!rules.is_set(section) || rules.is_set(isend), {section, isend},
                          fmt::format("{}: costs are beside those of isend; give {}", section, isend));
        }
        if (table.find(section, "alpha")) need(section + ".alpha");
        if (table.find(section, "overhead")) limit(section + ".overhead", section + ".alpha");
        if (!table.find(section, "beta")) continue;
        const bool has_beta = rules.is_set(section + ".beta");
        rules.require(!rules.is_set(section) || has_beta != rules.is_set(section + ".rate"),
                      {section, section + ".beta", section + ".rate"},
                      fmt::format("{}: {}; give beta, the seconds a byte, or rate, the bytes a second",
                                  section, has_beta ? "has beta and rate" : "beta is missing"));
    }
}

}  // namespace

MachineFile parse_machine(const FileText& file) {
    if (!file.error.empty()) return {{}, {file.error}};
    Toml toml = parse_toml(file.text);
    if (toml.error) return {{}, {fmt::format("{}:{}: {}", file.name, toml.error->line, toml.error->reason)}};
    std::deque<toml::table> parts;  // each copy, then the rest
    if (auto* const copies = toml.table["copy"].as_array(); copies && copies->is_homogeneous<toml::table>()) {
        for (toml::node& copy : *copies) parts.emplace_back().insert("copy", std::move(*copy.as_table()));
        toml.table.erase("copy");
    }
    parts.push_back(std::move(toml.table));
    const Table table = machine_table();
    MachineFile result;
    for (const toml::table& part : parts) {
        Deck deck = read_deck(table, file.name, part);
        Machine& machine = deck.parameters.mode_options.of<Machine>();
        Rules rules(deck);
        check_machine(rules);
        std::vector<CopyCosts> known = std::move(result.machine.copies);
        for (const CopyCosts& copy : machine.copies)
            rules.allow(std::ranges::find(known, copy.processes, &CopyCosts::processes) == known.end(),
                        {"copy.processes"}, "given twice; give it once");
        for (const auto& errors : {deck.errors, std::move(rules).errors()})
            result.errors.insert(result.errors.end(), errors.begin(), errors.end());
        machine.copies.insert(machine.copies.begin(), known.begin(), known.end());
        result.machine = std::move(machine);
    }
    result.machine.name = fs::path(file.name).stem().string();
    return result;
}

FileText find_machine(const std::string& name, const fs::path& beside) {
    if (name.ends_with(".toml")) return read_text(found_file(name, {beside}));
    std::vector<std::string> known;
    std::vector<std::string> looked;
    std::vector<fs::path> all{beside};
    for (const fs::path& data : data_folders()) all.push_back(data);
    for (const fs::path& data : all) {
        const fs::path folder = data / "machines";
        if (std::error_code ignored; fs::exists(folder / (name + ".toml"), ignored))
            return read_text(folder / (name + ".toml"));
        looked.push_back(folder.lexically_normal().string());
        std::error_code no_folder;
        for (const auto& entry : fs::directory_iterator(folder, no_folder))
            if (entry.path().extension() == ".toml") known.push_back(entry.path().stem().string());
    }
    sort_distinct(known);
    return {.name = name,
            .text = {},
            .error = known.empty()
                         ? fmt::format("unknown machine: there are none in {}; give the path of a machine's "
                                       "file, or the folder that has machines/ as KEEL_DATA",
                                       fmt::join(looked, ", "))
                         : fmt::format("unknown machine; choose {}, or give the path of a machine's file",
                                       fmt::join(known, ", "))};
}

std::string machine_toml(const Machine& machine, std::span<const std::string> comments) {
    std::string text;
    for (const std::string& comment : comments) text += "# " + comment + "\n";
    std::vector<Machine> parts{machine};
    parts.front().copies.clear();
    for (const CopyCosts& copy : machine.copies) parts.emplace_back().copies = {copy};
    const Table table = machine_table();
    const Parameters defaults;
    std::string header;
    for (const Machine& part : parts) {
        Parameters parameters;
        parameters.mode_options.of<Machine>() = part;
        for (const std::string& section : table.sections()) {
            std::vector<std::string> values;
            for (const Key& key : table.keys())
                if (key.section == section && key.value(parameters) != key.value(defaults))
                    values.push_back(fmt::format("{} = {}", key.name, json_text(key.value(parameters))));
            if (values.empty()) continue;
            const auto dot = section.rfind('.');
            const std::string outer = section.substr(0, dot);
            if (outer != header || section == "copy")
                text += outer == "copy" ? "\n[[copy]]\n" : "\n[" + outer + "]\n";
            header = outer;
            text += dot == section.npos
                        ? fmt::format("{}\n", fmt::join(values, "\n"))
                        : fmt::format("{} = {{ {} }}\n", section.substr(dot + 1), fmt::join(values, ", "));
        }
    }
    return text;
}

}  // namespace keel
