#include "miniapp/front/actions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "comm/ranks/windows.hpp"
#include "kernels/backends/threads.hpp"
#include "miniapp/deck/text/text.hpp"
#include "miniapp/files/output_files.hpp"
#include "miniapp/front/agreement.hpp"
#include "miniapp/front/record_file.hpp"
#include "miniapp/front/reporter.hpp"
#include "miniapp/modes/repeat.hpp"
#include "miniapp/report/benchmark.hpp"
#include "miniapp/report/facts.hpp"
#include "miniapp/report/records/records.hpp"
#include "miniapp/setup/machine/machine_facts.hpp"
#include "miniapp/setup/machine/processors.hpp"

namespace keel {
namespace {

void print_complaints(const std::vector<std::string>& all) {
    for (const std::string& complaint : all) fmt::print(stderr, "{}\n", wrapped_lines(complaint));
}

// One or none.
std::vector<std::string> complaints(const std::string& complaint) {
    return complaint.empty() ? std::vector<std::string>() : std::vector{complaint};
}

// Why the mode does not fit into the memory that this rank found and shares with others. Collective; complete
// on rank 0.
std::vector<std::string> exceeds_memory(const PreparedMode& mode, const Communicator& comm,
                                        const SharedMemory& found) {
    const SharedMemory memory = least_of(found, comm);
    if (comm.rank() != 0) return {};
    const double triad = mode.resolved().triad_bytes / memory.sharing;
    std::string complaint = mode.exceeds(memory);
    if (complaint.empty() && triad > memory.process.left)
        complaint = fmt::format("run.triad_mb takes {} of a rank; choose less", bytes_text(triad));
    if (!complaint.empty() && memory.is_limited_by_process())
        complaint += fmt::format(" ({} leaves a rank {}: raise it, or start fewer threads)",
                                 memory.process.name, bytes_text(memory.process.left));
    return complaints(complaint);
}

// Without OMP_NUM_THREADS on any rank, ranks share the processors of their node: whether it was so. OpenMP
// alone would give each rank a thread for every processor. Collective.
bool choose_threads(const Resolved& resolved, const Communicator& comm) {
    const bool open = std::getenv("OMP_NUM_THREADS") == nullptr && !simulated();
    if (comm.min(open ? 1 : 0) == 0) return false;
    use_threads(threads_that_fit(comm, resolved.detected, usable_processors(on_every_thread([](int) {}))));
    return true;
}

// Writes the file of output.result, and the record of the same content.
void write_result(const BenchmarkResult& result, NewFile& file, Reporter& report, Findings& findings) {
    report.record(result.record);
    findings.submission = result.lines;
    if (!file.write(result.file))
        findings.trouble =
            "output.result could not be written: choose a place with room for it, and run again";
}

}  // namespace

bool refused(const std::vector<std::string>& complaints, const Communicator& comm) {
    if (comm.max(complaints.empty() ? 0 : 1) == 0) return false;
    const std::vector<std::string> all = comm.gather(fmt::format("{}", fmt::join(complaints, "\n")));
    const auto first = std::ranges::find_if(all, [](const auto& text) { return !text.empty(); });
    if (first == all.end()) return true;
    constexpr int most = 100;  // complaints that anybody reads
    std::istringstream lines(*first);
    int told = 0;
    for (std::string line; std::getline(lines, line); ++told)
        if (told < most) print_complaints({line});
    if (told > most) print_complaints({fmt::format("and {} more complaints", told - most)});
    return true;
}

Status dry_run(const PreparedMode& mode, const DeckFacts& deck, const std::string& records, bool verbose,
               const Communicator& comm) {
    const Resolved& resolved = mode.resolved();
    // Virtual ranks are those of another machine. Of a device nothing is known where there is none.
    const bool here = !resolved.has_virtual_ranks() && !backend_info(resolved.backend).features.device_memory;
    if (here) choose_threads(resolved, comm);
    SharedMemory memory = least_of(memory_of_nodes(resolved.detected), comm);
    if (here && refused(exceeds_memory(mode, comm, memory), comm)) return bad_input;
    memory.dry_run_limit = resolved.dry_run_limit;
    if (refused(complaints(mode.exceeds_planning(memory)), comm)) return bad_input;
    RecordFile file(records);
    if (refused(complaints(comm.rank() == 0 ? file.open() : ""), comm)) return bad_input;
    const auto progress = make_progress(comm.rank() == 0, verbose);
    const DryRun found = mode.dry_run(comm, memory, *progress);
    if (refused(complaints(found.refusal), comm)) return bad_input;
    if (comm.rank() != 0) return valid;
    std::string text = fmt::format("{}, {}\n", counted(resolved.ranks, "rank"), resolved.topology.describe());
    if (const std::string map = resolved.topology.map(); !map.empty() && !resolved.has_virtual_ranks())
        text += fmt::format("nodes {}\n", map);
    DeckFacts told = deck;
    if (resolved.has_virtual_ranks())
        if (const std::string complaint = mode.exceeds(memory_of_nodes(resolved.topology));
            !complaint.empty())
            told.remarks.push_back("with nodes like this one: " + complaint);
    if (!resolved.comm.transports.empty())
        told.remarks.push_back("comm.transport = \"auto\": only a run tries transports; isend is assumed");
    std::vector<std::string> warnings = resolved.topology.warnings();
    warnings.insert(warnings.end(), resolved.warnings.begin(), resolved.warnings.end());
    for (const std::string& remark : told.remarks) text += "remark: " + remark + "\n";
    for (const std::string& warning : warnings) text += "warning: " + warning + "\n";
    fmt::print("{}", wrapped_lines(text + found.text));
    file.append(line_of(plan_record(told, resolved.topology, warnings, found.plan)) + found.records);
    return file.finish() ? valid : broken;
}

Status run_mode(const PreparedMode& mode, const DeckFacts& deck, const std::string& records, bool verbose,
                double time_limit, const Start& start, const Communicator& comm) {
    const bool puts = mode.resolved().comm.scheme.carrier == Carrier::put;
    if (refused(
            complaints(puts && !makes_windows(comm)
                           ? fmt::format("comm.transport = \"put\": {} makes no windows among these ranks; "
                                         "choose isend or persistent",
                                         Session::library())
                           : ""),
            comm))
        return bad_input;
    const bool chosen = choose_threads(mode.resolved(), comm);
    const auto backend = make_backend(mode.resolved(), comm);
    if (refused(unlike_rank_0(backend->threads(), comm), comm)) return bad_input;
    if (refused(exceeds_memory(mode, comm, memory_of(*backend, mode.resolved().detected, comm)), comm))
        return bad_input;
    const bool speaks = comm.rank() == 0;
    const std::string result_name = mode.result_file();
    NewFile result(result_name);
    const std::string reason = speaks && !result_name.empty() ? result.create() : "";
    if (refused(
            complaints(reason.empty() ? "" : fmt::format("output.result = \"{}\": {}", result_name, reason)),
            comm))
        return bad_input;
    RecordFile file(records);
    if (refused(complaints(speaks ? file.open() : ""), comm)) return bad_input;
    Findings findings;
    findings.facts = facts_of(mode.resolved(), comm, *backend);
    if (chosen && !backend_info(mode.resolved().backend).features.device_memory)
        findings.facts.backend += ", as OMP_NUM_THREADS is not set: processors / ranks";
    findings.facts.mpi_start_seconds = comm.max(start.mpi_seconds);
    const auto progress = make_progress(speaks, verbose);
    const auto report = make_reporter(speaks, deck, file);
    Ending ending(time_limit > 0 ? start.begun + time_limit : std::numeric_limits<double>::infinity());
    const auto regions = make_regions();
    mode.run({comm, *backend, *progress, *report, ending, regions.get()}, findings);
    findings.facts.total_seconds = now() - start.begun;
    if (speaks && findings.benchmark)
        write_result(benchmark_result(deck, findings, result_name), result, *report, findings);
    report->record(closing_records(findings));
    if (!file.finish())
        findings.trouble = "output.json lacks records: choose a place with room for them, and run again";
    report->tell(speaks ? closing_text(findings) : "");
    if (!findings.trouble.empty()) fmt::print(stderr, "{}\n", wrapped_lines(findings.trouble));
    if (!findings.trouble.empty()) return broken;
    return findings.interrupted() ? interrupted : findings.valid() ? valid : invalid;
}

}  // namespace keel
