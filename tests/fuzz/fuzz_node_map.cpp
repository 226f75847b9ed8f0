// Node maps: each is a label for every rank or a complaint.

#include <algorithm>

#include "miniapp/files/lists.hpp"
#include "tests/fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace keel;
    const FileText file{"nodes.txt", text_of(data, size), {}};
    for (const int ranks : {1, 3, 64}) {
        const NodeMap map = parse_node_map(file, ranks);
        if (!map.error.empty()) continue;
        require(static_cast<int>(map.labels.size()) == ranks, "a map has a label for each rank");
        require(std::ranges::all_of(map.labels, [](int label) { return label >= 0; }),
                "labels are numbers of nodes");
    }
    return 0;
}
