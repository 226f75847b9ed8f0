#pragma once

// What there is to choose from, for --solvers and --backends and, as Markdown, for docs/.

#include <string>

namespace keel {

// What each bottom solver costs.
std::string bottom_solvers_text();
std::string bottom_solvers_markdown();

// What each backend can do. The text, not the Markdown, also says which of them can run here.
std::string backends_text();
std::string backends_markdown();

}  // namespace keel
