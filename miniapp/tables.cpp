#include "miniapp/tables.hpp"

#include <fmt/format.h>

#include "kernels/backends/registry.hpp"
#include "solvers/bottom.hpp"

namespace keel {
namespace {

const char* yes_or_no(bool feature) {
    return feature ? "yes" : "no";
}

}  // namespace

std::string bottom_solvers_text() {
    std::string text = fmt::format("{:<16} {:>9} {:>10} {:>6} {:>8}  per iteration\n", "bottom.solver",
                                   "exchanges", "reductions", "words", "vectors");
    for (const BottomMethod& m : bottom_methods())
        text += fmt::format("{:<16} {:>9} {:>10} {:>6} {:>8}  {} ({})\n", m.name, m.exchanges, m.reductions,
                            m.words, m.vectors, m.use, m.source);
    return text;
}

std::string bottom_solvers_markdown() {
    std::string text =
        "| bottom.solver | exchanges | all-reduces | words | vectors | source | use |\n"
        "| --- | --- | --- | --- | --- | --- | --- |\n";
    for (const BottomMethod& m : bottom_methods())
        text += fmt::format("| `{}` | {} | {} | {} | {} | {} | {} |\n", m.name, m.exchanges, m.reductions,
                            m.words, m.vectors, m.source, m.use);
    return text;
}

std::string backends_text() {
    std::string text = fmt::format("{:<14} {:<14} {:<13} {:<7} {:<12} runs on\n", "run.backend",
                                   "comm.device", "asynchronous", "graphs", "here");
    for (const BackendInfo& b : all_backends()) {
        const char* const here = !b.compiled_in                 ? "not compiled"
                                 : why_unusable(b.name).empty() ? "yes"
                                                                : "no device";
        text +=
            fmt::format("{:<14} {:<14} {:<13} {:<7} {:<12} {}\n", b.name, yes_or_no(b.features.device_memory),
                        yes_or_no(b.features.asynchronous), yes_or_no(b.features.graphs), here, b.runs_on);
    }
    return text;
}

std::string backends_markdown() {
    std::string text =
        "| run.backend | runs on | compiled in by | comm.device | run.launches = asynchronous | run.launches "
        "= graphs |\n"
        "| --- | --- | --- | --- | --- | --- |\n";
    for (const BackendInfo& b : all_backends())
        text += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", b.name, b.runs_on,
                            b.option.empty() ? "always" : fmt::format("`-D{}=ON`", b.option),
                            yes_or_no(b.features.device_memory), yes_or_no(b.features.asynchronous),
                            yes_or_no(b.features.graphs));
    return text;
}

}  // namespace keel
