#include "miniapp/report/tables.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "kernels/backends/registry.hpp"
#include "miniapp/deck/text/text.hpp"
#include "solvers/krylov/methods.hpp"
#include "solvers/systems/grid_system.hpp"

namespace keel {
namespace {

const char* yes_or_no(bool feature) {
    return feature ? "yes" : "no";
}

std::string flops_text(const Method& method) {
    const std::string& applications = method.applications.text();
    if (applications == "0") return method.flops.text();
    const bool sum = applications.find(' ') != std::string::npos;
    return (applications == "1" ? ""
            : sum               ? "(" + applications + ") "
                                : applications + " ") +
           "F + " + method.flops.text();
}

}  // namespace

std::string bottom_solvers_text() {
    std::string text;
    for (const Method& m : methods()) {
        const std::string costs = fmt::format(
            "an iteration: exchanges {}; all-reduces {}; words {}; vectors {}; flops per cell {}",
            m.exchanges.text(), m.reductions.text(), m.words.text(), m.vectors.text(), flops_text(m));
        text += wrapped(fmt::format("{:<20}{}", m.name, m.source), 20) + "\n";
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
    std::string text =
        "| bottom.solver | exchanges | all-reduces | words | vectors | flops per cell | source | use |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- |\n";
    for (const Method& m : methods())
        text += fmt::format("| `{}` | {} | {} | {} | {} | {} | {} | {} |\n", m.name, m.exchanges.text(),
                            m.reductions.text(), m.words.text(), m.vectors.text(), flops_text(m), m.source,
                            m.use);
    return text;
}

std::string backends_text() {
    std::vector<std::vector<std::string>> rows{
        {"run.backend", "comm.device", "lazy", "graphs", "here", "runs on"}};
    for (const BackendInfo& b : all_backends()) {
        const char* const here = !b.compiled_in                 ? "not compiled"
                                 : why_unusable(b.name).empty() ? "yes"
                                                                : "no device";
        rows.push_back({b.name, yes_or_no(b.features.device_memory), yes_or_no(b.features.lazy),
                        yes_or_no(b.features.graphs), here, b.runs_on});
    }
    return aligned(rows);
}

std::string backends_markdown() {
    std::string text =
        "| run.backend | runs on | compiled in by | comm.device | run.gpu_sync = lazy | "
        "run.gpu_sync = graphs |\n"
        "| --- | --- | --- | --- | --- | --- |\n";
    for (const BackendInfo& b : all_backends())
        text += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", b.name, b.runs_on,
                            b.option.empty() ? "always" : fmt::format("`-D{}=ON`", b.option),
                            yes_or_no(b.features.device_memory), yes_or_no(b.features.lazy),
                            yes_or_no(b.features.graphs));
    return text;
}

}  // namespace keel
