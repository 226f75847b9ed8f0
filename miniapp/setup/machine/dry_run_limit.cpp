#include "miniapp/setup/machine/dry_run_limit.hpp"

#include <fmt/format.h>

#include <cmath>

#include "miniapp/deck/text/text.hpp"

namespace keel {

std::string DryRunLimit::exceeded_by(double bytes_needed, const std::string& remedy) const {
    if (allows(bytes_needed)) return "";
    const bool may_be_raised = bytes() < bytes_here;
    return fmt::format(
        "a dry run takes about {}, and may take {}{}: choose {}{}", bytes_text(bytes_needed),
        bytes_text(bytes()), may_be_raised ? "" : ", half of the memory here", remedy,
        may_be_raised ? fmt::format(", or run.dry_run_limit = {:.0f}", std::ceil(bytes_needed / 1e9)) : "");
}

}  // namespace keel
