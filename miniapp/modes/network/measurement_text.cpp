#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "miniapp/modes/network/measurement.hpp"
#include "miniapp/report/records/records.hpp"

namespace keel {
namespace {

std::string ping_pong_text(const NetworkResults& network) {
    std::string text = "Ping-pong: seconds one way\n";
    std::string head = fmt::format("{:>10}", "bytes");
    std::string pairs = fmt::format("{:>10}", "pairs");
    std::map<double, std::map<Locality, double>> rows;
    for (const auto& one : network.classes) {
        head += fmt::format(" {:>12}", name(one.locality));
        pairs += fmt::format(" {:>12}", one.pairs.size());
        for (const Sample& sample : one.samples) rows[sample.bytes][one.locality] = sample.seconds;
    }
    text += head + "\n" + pairs + "\n";
    for (const auto& [bytes, row] : rows) {
        text += fmt::format("{:>10.0f}", bytes);
        for (const auto& one : network.classes) {
            const auto found = row.find(one.locality);
            text +=
                found == row.end() ? fmt::format(" {:>12}", "-") : fmt::format(" {:>12.4e}", found->second);
        }
        text += "\n";
    }
    return text;
}

std::string bursts_text(const NetworkResults& network) {
    std::string text =
        fmt::format("\nBursts: seconds for so many of the shortest messages at once\n{:>10}", "messages");
    std::map<int, std::string> rows;
    std::string overheads = fmt::format("{:>10}", "overhead");
    for (const auto& one : network.classes) {
        text += fmt::format(" {:>12}", name(one.locality));
        for (const auto& other : network.classes)
            for (const Burst& burst : other.bursts) rows.try_emplace(burst.messages);
        for (auto& [messages, row] : rows) {
            const auto found = std::ranges::find(one.bursts, messages, &Burst::messages);
            row += found == one.bursts.end() ? fmt::format(" {:>12}", "-")
                                             : fmt::format(" {:>12.4e}", found->seconds);
        }
        overheads += one.overhead ? fmt::format(" {:>12.4e}", *one.overhead) : fmt::format(" {:>12}", "-");
    }
    for (const auto& [messages, row] : rows) text += fmt::format("\n{:>10}", messages) + row;
    if (network.interruption == Interruption::none) text += "\n" + overheads;
    return text + "\n";
}

std::string node_pong_text(const NetworkResults& network) {
    if (network.node_pong.empty()) return "";
    std::set<int> columns;
    std::map<double, std::map<int, double>> rows;
    for (const NodeSample& sample : network.node_pong) {
        columns.insert(sample.processes);
        rows[sample.node_bytes][sample.processes] = sample.seconds;
    }
    std::string text =
        "\nNode-pong: seconds for all bytes of a node to another, by the number of ranks that share them\n";
    text += fmt::format("{:>10}", "bytes");
    for (const int processes : columns) text += fmt::format(" {:>12}", processes);
    for (const auto& [bytes, row] : rows) {
        text += fmt::format("\n{:>10.0f}", bytes);
        for (const int processes : columns) {
            const auto found = row.find(processes);
            text +=
                found == row.end() ? fmt::format(" {:>12}", "-") : fmt::format(" {:>12.4e}", found->second);
        }
    }
    return text + "\n";
}

std::string fits_text(const NetworkResults& network) {
    const Switches& switches = network.switches;
    std::string text = fmt::format(
        "\nFit: seconds = alpha + beta bytes; relative residuals; eager from {} bytes, rendezvous from {} "
        "bytes\n"
        "{:<10} {:<10} {:>7} {:>12} {:>12} {:>9} {:>8} {:>8}\n",
        switches.eager_from, switches.rendezvous_from, "class", "protocol", "samples", "alpha s", "beta s/B",
        "GB/s", "rms", "worst");
    for (const auto& one : network.classes)
        for (const Fit& fit : one.fits)
            text += fmt::format(
                "{:<10} {:<10} {:>7} {:>12.4e} {:>12.4e} {:>9} {:>7.1f}% {:>7.1f}%{}\n", name(fit.locality),
                name(fit.protocol), fit.samples, fit.cost.alpha, fit.cost.beta,
                fit.accepted() ? fmt::format("{:.3f}", 1e-9 / fit.cost.beta) : "-", 100 * fit.rms_residual,
                100 * fit.max_residual, fit.accepted() ? "" : "  rejected");
    if (const auto& beta = network.machine.injection_beta)
        text +=
            fmt::format("{:<29} {:>12} {:>12.4e} {:>9.3f}\n", "injection (1 / R_N)", "", *beta, 1e-9 / *beta);
    return text;
}

}  // namespace

std::string network_text(const NetworkResults& network) {
    std::string text = ping_pong_text(network) + bursts_text(network) + node_pong_text(network);
    text += fmt::format("\nAll-reduce: seconds, all ranks\n{:>10} {:>12}\n", "bytes", "seconds");
    for (const Sample& sample : network.all_reduce)
        text += fmt::format("{:>10.0f} {:>12.4e}\n", sample.bytes, sample.seconds);
    if (const auto& alone = network.all_reduce_by_messages)
        text += fmt::format("one word by its messages alone {:.4e}, late by {:.4e}\n", *alone,
                            network.machine.noise.all_reduce);
    if (network.interruption == Interruption::none) text += fits_text(network);
    for (const std::string& remark : network.remarks) text += "remark    " + remark + "\n";
    return text + "\n";
}

std::string network_records(const NetworkResults& network) {
    std::string records;
    const auto add = [&](const char* what, Json fields) {
        Json record{{"record", "network"}, {"what", what}};
        record.update(fields);
        records += line_of(record);
    };
    for (const auto& one : network.classes)
        for (const Sample& sample : one.samples)
            add("ping_pong", {{"class", name(one.locality)},
                              {"pairs", one.pairs.size()},
                              {"bytes", sample.bytes},
                              {"seconds", sample.seconds}});
    for (const auto& one : network.classes)
        for (const Burst& burst : one.bursts)
            add("burst",
                {{"class", name(one.locality)}, {"messages", burst.messages}, {"seconds", burst.seconds}});
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
                        {"overhead", number_or_null(fit.cost.overhead)},
                        {"rms_residual", fit.rms_residual},
                        {"max_residual", fit.max_residual},
                        {"accepted", fit.accepted()}});
    if (network.interruption != Interruption::none) return records;
    add("machine", {{"name", network.machine.name},
                    {"eager_from", network.switches.eager_from},
                    {"rendezvous_from", network.switches.rendezvous_from},
                    {"injection_beta", number_or_null(network.machine.injection_beta)},
                    {"all_reduce_by_messages", number_or_null(network.all_reduce_by_messages)},
                    {"all_reduce_late", network.machine.noise.all_reduce},
                    {"remarks", network.remarks}});
    return records;
}

}  // namespace keel
