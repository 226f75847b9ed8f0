#include "miniapp/front/agreement.hpp"

#include <fmt/format.h>

#include "build_info.hpp"
#include "miniapp/deck/text/text.hpp"

namespace keel {

std::vector<std::string> unlike_rank_0(std::span<char* const> words, const Communicator& comm) {
    const std::string build = fmt::format("Keel {} ({})", build_info::version, build_info::revision);
    const std::string first_build = comm.broadcast(build);
    std::string text;
    for (const char* word : words) text += std::string(word) + '\0';  // no word has this character
    const std::string first_text = comm.broadcast(text);
    std::vector<std::string> complaints;
    if (build != first_build)
        complaints.push_back(
            fmt::format("rank {} is {}, rank 0 is {}: start one build", comm.rank(), build, first_build));
    if (text != first_text)
        complaints.push_back(fmt::format(
            "rank {} was started with other words than rank 0; give all ranks the same", comm.rank()));
    return complaints;
}

std::vector<std::string> unlike_rank_0(int threads, const Communicator& comm) {
    const std::string first = comm.broadcast(std::to_string(threads));
    if (std::to_string(threads) == first) return {};
    return {fmt::format("rank {} has {}, rank 0 has {}; give all ranks the same (OMP_NUM_THREADS)",
                        comm.rank(), counted(threads, "thread"), first)};
}

}  // namespace keel
