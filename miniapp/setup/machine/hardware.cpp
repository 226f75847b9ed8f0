#include "miniapp/setup/machine/hardware.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "miniapp/deck/text/text.hpp"

namespace keel {
namespace {

using std::filesystem::path;

// Names in a folder, in order; none if it cannot be read.
std::vector<std::string> names_in(const path& folder) {
    std::error_code error;
    std::vector<std::string> names;
    for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error))
        names.push_back(entry->path().filename());
    std::ranges::sort(names);
    return names;
}

std::string first_line(const path& file) {
    std::string line;
    std::getline(std::ifstream(file), line);
    return trimmed(line);
}

std::optional<double> number_in(const std::string& text) {
    double number = 0;
    return std::istringstream(text) >> number && number > 0 ? std::optional(number) : std::nullopt;
}

// The values of a file of lines "key : value", each key's first one.
std::map<std::string, std::string> values_in(const path& file, char separator = ':') {
    std::map<std::string, std::string> values;
    std::ifstream lines(file);
    for (std::string line; std::getline(lines, line);)
        if (const std::size_t at = line.find(separator); at != line.npos)
            values.try_emplace(trimmed(line.substr(0, at)), trimmed(line.substr(at + 1)));
    return values;
}

// Arm's processors have numbers in place of a name.
std::string arm_name(const std::string& implementer, const std::string& part) {
    struct Known {
        const char *implementer, *part, *name;
    };
    constexpr std::array known{
        Known{"0x41", "0xd0c", "Arm Neoverse N1"}, Known{"0x41", "0xd40", "Arm Neoverse V1"},
        Known{"0x41", "0xd49", "Arm Neoverse N2"}, Known{"0x41", "0xd4f", "Arm Neoverse V2"},
        Known{"0x46", "0x001", "Fujitsu A64FX"}};
    for (const Known& one : known)
        if (one.implementer == implementer && one.part == part) return one.name;
    return fmt::format("implementer {}, part {}", implementer, part);
}

void read_processors(const path& root, Hardware& found) {
    auto info = values_in(root / "proc/cpuinfo");
    if (!info["model name"].empty())
        found.processor = info["model name"];
    else if (!info["cpu"].empty())  // POWER: "POWER9, altivec supported"
        found.processor = info["cpu"].substr(0, info["cpu"].find(','));
    else if (!info["CPU part"].empty())
        found.processor = arm_name(info["CPU implementer"], info["CPU part"]);
    const path system = root / "sys/devices/system/cpu";
    std::set<std::string> sockets;
    std::set<std::string> cores;
    int threads = 0;
    for (const std::string& name : names_in(system)) {
        const bool numbered =
            name.size() > 3 && name.starts_with("cpu") &&
            std::all_of(name.begin() + 3, name.end(), [](char c) { return c >= '0' && c <= '9'; });
        const std::string core = numbered ? first_line(system / name / "topology/thread_siblings_list") : "";
        if (core.empty()) continue;
        ++threads;
        cores.insert(core);
        if (const std::string socket = first_line(system / name / "topology/physical_package_id");
            socket != "-1")
            sockets.insert(socket);
    }
    if (threads > 0) {
        found.threads = threads;
        found.cores = static_cast<int>(cores.size());
    }
    sockets.erase("");
    if (!sockets.empty()) found.sockets = static_cast<int>(sockets.size());
    const auto kilohertz = number_in(first_line(system / "cpu0/cpufreq/cpuinfo_max_freq"));
    const auto megahertz = number_in(info["cpu MHz"] + info["clock"]);
    if (kilohertz || megahertz) found.hertz = kilohertz ? 1e3 * *kilohertz : 1e6 * *megahertz;
}

void read_memory(const path& root, Hardware& found) {
    if (const auto kilobytes = number_in(values_in(root / "proc/meminfo")["MemTotal"]))
        found.memory_bytes = 1024 * *kilobytes;
    // Controllers with error correction name the type of each module.
    const path controllers = root / "sys/devices/system/edac/mc";
    for (const std::string& controller : names_in(controllers))
        for (const std::string& module : names_in(controllers / controller))
            if (const std::string type = first_line(controllers / controller / module / "dimm_mem_type");
                !found.memory_type && !type.empty() && type != "Empty")
                found.memory_type = type;
}

