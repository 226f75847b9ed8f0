#include "miniapp/files/named_files.hpp"

#include <fmt/format.h>

#include <string_view>
#include <system_error>

#include "miniapp/files/data_folders.hpp"
#include "miniapp/files/lists.hpp"
#include "miniapp/files/machine_file.hpp"

namespace keel {
namespace {

FileText broadcast(const FileText& file, const Communicator& comm) {
    return {comm.broadcast(file.name), comm.broadcast(file.text), comm.broadcast(file.error)};
}

// The text of a file; if there is none, the error names the folders' own: weak.toml for inputs/weak.toml.
FileText read_named(const std::filesystem::path& file, const std::vector<std::filesystem::path>& folders,
                    std::size_t most_bytes) {
    FileText read = read_text(found_file(file, folders), most_bytes);
    std::error_code ignored;
    std::filesystem::path rest = file;
    while (!read.error.empty() && rest.has_parent_path() && !std::filesystem::exists(file, ignored)) {
        rest = rest.lexically_relative(*rest.begin());
        if (found_file(rest, folders) == rest) continue;
        read.error += fmt::format(" (did you mean \"{}\"?)", rest.string());
        break;
    }
    return read;
}

// The path of an array, of any side, or that beside the deck where only there is one.
std::string found_array(const std::string& name, const std::filesystem::path& beside) {
    const auto there = [](const std::string& path) {
        for (int side = 0; side < 6; ++side)
            if (std::error_code ignored; std::filesystem::exists(file_of_side(path, side), ignored))
                return true;
        return false;
    };
    const std::string other = (beside / name).string();
    return there(name) || !there(other) ? name : other;
}

}  // namespace

std::string file_of_side(std::string name, int side) {
    constexpr std::string_view word = "{side}";
    if (const auto at = name.find(word); at != name.npos)
        name.replace(at, word.size(), fmt::format("{}_{}", "xyz"[side / 2], side % 2 == 1 ? "high" : "low"));
    return name;
}

std::optional<FileText> read_once(const std::optional<std::filesystem::path>& file,
                                  const std::vector<std::filesystem::path>& folders, const Communicator& comm,
                                  std::size_t most_bytes) {
    if (!file) return {};
    return broadcast(comm.rank() == 0 ? read_named(*file, folders, most_bytes) : FileText{}, comm);
}

NamedFiles read_named_files(Deck& deck, const Communicator& comm) {
    const CommOptions& options = deck.parameters.comm;
    const std::filesystem::path beside = std::filesystem::path(deck.file).parent_path();
    NamedFiles files;
    if (!options.machine.empty())
        files.machine =
            broadcast(comm.rank() == 0 ? find_machine(options.machine, beside) : FileText{}, comm);
    constexpr std::size_t most_map_bytes = 1 << 26;  // a line for each of a million ranks
    if (!options.node_map.empty())
        files.node_map = read_once(options.node_map, {beside}, comm, most_map_bytes);
    ProblemOptions& problem = deck.parameters.problem;
    for (std::string* array : {&problem.rhs_file, &problem.data_file})
        if (!array->empty())
            *array = comm.broadcast(comm.rank() == 0 ? found_array(*array, beside) : std::string());
    BoxesList& list = deck.parameters.problem.boxes_list;
    if (!list.file.empty()) {
        files.boxes = read_once(list.file, {beside}, comm, most_map_bytes);
        const BoxFile read = parse_box_file(*files.boxes);
        list.positions = read.positions;
        if (!read.error.empty()) {
            deck.errors.push_back(fmt::format("{}: problem.shape = \"{}\": {}",
                                              deck.origin.at("problem.shape"), list.file, read.error));
            deck.refused.insert("problem.shape");
        }
    }
    return files;
}

}  // namespace keel
