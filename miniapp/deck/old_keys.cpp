#include "miniapp/deck/old_keys.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace keel {

std::span<const OldKey> old_keys() {
    // By section and name.
    static constexpr OldKey all[] = {
        {"comm.allreduce_model", "quickest", "write \"auto\""},
        {"comm.cap_rule", "", "write comm.scheme = \"split/always\" for always"},
        {"comm.partner_rule", "", "write comm.scheme = \"two_step/max_need\" for max_need"},
        {"comm.persistent", "", "messages are posted anew in each exchange; leave it out"},
        {"comm.scheme", "model", "write \"auto\""},
        {"multigrid.bottom_grid", "agglomerate", "write \"consolidate\""},
        {"multigrid.smoother_passes", "",
         "half sweeps are fused by default; for plain write multigrid.reference_path = true, for fused "
         "multigrid.fused_box = 1"},
        {"problem.clumps", "", "problem.shape = \"tags\" has four random centres"},
        {"run.launches", "", "write run.gpu_sync = per_operation, lazy or graphs"},
    };
    return all;
}

const OldKey* old_key(std::string_view key, std::string_view value) {
    const auto all = old_keys();
    const auto found =
        std::ranges::find_if(all, [&](const OldKey& old) { return old.key == key && old.value == value; });
    return found == all.end() ? nullptr : &*found;
}

bool old_section(std::string_view section) {
    return std::ranges::any_of(old_keys(), [&](const OldKey& old) {
        return old.key.starts_with(section) && old.key.substr(section.size()).starts_with('.');
    });
}

std::string old_key_text(const OldKey& old) {
    return fmt::format("is no longer a {}; {}", old.value.empty() ? "key" : "value", old.remedy);
}

}  // namespace keel
