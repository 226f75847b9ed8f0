// Machines as files: those shipped, round trips, complaints.

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <tuple>

#include "miniapp/files/machine_file.hpp"
#include "tests/comm/costs/golden_machines.hpp"

using namespace keel;

namespace {

MachineFile read_file(const std::filesystem::path& file) {
    return parse_machine(keel::read_text(file));
}
MachineFile read_named(const std::string& name) {
    return parse_machine(find_machine(name));
}

// Reads the text from a file that is gone afterwards.
MachineFile machine_of(const std::string& text) {
    const auto file = std::filesystem::temp_directory_path() / "keel_test_machine.toml";
    std::ofstream(file) << text;
    MachineFile result = parse_machine(keel::read_text(file));
    std::filesystem::remove(file);
    for (std::string& error : result.errors) error.erase(0, error.find("keel_test"));
    return result;
}

const std::string valid_machine = R"([machine]
ranks_per_node = 4
[host]
eager_from = 100
rendezvous_from = 1000
[host.node]
short = { alpha = 1e-6, beta = 1e-9 }
)";

}  // namespace

TEST_CASE("a machine is known by its name wherever the program runs, and by its path") {
    namespace fs = std::filesystem;
    const fs::path here = fs::current_path();
    const fs::path source = KEEL_SOURCE_DIR;
    const MachineFile by_path = read_named((source / "inputs/machines/lassen.toml").string());
    for (const fs::path& place : {source, fs::temp_directory_path()}) {
        fs::current_path(place);
        const MachineFile known = read_named("lassen");
        const MachineFile unknown = read_named("cray_1");
        fs::current_path(here);
        CHECK(known.errors == std::vector<std::string>{});
        CHECK(known.machine == by_path.machine);
        REQUIRE(unknown.errors.size() == 1);
        CHECK_THAT(unknown.errors[0],
                   Catch::StartsWith("unknown machine; choose a100, blue_waters, cori, h100") &&
                       Catch::EndsWith(", or give the path of a machine's file"));
    }
}

TEST_CASE("machines of one's own are found in the folder KEEL_DATA and beside the deck") {
    namespace fs = std::filesystem;
    const fs::path data = fs::temp_directory_path() / ("keel_data_" + std::to_string(::getpid()));
    fs::create_directories(data / "machines");
    std::ofstream(data / "machines/mine.toml") << valid_machine;
    ::setenv("KEEL_DATA", data.c_str(), 1);
    const MachineFile mine = read_named("mine");
    ::unsetenv("KEEL_DATA");
    const MachineFile none = read_named("mine");
    const MachineFile by_name = parse_machine(find_machine("mine", data));
    const MachineFile by_path = parse_machine(find_machine("machines/mine.toml", data));
    fs::remove_all(data);
    CHECK(mine.errors == std::vector<std::string>{});
    CHECK(mine.machine.name == "mine");
    for (const MachineFile& beside : {by_name, by_path}) {  // named by the deck
        CHECK(beside.errors == std::vector<std::string>{});
        CHECK(beside.machine == mine.machine);
    }
    CHECK_THAT(none.errors.at(0), Catch::StartsWith("unknown machine; choose"));
}

TEST_CASE("the machines shipped are the golden ones") {
    const nlohmann::json golden = test::golden_models();
    // The rates of computing are assumed: 60 % of the memory's peak, shared by the ranks of a node.
    for (const auto& [name, channels, ranks] :
         {std::tuple{std::string("blue_waters"), 8 * 12.8e9, 16}, {std::string("lassen"), 16 * 21.3e9, 40}}) {
        const auto path = std::filesystem::path(KEEL_SOURCE_DIR) / "inputs" / "machines" / (name + ".toml");
        const MachineFile file = read_file(path);
        CHECK(file.errors == std::vector<std::string>{});
        REQUIRE(file.machine.compute);
        CHECK(file.machine.compute->rate == Approx(0.6 * channels / ranks).epsilon(0.02));
        Machine wanted = test::golden_machine(golden, name);
        wanted.compute = file.machine.compute;
        wanted.concurrency = 0;  // assumed, as the rates
        CHECK((file.machine == wanted));
    }
}

TEST_CASE("every machine shipped can be read, and says how fast it computes") {
    const auto folder = std::filesystem::path(KEEL_SOURCE_DIR) / "inputs" / "machines";
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        INFO(entry.path());
        const MachineFile file = read_file(entry.path());
        CHECK(file.errors == std::vector<std::string>{});
        CHECK(file.machine.compute.has_value());
    }
}

