#pragma once

#include <string>

#include "comm/ranks/communicator.hpp"
#include "kernels/backends/registry.hpp"
#include "kernels/layout/layout.hpp"
#include "miniapp/report/findings.hpp"
#include "miniapp/setup/resolved.hpp"

namespace keel {

// The facts of every run, with what to warn of. Collective; complete on rank 0.
RunFacts facts_of(const Resolved& resolved, const Communicator& comm, const Backend& backend);

// A line for each level whose boxes are agglomerated.
std::string agglomeration_text(const std::vector<LevelShape>& levels, std::size_t dimensions);

// The domain of a finest level, of a shape of that name.
DomainFacts facts_of_domain(const Layout& finest, const std::string& shape);

}  // namespace keel
