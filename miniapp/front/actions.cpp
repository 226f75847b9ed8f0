#include "miniapp/front/actions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <sstream>

#include "miniapp/deck/text.hpp"
#include "miniapp/front/agreement.hpp"
#include "miniapp/front/progress.hpp"
#include "miniapp/front/record_file.hpp"
#include "miniapp/front/reporter.hpp"
#include "miniapp/report/facts.hpp"
#include "miniapp/report/records.hpp"
#include "miniapp/setup/machine_facts.hpp"

namespace keel {
namespace {

void print_complaints(const std::vector<std::string>& complaints) {
    for (const std::string& complaint : complaints) fmt::print(stderr, "{}\n", wrapped(complaint, 4));
}

// Why the study does not fit where the backend keeps its data. Collective; rank 0 knows.
std::vector<std::string> exceeds_memory(const PreparedStudy& study, const Communicator& comm,
                                        const Backend& backend) {
    const Topology& detected = study.resolved().detected;
    const bool device = !backend.device().empty();
    const auto devices = comm.gather(backend.device());
    const double free =
        comm.min(device ? static_cast<double>(backend.free_device_bytes()) : memory_of_node());
    if (comm.rank() != 0) return {};
    const std::string complaint =
        study.exceeds(device ? SharedMemory{free, most_ranks_per_device(devices, detected), "device"}
                             : SharedMemory{free, most_ranks_per_node(detected), "node"});
    return complaint.empty() ? std::vector<std::string>() : std::vector{complaint};
}

}  // namespace

bool refused(const std::vector<std::string>& complaints, const Communicator& comm) {
    if (comm.max(complaints.empty() ? 0 : 1) == 0) return false;
    const std::vector<std::string> all = comm.gather(fmt::format("{}", fmt::join(complaints, "\n")));
    const auto first = std::ranges::find_if(all, [](const auto& text) { return !text.empty(); });
    if (first == all.end()) return true;
    constexpr int most = 100;  // that anybody reads
    std::istringstream lines(*first);
    int told = 0;
    for (std::string line; std::getline(lines, line); ++told)
        if (told < most) print_complaints({line});
    if (told > most) print_complaints({fmt::format("and {} more complaints", told - most)});
    return true;
}

Status print_plan(const PreparedStudy& study, int rank, const Communicator& comm) {
    const int ranks = study.resolved().ranks;
    if (rank >= ranks) {
        if (comm.rank() == 0)
            print_complaints({fmt::format("command line: --print-plan={}: there {} {}", rank,
                                          ranks == 1 ? "is" : "are", counted(ranks, "rank"))});
        return bad_input;
    }
    const auto text = comm.rank() == 0 ? study.plan_text(rank) : std::nullopt;
    if (comm.max(text ? 1 : 0) == 0) {
        if (comm.rank() == 0)
            print_complaints(
                {"command line: --print-plan: this run.mode has no ghost cells; choose another"});
        return bad_input;
    }
    if (text) fmt::print("{}", *text);
    return valid;
}

Status dry_run(const PreparedStudy& study, const DeckFacts& deck, const OutputOptions& output,
               const Communicator& comm) {
    const DryRun found = study.dry_run(comm);
    if (comm.rank() != 0) return valid;
    const Resolved& resolved = study.resolved();
    std::string text = fmt::format("{}, {}\n", counted(resolved.ranks, "rank"), resolved.topology.describe());
    if (resolved.topology.nodes() > 1 && !resolved.imagined())
        text += fmt::format("nodes {}\n", resolved.topology.map());
    for (const std::string& remark : deck.remarks) text += wrapped("remark: " + remark, 4) + "\n";
    for (const auto& all : {resolved.topology.warnings(), resolved.warnings})
        for (const std::string& warning : all) text += wrapped("warning: " + warning, 4) + "\n";
    fmt::print("{}", text + found.text);
    RecordFile file(output.json);
    file.append(found.records);
    return file.complete() ? valid : broken;
}

Status run_study(const PreparedStudy& study, const DeckFacts& deck, const OutputOptions& output, bool verbose,
                 const Communicator& comm) {
    const auto backend = make_backend(study.resolved());
    if (refused(unlike_rank_0(backend->threads(), comm), comm)) return bad_input;
    if (refused(exceeds_memory(study, comm, *backend), comm)) return bad_input;
    const bool speaks = comm.rank() == 0;
    Findings findings;
    findings.facts = facts_of(study.resolved(), comm, *backend);
    const auto progress = make_progress(speaks, verbose);
    RecordFile file(output.json);
    const auto report = make_reporter(speaks, deck, file);
    const Interrupts interrupts;
    study.run({comm, *backend, *progress, *report, interrupts}, findings);
    report->tell(speaks ? closing_text(findings) : "");
    report->record(closing_records(findings));
    if (!findings.trouble.empty()) fmt::print(stderr, "{}\n", findings.trouble);
    if (!findings.trouble.empty() || !file.complete()) return broken;
    return findings.interrupted ? interrupted : findings.valid() ? valid : invalid;
}

}  // namespace keel
