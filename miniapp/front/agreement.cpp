#include "miniapp/front/agreement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "build_info.hpp"
#include "miniapp/deck/text/text.hpp"

namespace keel {
namespace {

// Behind each word a character that no word has.
std::string joined(std::span<char* const> words) {
    std::string text;
    for (const char* word : words) text += std::string(word) + '\0';
    return text;
}

std::string first_of(std::string_view text) {
    return text.empty() ? "nothing" : fmt::format("\"{}\"", shown(text.substr(0, text.find('\0'))));
}

}  // namespace

std::vector<std::string> unlike_rank_0(std::span<char* const> words, const Communicator& comm) {
    const std::string build = fmt::format("Keel {} ({})", build_info::version, build_info::revision);
    const std::string first_build = comm.broadcast(build);
    const std::string text = joined(words);
    const std::string first_text = comm.broadcast(text);
    std::vector<std::string> complaints;
    if (build != first_build)
        complaints.push_back(
            fmt::format("rank {} is {}, rank 0 is {}: start one build", comm.rank(), build, first_build));
    if (text != first_text) {
        const auto same =
            static_cast<std::size_t>(std::ranges::mismatch(text, first_text).in1 - text.begin());
        // The beginning of the word that differs; npos + 1 is 0.
        const std::size_t word = std::string_view(text).substr(0, same).rfind('\0') + 1;
        complaints.push_back(fmt::format(
            "rank {} was started with other words than rank 0: {} in place of {}; give all ranks the same",
            comm.rank(), first_of(std::string_view(text).substr(word)),
            first_of(std::string_view(first_text).substr(word))));
    }
    return complaints;
}

std::vector<std::string> unlike_rank_0(int threads, const Communicator& comm) {
    const std::string first = comm.broadcast(std::to_string(threads));
    if (std::to_string(threads) == first) return {};
    return {fmt::format("rank {} has {}, rank 0 has {}; give all ranks the same (OMP_NUM_THREADS)",
                        comm.rank(), counted(threads, "thread"), first)};
}

}  // namespace keel
