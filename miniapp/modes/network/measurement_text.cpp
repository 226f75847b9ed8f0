#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "miniapp/deck/text/text.hpp"
#include "miniapp/modes/network/measurement.hpp"
#include "miniapp/report/records/records.hpp"
#include "miniapp/report/table.hpp"

namespace keel {
namespace {

ReportTable ping_pong_table(const NetworkResults& network) {
    ReportTable table("Ping-pong: time one way", "network");
    for (const auto& one : network.classes)
        for (const TimedMessage& sample : one.samples)
            table.add({{"what", "ping_pong"},
                       {"class", name(one.locality)},
                       {"pairs", one.pairs.size()},
                       {"bytes", sample.bytes, "bytes", Unit::count},
                       {"seconds", sample.seconds, "time", Unit::seconds}});
    return table;
}

ReportTable bursts_table(const NetworkResults& network) {
    ReportTable table("Bursts: time of several of the shortest messages at once", "network");
    for (const auto& one : network.classes)
        for (const Burst& burst : one.bursts)
            table.add({{"what", "burst"},
                       {"class", name(one.locality)},
                       {"messages", burst.messages, "messages"},
                       {"seconds", burst.seconds, "time", Unit::seconds}});
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
    for (const TimedMessage& sample : network.all_reduce)
        table.add({{"what", "all_reduce"},
                   {"bytes", sample.bytes, "bytes", Unit::count},
                   {"seconds", sample.seconds, "time", Unit::seconds}});
    return table;
}

ReportTable fits_table(const NetworkResults& network) {
    const Switches& switches = network.switches;
    ReportTable table(
        fmt::format("Fit: seconds = alpha + beta bytes; eager from {} bytes, rendezvous from {}",
                    switches.eager_from, switches.rendezvous_from),
        "network", 2);
    for (const auto& one : network.classes)
        for (const Fit& fit : one.fits)
            table.add({{"what", "fit"},
                       {"class", name(fit.locality), "class"},
                       {"protocol", name(fit.protocol), "protocol"},
                       {"samples", fit.samples, "samples"},
                       {"alpha", fit.cost.alpha, "alpha", Unit::seconds},
                       {"beta", fit.cost.beta, "beta\ns/byte", Unit::scientific},
                       {"", fit.accepted() ? Json(1e-9 / fit.cost.beta) : Json(), "rate\nGB/s", Unit::ratio},
                       {"overhead", number_or_null(fit.cost.overhead), "overhead", Unit::seconds},
                       {"rms_residual", fit.rms_residual, "residual\nrms", Unit::percent},
                       {"max_residual", fit.max_residual, "residual\nmax", Unit::percent},
                       {"accepted", fit.accepted(), "accepted"}});
    return table;
}

std::string machine_record(const NetworkResults& network) {
    return line_of({{"record", "network"},
                    {"what", "machine"},
                    {"name", network.machine.name},
                    {"eager_from", network.switches.eager_from},
                    {"rendezvous_from", network.switches.rendezvous_from},
                    {"injection_beta", number_or_null(network.machine.injection_beta)},
                    {"all_reduce_by_messages", number_or_null(network.all_reduce_by_messages)},
                    {"all_reduce_late", network.machine.noise.all_reduce},
                    {"remarks", network.remarks}});
}

}  // namespace

std::string network_text(const NetworkResults& network) {
    const bool fitted = network.interruption == Interruption::none;
    std::string text;
    const auto add = [&](const std::string& part) {
        if (!part.empty()) text += part + "\n";
    };
    add(ping_pong_table(network).pivot("bytes", "class", "seconds").print());
    add(bursts_table(network).pivot("messages", "class", "seconds").print());
    add(node_pong_table(network).pivot("bytes", "processes", "seconds").print());
    add(all_reduce_table(network).print());
    if (const auto& alone = network.all_reduce_by_messages)
        add(fmt::format("All-reduce of one word: {} by its messages, and a delay of {}\n",
                        seconds_text(*alone), seconds_text(network.machine.noise.all_reduce)));
    if (fitted) add(fits_table(network).print());
    if (const auto& beta = network.machine.injection_beta)
        add(fmt::format("Injection rate of a node, 1 / R_N: {:.4e} s/byte, {:.3f} GB/s\n", *beta,
                        1e-9 / *beta));
    for (const std::string& remark : network.remarks) text += "remark: " + remark + "\n";
    return text + "\n";
}

std::string network_records(const NetworkResults& network) {
    std::string records;
    for (const ReportTable& table :
         {ping_pong_table(network), bursts_table(network), node_pong_table(network),
          all_reduce_table(network), fits_table(network)})
        records += table.to_json();
    return network.interruption == Interruption::none ? records + machine_record(network) : records;
}

}  // namespace keel
