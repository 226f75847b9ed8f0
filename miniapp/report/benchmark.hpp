#pragma once

// The result of the Keel benchmark (docs/benchmark.md): the lines to submit, and the file RESULT.json.

#include <string>

#include "miniapp/report/findings.hpp"
#include "miniapp/report/header.hpp"

namespace keel {

inline constexpr const char* result_file = "RESULT.json";

struct BenchmarkResult {
    std::string lines;   // the last lines of the report, with the digest of the file
    std::string file;    // the record "benchmark", indented; the last field is the digest of the text before
    std::string record;  // the same as a line
};
// The benchmark ran to its end.
BenchmarkResult benchmark_result(const DeckFacts& deck, const Findings& findings);

}  // namespace keel
