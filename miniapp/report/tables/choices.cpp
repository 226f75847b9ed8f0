#include "miniapp/report/tables/choices.hpp"

#include <fmt/format.h>

#include <array>
#include <string>

#include "kernels/backends/registry.hpp"
#include "miniapp/deck/text/text.hpp"
#include "miniapp/report/tables/table.hpp"
#include "solvers/krylov/methods.hpp"
#include "solvers/systems/grid_system.hpp"

namespace keel {
namespace {

std::string flops_text(const Method& method) {
    const std::string& applications = method.applications.text();
    if (applications == "0") return method.flops.text();
    const bool sum = applications.find(' ') != std::string::npos;
    return (applications == "1" ? ""
            : sum               ? "(" + applications + ") "
                                : applications + " ") +
           "F + " + method.flops.text();
}

// The features of each backend; for a terminal with those that can run here, else with what compiles them in.
ReportTable backends_table(bool here) {
    ReportTable table("");
    for (const BackendInfo& b : all_backends())
        table.add({{"", b.name, "run.backend"},
                   {"", b.features.device_memory, "comm.device"},
                   {"", b.features.lazy, "lazy"},
                   {"", b.features.graphs, "graphs"},
                   {"", b.features.single_precision, "mixed"},
                   here ? Cell("",
                               !b.compiled_in                 ? "not compiled"
                               : why_unusable(b.name).empty() ? "yes"
                                                              : "no device",
                               "here")
                        : Cell("", b.option.empty() ? "always" : fmt::format("-D{}=ON", b.option),
                               "compiled in by"),
                   {"", b.runs_on, "runs on"}});
    return table;
}

// The solver to try first, by kind of problem.
struct FirstChoice {
    const char* solver;
    const char* problem;
};
constexpr std::array first_choices{
    FirstChoice{"bicgstab_fused", "a matrix that is not symmetric"},
    FirstChoice{"cg", "a grid or a symmetric matrix"},
    FirstChoice{"ca_cg", "a symmetric matrix, if all-reduces take most of the time"},
    FirstChoice{"pipelined_cg", "a symmetric matrix, if the MPI progresses all-reduces while ranks compute"},
    FirstChoice{"smooth", "a bottom grid of a few cells"},
    FirstChoice{"amg", "a bottom grid of many cells, or a matrix of a grid"}};

}  // namespace

std::string bottom_solvers_text() {
    std::string text;
    std::size_t longest = 0;
    for (const Method& m : methods()) longest = std::max(longest, m.name.size());
    for (const Method& m : methods()) {
        const std::string costs = fmt::format(
            "an iteration: exchanges {}; all-reduces {}; words {}; vectors {}; flops per cell {}",
            m.exchanges.text(), m.reductions.text(), m.words.text(), m.vectors.text(), flops_text(m));
        text += wrapped(fmt::format("{:<{}}  {}", m.name, longest, m.source), longest + 2) + "\n";
        for (const FirstChoice& choice : first_choices)
            if (choice.solver == m.name) text += fmt::format("    * first choice for {}\n", choice.problem);
        for (const std::string& line : {m.use, costs}) text += wrapped("    " + line, 6) + "\n";
    }
    return text +
           wrapped(fmt::format("F: flops per cell of an application of the operator: {}, with "
                               "bottom.scaling = jacobi {} (BiCGStab's family) or {} (CG's); 4 less in two "
                               "dimensions, as smooth",
                               GridSystem::application_flops(DiagonalScaling::none),
                               GridSystem::application_flops(DiagonalScaling::right),
                               GridSystem::application_flops(DiagonalScaling::symmetric)),
                   4) +
           "\n";
}

std::string bottom_solvers_markdown() {
    ReportTable table("");
    for (const Method& m : methods())
        table.add({{"", m.name, "bottom.solver"},
                   {"", m.exchanges.text(), "exchanges"},
                   {"", m.reductions.text(), "all-reduces"},
                   {"", m.words.text(), "words"},
                   {"", m.vectors.text(), "vectors"},
                   {"", flops_text(m), "flops per cell"},
                   {"", m.source, "source"},
                   {"", m.use, "use"}});
    return table.to_markdown();
}

std::string backends_text() {
    return backends_table(true).print();
}

std::string backends_markdown() {
    return backends_table(false).to_markdown();
}

}  // namespace keel
