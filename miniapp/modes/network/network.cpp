// run.mode = network: what messages cost on the machine the program runs on.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "build_info.hpp"
#include "miniapp/deck/section.hpp"
#include "miniapp/deck/text/text.hpp"
#include "miniapp/files/machine_file.hpp"
#include "miniapp/files/output_files.hpp"
#include "miniapp/modes/network/measurement.hpp"
#include "miniapp/report/records/records.hpp"
#include "miniapp/report/tables/table.hpp"

namespace keel {
namespace {

// --- Tables of what was measured and fitted, and the same as records

// The class of messages and, unless they lie in host memory, their path.
Cell class_cell(const PingPongResults& one) {
    const std::string path = one.path == MessagePath::host ? "" : std::string(", ") + name(one.path);
    return {"class", name(one.locality), "class", name(one.locality) + path};
}

ReportTable ping_pong_table(const NetworkResults& network) {
    ReportTable table("Ping-pong: time one way", "network");
    for (const auto& one : network.classes)
        for (const TimedMessage& sample : one.samples)
            table.add({{"what", "ping_pong"},
                       {"path", name(one.path)},
                       class_cell(one),
                       {"pairs", one.pairs.size()},
                       {"bytes", sample.bytes, "bytes", Unit::count},
                       {"seconds", sample.seconds, "time", Unit::seconds}});
    return table;
}

ReportTable copies_table(const NetworkResults& network) {
    ReportTable table("Copies to the device and to the host, by ranks of each device at once", "network");
    for (const CopyResults& one : network.copies)
        for (const bool to_device : {true, false})
            for (const TimedMessage& sample : to_device ? one.to_device : one.to_host)
                table.add({{"what", "copy"},
                           {"to", to_device ? "device" : "host"},
                           {"processes", one.processes, "ranks",
                            counted(one.processes, "rank") + (to_device ? "\nto device" : "\nto host")},
                           {"bytes", sample.bytes, "bytes\neach", Unit::count},
                           {"seconds", sample.seconds, "time", Unit::seconds}});
    return table;
}

ReportTable transports_table(const NetworkResults& network) {
    ReportTable table("Transports: seconds of n short messages at once = latency + n overhead", "network", 2);
    for (const auto& one : network.classes)
        for (const auto& [carrier, line] : one.transports)
            table.add({{"what", "transport"},
                       {"class", name(one.locality), "class"},
                       {"transport", name(carrier), "transport"},
                       {"overhead", line.beta, "overhead", Unit::seconds},
                       {"latency", line.alpha, "latency", Unit::seconds}});
    return table;
}

ReportTable concurrency_table(const NetworkResults& network) {
    ReportTable table(
        "Concurrency: share of alpha that passes beside other messages of a rank; 0: they add up", "network");
    for (const auto& one : network.classes)
        for (const FanResults& fan : one.fans) {
            Row row{{"what", "concurrency"},
                    {"class", name(one.locality), "class"},
                    {"bytes", fan.bytes, "bytes", Unit::count},
                    {"messages", fan.rounds.back().back().messages, "messages\nat most"}};
            for (const auto& [field, heading] : {std::pair(&Concurrency::median, "median"),
                                                 {&Concurrency::least, "least"},
                                                 {&Concurrency::most, "most"}})
                row.push_back({heading, fan.concurrency ? Json((*fan.concurrency).*field) : Json(), heading,
                               Unit::ratio});
            row.push_back(
                {"identifiable", fan.concurrency && fan.concurrency->identifiable(), "identifiable"});
            table.add(row);
        }
    return table;
}

ReportTable node_pong_table(const NetworkResults& network) {
    ReportTable table("Node-pong: time of all bytes from one node to another, shared by ranks of the node",
                      "network");
    for (const TimedNode& sample : network.node_pong)
        table.add({{"what", "node_pong"},
                   {"processes", sample.processes, "ranks", counted(sample.processes, "rank")},
                   {"bytes", sample.node_bytes, "bytes", Unit::count},
                   {"seconds", sample.seconds, "time", Unit::seconds}});
    return table;
}

ReportTable all_reduce_table(const NetworkResults& network) {
    ReportTable table("All-reduce of all ranks", "network");
    for (const TimedAllReduce& sample : network.all_reduce)
        table.add({{"what", "all_reduce"},
                   {"bytes", sample.bytes, "bytes", Unit::count},
                   {"seconds", sample.seconds, "blocking", Unit::seconds},
                   {"nonblocking_seconds", number_or_null(sample.nonblocking_seconds), "nonblocking",
                    Unit::seconds}});
    return table;
}

// The row of a fit, which begins with these cells.
Row with_fit(Row row, const Fit& fit) {
    row.insert(row.end(),
               {{"samples", fit.samples, "samples"},
                {"alpha", fit.cost.alpha, "alpha", Unit::seconds},
                {"beta", fit.cost.beta, "beta\ns/byte", Unit::scientific},
                {"", fit.accepted() ? Json(1e-9 / fit.cost.beta) : Json(), "rate\nGB/s", Unit::ratio},
                {"overhead", number_or_null(fit.cost.overhead), "overhead", Unit::seconds},
                {"rms_residual", fit.rms_residual, "residual\nrms", Unit::percent},
                {"max_residual", fit.max_residual, "residual\nmax", Unit::percent},
                {"through", name(fit.through), "through"},
                {"accepted", fit.accepted(), "accepted"}});
    return row;
}

ReportTable fits_table(const NetworkResults& network) {
    const Switches& switches = network.switches;
    ReportTable table(
        fmt::format("Fit: seconds = alpha + beta bytes; eager from {} bytes, rendezvous from {}",
                    switches.eager_from, switches.rendezvous_from),
        "network", 2);
    for (const auto& one : network.classes)
        for (const Fit& fit : one.fits)
            table.add(with_fit({{"what", "fit"},
                                {"path", name(one.path)},
                                class_cell(one),
                                {"protocol", name(fit.protocol), "protocol"}},
                               fit));
    return table;
}

ReportTable copy_fits_table(const NetworkResults& network) {
    ReportTable table("Fit of copies: seconds = alpha + beta bytes, of each rank's bytes", "network", 2);
    for (const CopyResults& one : network.copies)
        for (std::size_t n = 0; n < one.fits.size(); ++n)
            table.add(with_fit({{"what", "copy_fit"},
                                {"to", n == 0 ? "device" : "host", "to"},
                                {"processes", one.processes, "ranks"}},
                               one.fits[n]));
    return table;
}

std::string delays_text(double by_messages, const Noise& noise) {
    const std::string nonblocking =
        noise.nonblocking_all_reduce
            ? fmt::format(", of {} if nonblocking", seconds_text(*noise.nonblocking_all_reduce))
            : "";
    return fmt::format("All-reduce of one word: {} by its messages, and a delay of {}{}\n",
                       seconds_text(by_messages), seconds_text(noise.all_reduce), nonblocking);
}

std::string machine_record(const NetworkResults& network) {
    return line_of(
        {{"record", "network"},
         {"what", "machine"},
         {"name", network.machine.name},
         {"eager_from", network.switches.eager_from},
         {"rendezvous_from", network.switches.rendezvous_from},
         {"injection_beta", number_or_null(network.machine.injection_beta)},
         {"concurrency", number_or_null(network.machine.concurrency)},
         {"all_reduce_by_messages", number_or_null(network.all_reduce_by_messages)},
         {"all_reduce_delay", network.machine.noise.all_reduce},
         {"nonblocking_all_reduce_delay", number_or_null(network.machine.noise.nonblocking_all_reduce)},
         {"rate", network.machine.compute->rate},
         {"launch", network.machine.compute->launch},
         {"remarks", network.remarks}});
}

std::string network_text(const NetworkResults& network) {
    const bool fitted = network.interruption == Interruption::none;
    std::string text;
    const auto add = [&](const std::string& part) {
        if (!part.empty()) text += part + "\n";
    };
    add(ping_pong_table(network).pivot("bytes", "class", "seconds").print());
    add(copies_table(network).pivot("bytes", "processes", "seconds").print());
    add(transports_table(network).print());
    add(node_pong_table(network).pivot("bytes", "processes", "seconds").print());
    add(all_reduce_table(network).print());
    if (const auto& alone = network.all_reduce_by_messages) add(delays_text(*alone, network.machine.noise));
    if (const auto& compute = network.machine.compute)
        add(fmt::format("Triad: {}/s a rank; an operation takes {} at least\n", bytes_text(compute->rate),
                        seconds_text(compute->launch)));
    if (fitted) add(fits_table(network).print() + "\n" + concurrency_table(network).print());
    add(copy_fits_table(network).print());
    if (const auto& beta = network.machine.injection_beta)
        add(fmt::format("Injection rate of a node, 1 / R_N: {:.4e} s/byte, {:.3f} GB/s\n", *beta,
                        1e-9 / *beta));
    for (const std::string& remark : network.remarks) text += "remark: " + remark + "\n";
    return text + "\n";
}

std::string network_records(const NetworkResults& network) {
    std::string records;
    for (const ReportTable& table :
         {ping_pong_table(network), copies_table(network), transports_table(network),
          node_pong_table(network), all_reduce_table(network), fits_table(network),
          concurrency_table(network), copy_fits_table(network)})
        records += table.to_json();
    return network.interruption == Interruption::none ? records + machine_record(network) : records;
}

// --- The mode

// Whether the measured machine could be written to its file, and reads back.
bool write_machine(const NetworkOptions& options, int repeats, const NetworkResults& network,
                   const RunFacts& facts) {
    std::vector<std::string> comments{fmt::format(
        "Measured by Keel {} ({}), run.mode = network, {} repeats: {} ranks, {}, {}.", build_info::version,
        build_info::revision, repeats, facts.ranks, facts.topology.describe(), facts.mpi)};
    comments.insert(comments.end(), network.remarks.begin(), network.remarks.end());
    if (facts.shared_cores) comments.push_back("Ranks shared processors: these are no times of a network.");
    NewFile file(options.write);
    if (!file.create().empty() || !file.write(machine_toml(network.machine, comments))) return false;
    const MachineFile back = parse_machine(read_text(options.write));
    return back.errors.empty() && back.machine == network.machine;
}

class PreparedNetwork : public PreparedMode {
  public:
    PreparedNetwork(const Resolved& resolved, const NetworkOptions& options)
        : resolved_(resolved), options_(options) {}