// Devices of InfiniBand and its like, and other network interfaces with hardware behind them.
void read_network(const path& root, Hardware& found) {
    const path fabric = root / "sys/class/infiniband";
    const path interfaces = root / "sys/class/net";
    if (!exists(fabric) && !exists(interfaces)) return;
    auto& devices = found.network.emplace();
    const auto driver_of = [](const path& device) {
        return values_in(device / "device/uevent", '=')["DRIVER"];
    };
    for (const std::string& name : names_in(fabric)) {
        const auto gigabits = number_in(first_line(fabric / name / "ports/1/rate"));  // "200 Gb/sec (4X HDR)"
        devices.push_back(
            {name, driver_of(fabric / name), gigabits ? std::optional(1e9 * *gigabits) : gigabits});
    }
    for (const std::string& name : names_in(interfaces)) {
        const path device = interfaces / name;
        if (!exists(device / "device/uevent") || exists(device / "device/infiniband")) continue;
        const auto megabits = number_in(first_line(device / "speed"));
        devices.push_back({name, driver_of(device), megabits ? std::optional(1e6 * *megabits) : megabits});
    }
}

// Display controllers and accelerators on the PCI bus by vendors whose GPUs compute.
void read_gpus(const path& root, Hardware& found) {
    const path bus = root / "sys/bus/pci/devices";
    if (!exists(bus)) return;
    auto& gpus = found.gpus.emplace();
    for (const std::string& address : names_in(bus)) {
        const std::string kind = first_line(bus / address / "class");
        const std::string vendor = first_line(bus / address / "vendor");
        const bool computes = vendor == "0x10de" || vendor == "0x1002" || vendor == "0x8086";
        if (!computes || !(kind.starts_with("0x03") || kind.starts_with("0x12"))) continue;
        const std::string driver = values_in(bus / address / "uevent", '=')["DRIVER"];
        std::string model = values_in(root / "proc/driver/nvidia/gpus" / address / "information")["Model"];
        if (model.empty()) model = first_line(bus / address / "product_name");
        if (model.empty())
            model = fmt::format("vendor {}, device {}", vendor, first_line(bus / address / "device"));
        gpus.push_back({model, trimmed(driver + " " + first_line(root / "sys/module" / driver / "version"))});
    }
}

// Equal texts once, with their number.
std::string counted_texts(const std::vector<std::string>& texts) {
    std::vector<std::string> distinct;
    for (const std::string& text : texts)
        if (std::ranges::find(distinct, text) == distinct.end()) distinct.push_back(text);
    for (std::string& text : distinct) text = fmt::format("{} x {}", std::ranges::count(texts, text), text);
    return fmt::format("{}", fmt::join(distinct, ", "));
}

}  // namespace

Hardware hardware_of(const path& root) {
    Hardware found;
    read_processors(root, found);
    read_memory(root, found);
    read_network(root, found);
    read_gpus(root, found);
    return found;
}

std::string text_of(const Hardware& hardware) {
    std::string text = hardware.sockets ? fmt::format("{} x ", *hardware.sockets) : "";
    text += hardware.processor.value_or("unknown processor");
    if (hardware.cores) text += ", " + counted(*hardware.cores, "core");
    if (hardware.hertz) text += fmt::format(", {:.1f} GHz", 1e-9 * *hardware.hertz);
    if (hardware.memory_bytes) text += fmt::format("; {:.0f} GB", 1e-9 * *hardware.memory_bytes);
    if (hardware.memory_type) text += " " + *hardware.memory_type;
    std::vector<std::string> devices;
    for (const NetworkDevice& one : hardware.network.value_or(std::vector<NetworkDevice>{}))
        devices.push_back(
            (one.driver.empty() ? one.name : one.driver) +
            (one.bits_per_second ? fmt::format(" {:g} Gb/s", 1e-9 * *one.bits_per_second) : ""));
    if (!devices.empty()) text += "; network " + counted_texts(devices);
    std::vector<std::string> gpus;
    for (const Gpu& one : hardware.gpus.value_or(std::vector<Gpu>{}))
        gpus.push_back(fmt::format("{} ({})", one.model, one.driver.empty() ? "no driver" : one.driver));
    if (!gpus.empty()) text += "; " + counted_texts(gpus);
    return text;
}

}  // namespace keel
