#include "miniapp/files/machine_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>

#include "comm/patterns/pattern.hpp"
#include "miniapp/deck/text/spelling.hpp"
#include "miniapp/deck/text/toml.hpp"
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

// A table of the file, read key by key: keys that nobody asks for are unknown. A key that is missing or wrong
// gives nothing; it is complained of if it is wrong, or missing although there is a remedy for that.
class FileTable {
  public:
    FileTable(const toml::table& content, std::string name, const std::string& file,
              std::vector<std::string>& errors)
        : content_(content), name_(std::move(name)), file_(file), errors_(errors) {}

    std::string full(const std::string& key) const { return name_.empty() ? key : name_ + "." + key; }
    void complain(const toml::source_region& source, const std::string& what) {
        errors_.push_back(fmt::format("{}:{}: {}", file_, source.begin.line, what));
    }
    // `what` follows the full name of the key.
    void complain_of(const std::string& key, const std::string& what) {
        const toml::node* const node = content_.get(key);
        complain(node ? node->source() : content_.source(), full(key) + what);
    }

    const toml::node* find(const std::string& key, const std::string& remedy = "") {
        known_.push_back(key);
        const toml::node* const node = content_.get(key);
        if (!node && !remedy.empty()) complain_of(key, " is missing; " + remedy);
        return node;
    }
    std::optional<double> positive(const std::string& key, const std::string& remedy = "") {
        return number(key, remedy, false);
    }
    std::optional<double> seconds(const std::string& key, const std::string& remedy = "") {
        return number(key, remedy, true);
    }
    std::optional<int> integer(const std::string& key, int lowest, const std::string& remedy = "");
    // Each byte's seconds, or the inverse of a rate.
    std::optional<double> beta();
    std::optional<Postal> postal(const std::string& key, bool has_overhead = false,
                                 const std::string& remedy = "");
    // Hands the table of that name, if there is one, to `read`, and complains of its unknown keys.
    template <class Read>
    void table(const std::string& key, const Read& read, const std::string& remedy = "") {
        const toml::node* const node = find(key, remedy);
        if (!node) return;
        if (const auto* const inner = node->as_table())
            return FileTable(*inner, full(key), file_, errors_).read_all(read);
        complain_of(key, fmt::format(": must be a table, such as {{ alpha = 1e-6, beta = 1e-10 }} or [{}] "
                                     "and its keys below it",
                                     full(key)));
    }
    // The same of an array of tables.
    template <class Read>
    void tables(const std::string& key, const Read& read) {
        const toml::node* const node = find(key);
        if (!node) return;
        const toml::array* const all = node->as_array();
        if (!all || !all->is_homogeneous<toml::table>())
            return complain_of(key, ": must be tables; write [[" + key + "]] and its keys below it");
        for (const toml::node& one : *all)
            FileTable(*one.as_table(), full(key), file_, errors_).read_all(read);
    }
    template <class Read>
    void read_all(const Read& read) {
        read(*this);
        for (const auto& [key, node] : content_) {
            const std::string given(key.str());
            if (std::ranges::find(known_, given) == known_.end())
                complain(key.source(), fmt::format("{}: unknown key; allowed are {}{}", full(given),
                                                   fmt::join(known_, ", "), did_you_mean(given, known_)));
        }
    }

  private:
    std::optional<double> number(const std::string& key, const std::string& remedy, bool zero_is_allowed);

    const toml::table& content_;
    std::string name_;  // in complaints
    const std::string& file_;
    std::vector<std::string>& errors_;
    std::vector<std::string> known_;
};

std::optional<double> FileTable::number(const std::string& key, const std::string& remedy,
                                        bool zero_is_allowed) {
    const toml::node* const node = find(key, remedy);
    if (!node) return {};
    const std::optional<double> value = node->value<double>();
    // Within these no sum over ranks and messages overflows, and no time vanishes.
    constexpr double least = 1e-18, most = 1e18;
    if (node->is_number() && ((*value >= least && *value <= most) || (zero_is_allowed && *value == 0)))
        return value;
    complain_of(key, fmt::format(": must be a number {} 0, from {:g} to {:g}, such as 1.5e-6",
                                 zero_is_allowed ? ">=" : ">", least, most));
    return {};
}

std::optional<int> FileTable::integer(const std::string& key, int lowest, const std::string& remedy) {
    const toml::node* const node = find(key, remedy);
    if (!node) return {};
    const auto* const integer = node->as_integer();
    if (integer && integer->get() >= lowest && integer->get() <= std::numeric_limits<int>::max())
        return static_cast<int>(integer->get());
    complain_of(key, fmt::format(": must be an integer >= {}", lowest));
    return {};
}

std::optional<double> FileTable::beta() {
    const auto beta = positive("beta");
    const auto rate = positive("rate");
    const bool has_beta = content_.contains("beta");
    if (has_beta == content_.contains("rate")) {
        complain(content_.source(),
                 fmt::format("{}: {}; give beta, the seconds a byte, or rate, the bytes a second", name_,
                             has_beta ? "has beta and rate" : "beta is missing"));
        return {};
    }
    return rate ? std::optional(1 / *rate) : beta;
}

