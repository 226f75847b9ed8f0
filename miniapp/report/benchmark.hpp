#pragma once

// The result of the Keel benchmark (docs/benchmark.md): the lines to submit, and the file of output.result.

#include <string>

#include "miniapp/report/findings.hpp"
#include "miniapp/report/header.hpp"

namespace keel {

struct BenchmarkResult {
    std::string lines;   // the last lines of the report, with the digest of the file
    std::string file;    // the record "benchmark", indented; the last field is the digest of the text before
    std::string record;  // the same as a line
};
// The benchmark ran to its end. `name`: that of the file, which the lines tell to submit.
BenchmarkResult benchmark_result(const DeckFacts& deck, const Findings& findings, const std::string& name);

}  // namespace keel