    const Resolved& resolved() const override { return resolved_; }

    // Who would send to whom.
    DryRun dry_run(const Communicator& comm, const SharedMemory&, Progress&) const override {
        Json pairs = Json::object();
        std::string text = fmt::format("ping-pong of 1 to {} bytes, {} repeats, pairs of ranks:\n",
                                       longest_message, resolved_.repeats);
        for (const auto& one : network_classes(comm, resolved_.topology)) {
            text += fmt::format("{:<10}", name(one.locality));
            pairs[name(one.locality)] = Json::array();
            for (const Pair& pair : one.pairs) {
                text += fmt::format(" {}-{}", pair.first, pair.second);
                pairs[name(one.locality)].push_back({pair.first, pair.second});
            }
            text += one.pairs.empty() ? " none: not measured\n" : "\n";
        }
        return {text, Json{{"pairs", pairs}}.dump(), ""};
    }

    void run(const RunContext& context, Findings& findings) const override {
        context.report.begin(findings.facts);
        const NetworkResults network = measure_network(options_, resolved_, context);
        context.report.tell(network_text(network));
        context.report.record(network_records(network));
        findings.interruption = network.interruption;
        const int done = network.times.count;
        findings.tallies.push_back({"times", done, done, network.interruption != Interruption::none});
        const double least = done > 0 ? network.times.least : 0;
        findings.checks.push_back(
            {"times_positive", least > 0, least, fmt::format("> 0 s, the least of {}", done)});
        if (context.comm.rank() != 0 || findings.interrupted() || options_.write.empty()) return;
        if (!network.unfit.empty())
            findings.trouble =
                fmt::format("network.write = \"{}\": not written: {}", options_.write, network.unfit);
        else if (!write_machine(options_, resolved_.repeats, network, findings.facts))
            findings.trouble = fmt::format("network.write = \"{}\": could not be written", options_.write);
    }

