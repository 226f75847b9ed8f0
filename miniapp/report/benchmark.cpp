#include "miniapp/report/benchmark.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <zlib.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "build_info.hpp"
#include "miniapp/deck/text/text.hpp"
#include "miniapp/report/records/records.hpp"

namespace keel {
namespace {

constexpr std::size_t longest_path = 300;

// Beside what the benchmark found the records of the run and of the end of it.
Json benchmark_record(const DeckFacts& deck, const Findings& findings,
                      const std::vector<std::string>& marks) {
    const BenchmarkFindings& found = *findings.benchmark;
    Json record{{"record", "benchmark"},   {"schema", record_schema},  {"rules", found.rules},
                {"class", found.category}, {"changed", found.changed}, {"not_to_be_submitted", marks}};
    record.update(Json::parse(found.json));
    record["run"] = Json::parse(line_of(run_record(deck, findings.facts)));
    record["checks"] = Json::array();
    std::istringstream closing(closing_records(findings));
    for (std::string line; std::getline(closing, line);) {
        const Json one = Json::parse(line);
        if (one.at("record") == "check")
            record["checks"].push_back(one);
        else
            record["result"] = one;
    }
    return record;
}

std::string hosts_text(const RunFacts& facts) {
    const std::size_t others = facts.hosts.size() - 1;
    return fmt::format("{}{}: {}, {}, {}; {}", facts.hosts.front().first,
                       others > 0 ? fmt::format(" and {} more", others) : "",
                       counted(facts.topology.nodes(), "node"), counted(facts.ranks, "rank"), facts.backend,
                       facts.mpi);
}

// The text's CRC-32, as Python's zlib.crc32: it finds accidental changes.
std::string digest_of(const std::string& text) {
    const auto* bytes = reinterpret_cast<const Bytef*>(text.data());
    return fmt::format("crc32:{:08x}", crc32(0, bytes, static_cast<uInt>(text.size())));
}

}  // namespace

BenchmarkResult benchmark_result(const DeckFacts& deck, const Findings& findings, const std::string& name) {
    const BenchmarkFindings& found = *findings.benchmark;
    std::vector<std::string> marks = found.marks;
    if (!findings.valid()) marks.emplace_back("RESULT INVALID");
    const Json record = benchmark_record(deck, findings, marks);
    BenchmarkResult result;
    const std::string indented = record.dump(1, ' ', false, Json::error_handler_t::replace);
    const std::string signed_part = indented.substr(0, indented.size() - 2);  // without "\n}"
    const std::string digest = digest_of(signed_part);
    result.file = fmt::format("{},\n \"digest\": \"{}\"\n}}\n", signed_part, digest);
    Json whole = record;
    whole["digest"] = digest;
    result.record = line_of(whole);

    const auto add_line = [&](const char* label, const std::string& text) {
        result.lines += wrapped(fmt::format("{:<10}{}", label, text), 10) + "\n";
    };
    result.lines =
        wrapped(
            fmt::format("Keel benchmark, rules {}, class {}: {}", found.rules, found.category,
                        marks.empty() ? fmt::format("submit these lines and {}", shown(name, longest_path))
                                      : fmt::format("NOT TO BE SUBMITTED: {}", fmt::join(marks, "; "))),
            4) +
        "\n" + found.text;
    if (findings.facts.hardware) add_line("machine", machine_text(findings.facts));
    add_line("hosts", hosts_text(findings.facts));
    add_line("program", fmt::format("Keel {} ({}), {} {}, {}", build_info::version, build_info::revision,
                                    build_info::compiler, build_info::build_type, build_info::flags));
    add_line("sources", build_info::sources);
    const std::string changed = fmt::format("{}", fmt::join(found.changed, "; "));
    add_line("changed", changed.empty() ? "nothing" : changed);
    add_line("digest", digest);
    return result;
}

}  // namespace keel
