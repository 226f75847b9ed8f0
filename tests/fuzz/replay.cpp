// Feeds an entry point of libFuzzer with files, where there is no libFuzzer: replay FOLDER-OR-FILE ...

#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "tests/fuzz/fuzz.hpp"

int main(int argc, char** argv) {
    int count = 0;
    const auto feed = [&count](const std::filesystem::path& path) {
        std::ifstream file(path, std::ios::binary);
        const std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
        const std::vector<std::uint8_t> input(bytes.begin(), bytes.end());
        std::printf("%s\n", path.c_str());
        std::fflush(stdout);
        LLVMFuzzerTestOneInput(input.data(), input.size());
        ++count;
    };
    for (int n = 1; n < argc; ++n) {
        if (!std::filesystem::is_directory(argv[n])) {
            feed(argv[n]);
            continue;
        }
        for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[n]))
            if (entry.is_regular_file()) feed(entry.path());
    }
    std::printf("%d inputs\n", count);
    return count > 0 ? 0 : 1;
}
