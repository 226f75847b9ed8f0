#pragma once

// The files that a run writes: whether they can be, and those that must not be there yet.

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

namespace keel {

// Why `file` cannot be written; empty if it can. Opens nothing, so nothing is truncated.
std::string reason_not_writable(const std::filesystem::path& file);
// Returns why `file` cannot be created, or an empty string. It must not exist and must differ from
// output.json.
std::string reason_not_new(const std::filesystem::path& file, const std::filesystem::path& json);

// Whether both paths are one file, whether it is there already or not.
bool is_same_file(const std::filesystem::path& a, const std::filesystem::path& b);

// A file that was not there before, so that nothing is overwritten, through no link either. An empty file
// that a killed run left is taken over, unless another run holds its lock. The file is removed again unless
// it is written.
class NewFile {
  public:
    explicit NewFile(std::filesystem::path path) : path_(std::move(path)) {}
    ~NewFile() { remove(); }
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;

    // Creates the empty file. Returns why that cannot be, or an empty string.
    std::string create();
    // Writes the whole text and closes the file. Returns whether all of it is there; else removes the file.
    bool write(std::string_view text);

  private:
    bool is_at_path() const;
    void remove();

    std::filesystem::path path_;
    int file_ = -1;
};

}  // namespace keel