TEST_CASE("computing takes the time of its bytes, of its flops or of its launches, whichever is longest") {
    Compute compute{1e9, 1e-6};
    CHECK(compute.time(0, {}) == 0);
    CHECK(compute.time(3, {1e12, 8e6}) == Approx(8e-3));  // flops cost nothing where their rate is not known
    CHECK(compute.time(3, {0, 1}) == Approx(3e-6));
    compute.flop_rate = 1e10;
    CHECK(compute.time(3, {1e12, 8e6}) == Approx(100));
    compute.cache = Compute::Cache{1e6, 4e9};
    CHECK(compute.time(10, {0, 8e6}) == Approx(2e-3));  // 0.8 MB a call
    CHECK(compute.time(5, {0, 8e6}) == Approx(8e-3));
    const DeviceCounts counts{.launches = 4, .nodes = 10, .replays = 1, .waits = 3, .copies = 2};
    CHECK(LaunchCosts{1e-6, 5e-6, 7e-6, 1e-7}.time(counts) == Approx(27e-6));
}

TEST_CASE("a machine that is written reads back to the same numbers") {
    const nlohmann::json golden = test::golden_models();
    for (const std::string name : {"blue_waters", "lassen"}) {
        Machine machine = test::golden_machine(golden, name);
        machine.messages[0]->at(Locality::off_node, Protocol::eager).reset();
        machine.messages[0]->at(Locality::off_node, Protocol::short_)->overhead = 1.2e-7;
        machine.messages[0]->at(Locality::node, Protocol::short_)->overhead = 0;
        machine.concurrency = name == "lassen" ? 0.9 : 0;
        machine.compute = Compute{1.28e10, 0, 9.6e10, Compute::Cache{1.3e6, 5e10}};
        machine.launch = LaunchCosts{1e-6, 5e-6, 7e-6, 1e-7, 6e10};
        machine.noise = {6e-5, 9e-5, 0};
        const std::vector<std::string> comments{"one", "two"};
        const MachineFile file = machine_of(machine_toml(machine, comments));
        CHECK(file.errors == std::vector<std::string>{});
        machine.name = "keel_test_machine";
        CHECK((file.machine == machine));
    }
}

