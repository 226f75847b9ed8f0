#include "miniapp/files/machine_file.hpp"
#include "miniapp/deck/text/toml.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "comm/patterns/pattern.hpp"
#include "miniapp/deck/text/spelling.hpp"
#include "miniapp/files/data_folders.hpp"

namespace keel {

namespace fs = std::filesystem;

namespace {

constexpr Memory memories[] = {Memory::host, Memory::device, Memory::managed};
constexpr Locality localities[] = {Locality::socket, Locality::node, Locality::off_node};
constexpr Protocol protocols[] = {Protocol::short_, Protocol::eager, Protocol::rendezvous};

struct Count {
    const char* name;
    std::optional<int> Machine::*member;
};
constexpr Count machine_counts[] = {{"ranks_per_node", &Machine::ranks_per_node},
                                    {"ranks_per_socket", &Machine::ranks_per_socket},
                                    {"gpus_per_node", &Machine::gpus_per_node},
                                    {"gpus_per_socket", &Machine::gpus_per_socket}};

// A table of the file and its name in complaints.
struct Place {
    const toml::table& table;
    std::string name;
};

class MachineReader {
  public:
    explicit MachineReader(const FileText& file) : file_(file.name), content_(file) {
        result_.machine.name = std::filesystem::path(file.name).stem().string();
    }

    MachineFile read();

  private:
    void read_all(const toml::table& file);
    void read_messages(const Place& place, Memory memory);
    void read_copies(const toml::node& node);
    void read_compute(const Place& place);
    void read_noise(const Place& place);
    // `more`: what else may be there.
    std::optional<Postal> read_postal(const Place& place, const std::string& key,
                                      const std::vector<std::string>& more = {});
    std::optional<Postal> read_message_cost(const Place& place, const std::string& key);
    std::optional<double> read_beta(const Place& place);
    std::optional<double> read_positive(const Place& place, const std::string& key);
    std::optional<double> read_seconds(const Place& place, const std::string& key);
    std::optional<double> read_number(const Place& place, const std::string& key, bool zero_is_allowed);
    std::optional<std::int64_t> read_integer(const Place& place, const std::string& key, std::int64_t lowest);
    std::optional<Place> table(const Place& place, const std::string& key);

    // Complains of keys that are none of these.
    void allow(const Place& place, const std::vector<std::string>& names);
    template <class T>
    std::optional<T> required(std::optional<T> value, const Place& place, const std::string& key,
                              const std::string& remedy) {
        if (!place.table.contains(key))
            complain(place.table.source(), fmt::format("{} is missing; {}", full(place, key), remedy));
        return value;
    }
    static std::string full(const Place& place, const std::string& key) {
        return place.name.empty() ? key : place.name + "." + key;
    }
    void complain(const toml::source_region& source, const std::string& what) {
        result_.errors.push_back(fmt::format("{}:{}: {}", file_, source.begin.line, what));
    }