  private:
    Resolved resolved_;
    NetworkOptions options_;
};

class NetworkMode : public Mode {
  public:
    std::string name() const override { return "network"; }
    std::string meaning() const override { return "timed messages, no solve"; }

    void add_keys(Table& table) const override {
        Section<NetworkOptions> s(table, "network", name());
        s.text("write", &NetworkOptions::write, "machine file, such as machines/NAME.toml; \"\" = none",
               "path");
    }

    KeyUses keys() const override {
        std::vector<KeyUse> uses{{"run.mode"},       {"run.repeats"},         {"run.time_limit"},
                                 {"run.label"},      {"run.triad_mb"},        {"run.backend"},
                                 {"output.json"},    {"comm.ranks_per_node"}, {"comm.node_map"},
                                 {"comm.allreduce"}, {"comm.device"},         {"network."}};
        if (simulated()) uses.push_back({"comm.machine"});  // the simulated one
        return {uses, "run.mode = network measures messages and the triad; leave it out"};
    }

    void check(Rules& rules, int /*ranks*/) const override {
        const auto n = rules.parameters().mode_options.of<NetworkOptions>();
        rules.require(rules.parameters().comm.allreduce != AllReduceAlgorithm::automatic, {"comm.allreduce"},
                      "comm.allreduce = \"auto\": what is measured is one algorithm; choose another");
        if (n.write.empty()) return;
        const std::string reason = n.write.ends_with(".toml")
                                       ? reason_not_new(n.write, rules.parameters().output.json)
                                       : "give a name that ends in .toml";
        rules.allow(reason.empty(), {"network.write"}, reason);
    }

    void check_run(Rules& rules, int ranks) const override {
        rules.require(ranks > 1, {"run.mode"},
                      "run.mode = \"network\": a single rank has no partner; start it on two or more, "
                      "as mpiexec "
                      "-n 2");
    }

    std::unique_ptr<PreparedMode> prepare(const Deck& deck, const Resolved& resolved) const override {
        return std::make_unique<PreparedNetwork>(resolved, deck.parameters.mode_options.of<NetworkOptions>());
    }
};

}  // namespace

std::unique_ptr<Mode> make_network_mode() {
    return std::make_unique<NetworkMode>();
}

}  // namespace keel