TEST_CASE("a wrong file of a machine is refused with line and remedy") {
    const auto complaints = [](const std::string& text) {
        std::string all;
        for (const std::string& error : machine_of(text).errors) all += error + "\n";
        return all;
    };
    using Catch::Contains;
    const std::string copy =
        "[[copy]]\nprocesses = 1\nto_device = { alpha = 1e-6, rate = 1e9 }\n"
        "to_host = { alpha = 1e-6, beta = 1e-9 }\n";
    const std::string put = "node = { overhead = 1e-6, latency = 2e-6 }\n";
    for (const std::string& good :
         {std::string(), copy, "[transports.isend]\n" + put + "[transports.put]\n" + put})
        CHECK(complaints(valid_machine + good).empty());
    // Lines behind a valid machine, of which the first is line 8, and parts of the complaints.
    const std::vector<std::pair<std::string, std::vector<std::string>>> cases{
        {"egaer = { alpha = 1e-6, beta = 1e-9 }",
         {":8: host.node.egaer: unknown key; [host.node] has short, eager, rendezvous ",
          "(did you mean \"eager\"?)"}},
        {"eager = { alpha = 1e-6 }", {":8: host.node.eager: beta is missing; give beta"}},
        {"eager = { beta = 1e-6 }", {":8: host.node.eager.alpha is missing; give the seconds a message"}},
        {"eager = { alpha = 1e-6, beta = 1e-9, rate = 1e9 }",
         {":8: host.node.eager: has beta and rate; give beta"}},
        {"eager = { alpha = 1e-6, beta = -1e-9 }",
         {":8: host.node.eager.beta = -1e-09: must be >= 1e-18 and <= 1e+18"}},
        {"eager = { alpha = \"1\", beta = 1e-9 }",
         {"host.node.eager.alpha = \"1\": must be a number, >= 1e-18"}},
        {"eager = { alpha = nan, beta = 1e-9 }", {"alpha = nan: must be a finite number"}},
        {"eager = 1e-6", {":8: host.node.eager = 1e-06: is a section; write [host.node.eager] and its keys"}},
        {"eager = { alpha = 1e-6, beta = 1e-9, overhead = 2e-6 }",
         {":8: host.node.eager.overhead = 2e-06: more than host.node.eager.alpha = 1e-06",
          "give at most that"}},
        {"eager = { alpha = 1e-6, beta = 1e-9, overhead = -1e-7 }",
         {":8: host.node.eager.overhead = -1e-07: must be >= 0"}},
        {"[network]", {":8: [network]: unknown section; the sections are machine, host, device"}},
        {"[device]\neager_from = 0", {":8: device.rendezvous_from is missing; give the bytes"}},
        {"[device]\neager_from = 9\nrendezvous_from = 8",
         {"device.eager_from = 9: more than device.rendezvous_from = 8; give at most that"}},
        {"[device]\neager_from = 0\nrendezvous_from = 8\nnode.short = { alpha = 1e-6, beta = 1e-9 }",
         {":11: device.node.short: by device.eager_from and rendezvous_from no message is short; "}},
        {"[device]\neager_from = -1\nrendezvous_from = 8", {"device.eager_from = -1: must be >= 0"}},
        {"[[copy]]\nprocesses = 1\nto_device = { alpha = 1e-6, rate = 1e9 }",
         {":8: copy.to_host is missing; give { alpha"}},
        {copy + copy, {":13: copy.processes = 1: given twice; give it once"}},
        {"[[copy]]\nto_device = { alpha = 1e-6, beta = 1e-9, overhead = 1e-7 }",
         {":9: copy.to_device.overhead: unknown key; [copy.to_device] has alpha, beta, rate"}},
        {"[transports.put]\n" + put,
         {":9: transports.put.node: costs are beside those of isend; give transports.isend.node"}},
        {"[transports.isend]\nnode = { overhead = 1e-6 }",
         {":9: transports.isend.node.latency is missing; give the seconds"}},
        {"[compute]",
         {":8: compute.rate is missing; give the bytes a second",
          ":8: compute.launch is missing; give the seconds"}},
        {"[launch]\nnode = -1",
         {"launch.node = -1: must be >= 0", ":8: launch.wait is missing; give the seconds of a host's wait",
          "launches are priced beside the bytes of their work; give the section [compute], too"}},
        {"[launch]\nlaunch = 1e-6\n[compute]\nrate = 1e9\nlaunch = 1e-6",
         {"the section [launch] prices launches, too; leave compute.launch out"}},
        {"[compute]\nrate = 1e9\nlaunch = -1e-6\nflop_rate = 0\ncahce = { bytes = 1, rate = 1 }",
         {"compute.launch = -1e-06: must be >= 0", "compute.flop_rate = 0: must be >= 1e-18",
          "compute.cahce: unknown key; [compute] has rate, launch, flop_rate, look, cache ",
          "(did you mean \"cache\"?)"}},
        {"[compute]\nrate = 1e9\nlaunch = 0\ncache = { rate = 1e8 }",
         {"compute.cache.bytes is missing; give the bytes",
          "compute.rate = 1000000000.0: more than compute.cache.rate = 100000000.0; give at most that"}},
        {"[noise]\nall_reduce = \"60 us\"\nreduce = 1e-6",
         {"noise.all_reduce = \"60 us\": must be a number, >= 0",
          "noise.reduce: unknown key; [noise] has all_reduce, nonblocking_all_reduce, exchange"}},
    };
    for (const auto& [text, expected] : cases)
        for (const std::string& part : expected)
            CHECK_THAT(complaints(valid_machine + text + "\n"), Contains(part));
    CHECK_THAT(complaints("copy = 1\n"), Contains("keel_test_machine.toml:1: copy = 1: is a section"));
    CHECK_THAT(complaints("[machine]\nranks_per_node = 2\nranks_per_socket = 3\n"),
               Contains("machine.ranks_per_socket = 3: more than machine.ranks_per_node = 2"));
    CHECK_THAT(complaints("[machine]\nconcurrency = 1.1\n"),
               Contains(":2: machine.concurrency = 1.1: must be"));
    CHECK_THAT(complaints("[machine\n"), Contains("keel_test_machine.toml:1: not valid TOML"));
    CHECK_THAT(read_file("no/such/file.toml").errors.front(), Contains("cannot be read"));
}