    std::string file_;
    const FileText& content_;
    MachineFile result_;
};

MachineFile MachineReader::read() {
    if (!content_.error.empty()) {
        result_.errors.push_back(content_.error);
        return result_;
    }
    const auto [content, error] = parse_toml(content_.text);
    if (error)
        result_.errors.push_back(fmt::format("{}:{}: {}", file_, error->line, error->reason));
    else
        read_all(content);
    return result_;
}

void MachineReader::read_all(const toml::table& content) {
    const Place file{content, ""};
    allow(file, {"machine", "host", "device", "managed", "copy", "compute", "noise"});
    Machine& machine = result_.machine;
    if (const auto here = table(file, "machine")) {
        std::vector<std::string> names{"injection"};
        for (const Count& count : machine_counts) {
            names.push_back(count.name);
            if (const auto value = read_integer(*here, count.name, 1))
                machine.*count.member = static_cast<int>(*value);
        }
        allow(*here, names);
        if (const auto injection = table(*here, "injection")) {
            allow(*injection, {"beta", "rate"});
            machine.injection_beta = read_beta(*injection);
        }
    }
    for (const Memory memory : memories)
        if (const auto here = table(file, name(memory))) read_messages(*here, memory);
    if (const toml::node* copies = content.get("copy")) read_copies(*copies);
    if (const auto here = table(file, "compute")) read_compute(*here);
    if (const auto here = table(file, "noise")) read_noise(*here);
    const auto whole = [&](const Count& part, const Count& all) {
        const auto& p = machine.*part.member;
        const auto& a = machine.*all.member;
        if (p && a && *p > *a)
            complain(content.get("machine")->source(),
                     fmt::format("machine.{} = {}: more than machine.{} = {}; give at most that", part.name,
                                 *p, all.name, *a));
    };
    whole(machine_counts[1], machine_counts[0]);
    whole(machine_counts[3], machine_counts[2]);
}

void MachineReader::read_messages(const Place& here, Memory memory) {
    allow(here, {"eager_from", "rendezvous_from", "socket", "node", "off_node"});
    MessageCosts costs;
    const auto limit = [&](const std::string& key, std::size_t& bytes, const std::string& remedy) {
        if (const auto value = required(read_integer(here, key, 0), here, key, remedy))
            bytes = static_cast<std::size_t>(*value);
    };
    limit("eager_from", costs.eager_from, "give the bytes of the first eager message, 0 if none is short");
    limit("rendezvous_from", costs.rendezvous_from, "give the bytes of the first rendezvous message");
    if (costs.eager_from > costs.rendezvous_from && here.table.contains("rendezvous_from"))
        complain(here.table.source(),
                 fmt::format("{}: eager_from = {} is beyond rendezvous_from = {}; give at most that",
                             here.name, costs.eager_from, costs.rendezvous_from));
    const bool used[] = {costs.eager_from > 0, costs.rendezvous_from > costs.eager_from, true};
    for (const Locality locality : localities) {
        const auto place = table(here, name(locality));
        if (!place) continue;
        std::vector<std::string> names;
        for (const Protocol protocol : protocols) {
            names.push_back(name(protocol));
            const toml::node* node = place->table.get(name(protocol));
            if (node && !used[static_cast<std::size_t>(protocol)])
                complain(node->source(),
                         fmt::format(
                             "{}: by {}.eager_from = {} and rendezvous_from = {} no message is {}; leave it "
                             "out, or change the limits",
                             full(*place, name(protocol)), here.name, costs.eager_from, costs.rendezvous_from,
                             name(protocol)));
            costs.at(locality, protocol) = read_message_cost(*place, name(protocol));
        }
        allow(*place, names);
    }
    result_.machine.messages[static_cast<std::size_t>(memory)] = costs;
}

void MachineReader::read_copies(const toml::node& node) {
    const toml::array* copies = node.as_array();
    if (!copies || !copies->is_homogeneous<toml::table>())
        return complain(node.source(), "copy: must be tables; write [[copy]] and its keys below it");
    for (const toml::node& element : *copies) {
        const Place here{*element.as_table(), "copy"};
        allow(here, {"processes", "to_device", "to_host"});
        const auto processes =
            required(read_integer(here, "processes", 1), here, "processes", "give how many copy at a time");
        const std::string remedy = "give { alpha = ..., beta = ... }";
        const auto to_device = required(read_postal(here, "to_device"), here, "to_device", remedy);
        const auto to_host = required(read_postal(here, "to_host"), here, "to_host", remedy);
        if (!processes || !to_device || !to_host) continue;
        auto& known = result_.machine.copies;
        if (std::ranges::find(known, static_cast<int>(*processes), &CopyCosts::processes) != known.end())
            complain(element.source(),
                     fmt::format("copy.processes = {}: given twice; give it once", *processes));
        known.push_back({static_cast<int>(*processes), *to_device, *to_host});
    }
}

void MachineReader::read_compute(const Place& here) {
    allow(here, {"rate", "launch", "flop_rate", "cache", "look"});
    const auto rate = required(read_positive(here, "rate"), here, "rate",
                               "give the bytes a second that a rank moves from and to memory");
    const auto launch = required(read_seconds(here, "launch"), here, "launch",
                                 "give the seconds that an operation takes at least, 0 if none");
    Compute compute{rate.value_or(0), launch.value_or(0), read_positive(here, "flop_rate")};
    if (const auto place = table(here, "cache")) {
        allow(*place, {"bytes", "rate"});
        const auto bytes = required(read_positive(*place, "bytes"), *place, "bytes",
                                    "give the bytes of a rank's share of the cache");
        const auto cached = required(read_positive(*place, "rate"), *place, "rate",
                                     "give the bytes a second that a rank moves from and to the cache");
        if (rate && cached && *cached < *rate)
            complain(place->table.source(),
                     fmt::format("compute.cache.rate = {}: less than compute.rate = {}, that of memory; "
                                 "give at least that, or no cache",
                                 *cached, *rate));
        if (bytes && cached) compute.cache = {*bytes, *cached};
    }
    compute.look = read_seconds(here, "look").value_or(0);
    result_.machine.compute = compute;
}

void MachineReader::read_noise(const Place& here) {
    allow(here, {"all_reduce", "nonblocking_all_reduce", "exchange"});
    result_.machine.noise = {read_seconds(here, "all_reduce").value_or(0),
                             read_seconds(here, "nonblocking_all_reduce"),
                             read_seconds(here, "exchange").value_or(0)};
}

// The cost of a message, of which the overhead is a part if it is given.
std::optional<Postal> MachineReader::read_message_cost(const Place& place, const std::string& key) {
    auto cost = read_postal(place, key, {"overhead"});
    const toml::table* given = place.table[key].as_table();
    if (!cost || !given) return cost;
    const Place here{*given, full(place, key)};
    cost->overhead = read_seconds(here, "overhead");
    if (cost->overhead.value_or(0) > cost->alpha)
        complain(given->get("overhead")->source(),
                 fmt::format("{}.overhead = {}: more than alpha = {}, of which it is a part; give at most "
                             "that",
                             here.name, *cost->overhead, cost->alpha));
    return cost;
}

std::optional<Postal> MachineReader::read_postal(const Place& place, const std::string& key,
                                                 const std::vector<std::string>& more) {
    const auto here = table(place, key);
    if (!here) return {};
    std::vector<std::string> names{"alpha", "beta", "rate"};
    names.insert(names.end(), more.begin(), more.end());
    allow(*here, names);
    const auto alpha = required(read_positive(*here, "alpha"), *here, "alpha", "give the seconds a message");
    const auto beta = read_beta(*here);
    if (!alpha || !beta) return {};
    return Postal{*alpha, *beta};
}

// beta, or the inverse of rate.
std::optional<double> MachineReader::read_beta(const Place& here) {
    const bool both = here.table.contains("beta") && here.table.contains("rate");
    if (both || (!here.table.contains("beta") && !here.table.contains("rate"))) {
        complain(here.table.source(),
                 fmt::format("{}: {}; give beta, the seconds a byte, or rate, the bytes a second", here.name,
                             both ? "has beta and rate" : "beta is missing"));
        return {};
    }
    if (const auto beta = read_positive(here, "beta")) return beta;
    if (const auto rate = read_positive(here, "rate")) return 1 / *rate;
    return {};
}

std::optional<double> MachineReader::read_positive(const Place& place, const std::string& key) {
    return read_number(place, key, false);
}

std::optional<double> MachineReader::read_seconds(const Place& place, const std::string& key) {
    return read_number(place, key, true);
}

std::optional<double> MachineReader::read_number(const Place& place, const std::string& key,
                                                 bool zero_is_allowed) {
    const toml::node* node = place.table.get(key);
    if (!node) return {};
    const std::optional<double> value = node->value<double>();
    // Within these no sum over ranks and messages overflows, and no time vanishes.
    constexpr double least = 1e-18, most = 1e18;
    if (node->is_number() && ((*value >= least && *value <= most) || (zero_is_allowed && *value == 0)))
        return value;
    complain(node->source(), fmt::format("{}: must be a number {} 0, from {:g} to {:g}, such as 1.5e-6",
                                         full(place, key), zero_is_allowed ? ">=" : ">", least, most));
    return {};
}

std::optional<std::int64_t> MachineReader::read_integer(const Place& place, const std::string& key,
                                                        std::int64_t lowest) {
    const toml::node* node = place.table.get(key);
    if (!node) return {};
    const auto* integer = node->as_integer();
    if (integer && integer->get() >= lowest && integer->get() <= std::numeric_limits<int>::max())
        return integer->get();
    complain(node->source(), fmt::format("{}: must be an integer >= {}", full(place, key), lowest));
    return {};
}

std::optional<Place> MachineReader::table(const Place& place, const std::string& key) {
    const toml::node* node = place.table.get(key);
    if (!node) return {};
    if (const auto* table = node->as_table()) return Place{*table, full(place, key)};
    complain(node->source(), fmt::format("{}: must be a table, such as {{ alpha = 1e-6, beta = 1e-10 }} or "
                                         "[{}] and its keys below it",
                                         full(place, key), full(place, key)));
    return {};
}

void MachineReader::allow(const Place& place, const std::vector<std::string>& names) {
    for (const auto& [key, node] : place.table) {
        const std::string given(key.str());
        if (std::ranges::find(names, given) != names.end()) continue;
        complain(key.source(), fmt::format("{}: unknown key; allowed are {}{}", full(place, given),
                                           fmt::join(names, ", "), did_you_mean(given, names)));
    }
}

// As JSON: the shortest digits that read back to the same number.
std::string exact(double number) {
    return nlohmann::json(number).dump();
}

std::string postal_text(const Postal& cost) {
    return fmt::format("{{ alpha = {}, beta = {}{} }}", exact(cost.alpha), exact(cost.beta),
                       cost.overhead ? ", overhead = " + exact(*cost.overhead) : "");
}

}  // namespace

MachineFile parse_machine(const FileText& file) {
    return MachineReader(file).read();
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
    text += "\n[machine]\n";
    for (const Count& count : machine_counts)
        if (const auto& value = machine.*count.member) text += fmt::format("{} = {}\n", count.name, *value);
    if (machine.injection_beta)
        text += fmt::format("injection = {{ beta = {} }} # 1 / R_N\n", exact(*machine.injection_beta));
    for (const Memory memory : memories) {
        const auto& costs = machine.messages[static_cast<std::size_t>(memory)];
        if (!costs) continue;
        text += fmt::format("\n[{}]\neager_from = {} # bytes\nrendezvous_from = {}\n", name(memory),
                            costs->eager_from, costs->rendezvous_from);
        for (const Locality locality : localities) {
            std::string lines;
            for (const Protocol protocol : protocols)
                if (const auto& cost = costs->at(locality, protocol))
                    lines += fmt::format("{} = {}\n", name(protocol), postal_text(*cost));
            if (!lines.empty()) text += fmt::format("\n[{}.{}]\n{}", name(memory), name(locality), lines);
        }
    }
    for (const CopyCosts& copy : machine.copies)
        text += fmt::format("\n[[copy]]\nprocesses = {}\nto_device = {}\nto_host = {}\n", copy.processes,
                            postal_text(copy.to_device), postal_text(copy.to_host));
    if (const auto& compute = machine.compute) {
        text += fmt::format("\n[compute]\nrate = {} # bytes a second and rank\nlaunch = {}\n",
                            exact(compute->rate), exact(compute->launch));
        if (compute->flop_rate) text += fmt::format("flop_rate = {}\n", exact(*compute->flop_rate));
        if (compute->look > 0) text += fmt::format("look = {}\n", exact(compute->look));
        if (compute->cache)
            text += fmt::format("cache = {{ bytes = {}, rate = {} }}\n", exact(compute->cache->bytes),
                                exact(compute->cache->rate));
    }
    if (const Noise& noise = machine.noise; noise != Noise{}) {
        text += fmt::format("\n[noise]\nall_reduce = {}\n", exact(noise.all_reduce));
        if (noise.nonblocking_all_reduce)
            text += fmt::format("nonblocking_all_reduce = {}\n", exact(*noise.nonblocking_all_reduce));
        text += fmt::format("exchange = {}\n", exact(noise.exchange));
    }
    return text;
}

}  // namespace keel
