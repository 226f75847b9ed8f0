#pragma once

// Bottom solvers and backends, for --solvers and --backends and, as Markdown, for docs/.

#include <string>

namespace keel {

// The cost of each bottom solver.
std::string bottom_solvers_text();
std::string bottom_solvers_markdown();

// The features of each backend. The text also says which of them can run here.
std::string backends_text();
std::string backends_markdown();

}  // namespace keel
