#include "miniapp/front/actions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "miniapp/deck/text.hpp"
#include "miniapp/front/agreement.hpp"
#include "miniapp/front/progress.hpp"
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

// As a disk that was full leaves it.
bool ends_in_half_line(const std::string& name) {
    std::ifstream file(name, std::ios::binary | std::ios::ate);
    if (!file || file.tellg() <= 0) return false;
    file.seekg(-1, std::ios::end);
    return file.get() != '\n';
}

// Whether the records, if there are any, could be written to the file, if there is one; complains if not.
bool append(const std::string& output, const std::string& json_lines) {
    if (output.empty() || json_lines.empty()) return true;
    std::error_code ignored;
    const bool mend = std::filesystem::is_regular_file(output, ignored) && ends_in_half_line(output);
    std::ofstream file(output, std::ios::app);
    if (file << (mend ? "\n" : "") << json_lines << std::flush) return true;
    fmt::print(stderr, "output.json = \"{}\": could not be written: {}\n", output,
               std::generic_category().message(errno));
    return false;
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
    return append(output.json, found.records) ? valid : broken;
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
    study.run({comm, *backend, *progress}, findings);
    if (speaks) {
        fmt::print("{}\n{}{}", header_text(deck, findings.facts), findings.text, closing_text(findings));
        if (!append(output.json, json_lines(deck, findings))) return broken;
        if (!findings.trouble.empty()) fmt::print(stderr, "{}\n", findings.trouble);
    }
    return !findings.trouble.empty() ? broken : findings.valid() ? valid : invalid;
}

}  // namespace keel