std::optional<Postal> FileTable::postal(const std::string& key, bool has_overhead,
                                        const std::string& remedy) {
    std::optional<Postal> cost;
    const auto read = [&](FileTable& here) {
        const auto alpha = here.positive("alpha", "give the seconds a message");
        const auto beta = here.beta();
        const auto overhead = has_overhead ? here.seconds("overhead") : std::nullopt;
        if (alpha && beta) cost = Postal{*alpha, *beta, overhead};
        if (alpha && overhead.value_or(0) > *alpha)
            here.complain_of(
                "overhead",
                fmt::format(" = {}: more than alpha = {}, of which it is a part; give at most that",
                            *overhead, *alpha));
    };
    table(key, read, remedy);
    return cost;
}

void read_machine(FileTable& here, Machine& machine) {
    for (const Count& count : machine_counts) machine.*count.member = here.integer(count.name, 1);
    here.table("injection", [&](FileTable& injection) { machine.injection_beta = injection.beta(); });
    const auto whole = [&](const Count& part, const Count& all) {
        const auto& p = machine.*part.member;
        const auto& a = machine.*all.member;
        if (p && a && *p > *a)
            here.complain_of(part.name, fmt::format(" = {}: more than {} = {}; give at most that", *p,
                                                    here.full(all.name), *a));
    };
    whole(machine_counts[1], machine_counts[0]);
    whole(machine_counts[3], machine_counts[2]);
}

MessageCosts read_messages(FileTable& here) {
    MessageCosts costs;
    const auto eager_from =
        here.integer("eager_from", 0, "give the bytes of the first eager message, 0 if none is short");
    const auto rendezvous_from =
        here.integer("rendezvous_from", 0, "give the bytes of the first rendezvous message");
    costs.eager_from = static_cast<std::size_t>(eager_from.value_or(0));
    costs.rendezvous_from = static_cast<std::size_t>(rendezvous_from.value_or(0));
    if (rendezvous_from && costs.eager_from > costs.rendezvous_from)
        here.complain_of("eager_from", fmt::format(" = {} is beyond rendezvous_from = {}; give at most that",
                                                   costs.eager_from, costs.rendezvous_from));
    const bool used[] = {costs.eager_from > 0, costs.rendezvous_from > costs.eager_from, true};
    for (const Locality locality : localities)
        here.table(name(locality), [&](FileTable& place) {
            for (const Protocol protocol : protocols) {
                const auto& cost = costs.at(locality, protocol) = place.postal(name(protocol), true);
                if (cost && !used[static_cast<std::size_t>(protocol)])
                    place.complain_of(
                        name(protocol),
                        fmt::format(": by {} = {} and rendezvous_from = {} no message is {}; leave it out, "
                                    "or change the limits",
                                    here.full("eager_from"), costs.eager_from, costs.rendezvous_from,
                                    name(protocol)));
            }
        });
    return costs;
}

void read_copy(FileTable& here, std::vector<CopyCosts>& known) {
    const std::string remedy = "give { alpha = ..., beta = ... }";
    const auto processes = here.integer("processes", 1, "give how many copy at a time");
    const auto to_device = here.postal("to_device", false, remedy);
    const auto to_host = here.postal("to_host", false, remedy);
    if (!processes || !to_device || !to_host) return;
    if (std::ranges::find(known, *processes, &CopyCosts::processes) != known.end())
        here.complain_of("processes", fmt::format(" = {}: given twice; give it once", *processes));
    known.push_back({*processes, *to_device, *to_host});
}

Compute read_compute(FileTable& here) {
    const auto rate = here.positive("rate", "give the bytes a second that a rank moves from and to memory");
    const auto launch =
        here.seconds("launch", "give the seconds that an operation takes at least, 0 if none");
    Compute compute{rate.value_or(0), launch.value_or(0), here.positive("flop_rate")};
    here.table("cache", [&](FileTable& place) {
        const auto bytes = place.positive("bytes", "give the bytes of a rank's share of the cache");
        const auto cached =
            place.positive("rate", "give the bytes a second that a rank moves from and to the cache");
        if (rate && cached && *cached < *rate)
            place.complain_of("rate", fmt::format(" = {}: less than compute.rate = {}, that of memory; give "
                                                  "at least that, or no cache",
                                                  *cached, *rate));
        if (bytes && cached) compute.cache = {*bytes, *cached};
    });
    compute.look = here.seconds("look").value_or(0);
    return compute;
}

void read_file(FileTable& file, Machine& machine) {
    file.table("machine", [&](FileTable& here) { read_machine(here, machine); });
    for (const Memory memory : memories)
        file.table(name(memory), [&](FileTable& here) {
            machine.messages[static_cast<std::size_t>(memory)] = read_messages(here);
        });
    file.tables("copy", [&](FileTable& here) { read_copy(here, machine.copies); });
    file.table("compute", [&](FileTable& here) { machine.compute = read_compute(here); });
    file.table("noise", [&](FileTable& here) {
        machine.noise.all_reduce = here.seconds("all_reduce").value_or(0);
        machine.noise.nonblocking_all_reduce = here.seconds("nonblocking_all_reduce");
        machine.noise.exchange = here.seconds("exchange").value_or(0);
    });
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
    if (!file.error.empty()) return {{}, {file.error}};
    MachineFile result;
    result.machine.name = fs::path(file.name).stem().string();
    const auto [content, error] = parse_toml(file.text);
    if (error)
        result.errors.push_back(fmt::format("{}:{}: {}", file.name, error->line, error->reason));
    else
        FileTable(content, "", file.name, result.errors).read_all([&](FileTable& whole) {
            read_file(whole, result.machine);
        });
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
