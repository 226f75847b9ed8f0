#include "miniapp/modes/spmv/matrix/file/file_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <deque>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <system_error>
#include <tuple>
#include <utility>

#include "comm/ranks/sparse_alltoallv.hpp"
#include "miniapp/modes/spmv/matrix/file/matrix_file.hpp"

namespace keel {
namespace {

// Entries given several times are added in the order of the file.
GlobalRows assemble(std::deque<FileEntry> entries, std::int64_t first, std::size_t count) {
    std::ranges::sort(entries, {}, [](const FileEntry& e) { return std::tuple(e.row, e.column, e.line); });
    GlobalRows rows;
    rows.first.assign(count + 1, 0);
    rows.columns.reserve(entries.size());
    rows.values.reserve(entries.size());
    const FileEntry* last = nullptr;
    for (const FileEntry& entry : entries) {
        if (last && last->row == entry.row && last->column == entry.column) {
            rows.values.back() += entry.value;
        } else {
            rows.columns.push_back(entry.column);
            rows.values.push_back(entry.value);
            ++rows.first[static_cast<std::size_t>(entry.row - first) + 1];
        }
        last = &entry;
    }
    std::partial_sum(rows.first.begin(), rows.first.end(), rows.first.begin());
    return rows;
}

// Sends entries to the owners of their rows.
class EntryPost {
  public:
    EntryPost(const Communicator& comm, const RowPartition& partition)
        : comm_(comm.duplicate()), partition_(partition) {}

    void add(const FileEntry& entry) {
        const int owner = partition_.owner(entry.row);
        if (owner == comm_.rank()) {
            own_.push_back(entry);
            return;
        }
        std::vector<std::int64_t>& letter = letters_[owner];
        letter.insert(letter.end(), {entry.row, entry.column, std::bit_cast<std::int64_t>(entry.value),
                                     std::int64_t{entry.line}});
    }
    // Collective.
    void deliver() {
        tag_ = 1 - tag_;
        for (const auto& [from, letter] : sparse_alltoallv(comm_, std::exchange(letters_, {}), tag_))
            for (std::size_t n = 0; n < letter.size(); n += 4)
                own_.push_back(
                    {letter[n], letter[n + 1], std::bit_cast<double>(letter[n + 2]), letter[n + 3]});
    }
    // Of this rank's rows.
    std::deque<FileEntry> take() { return std::move(own_); }

  private:
    Communicator comm_;  // of its own: letters are taken from whoever sends some
    RowPartition partition_;
    WordsByRank letters_;
    std::deque<FileEntry> own_;  // grows without being copied
    int tag_ = 0;
};

}  // namespace

GlobalRows rows_of_file(const Communicator& comm, const std::string& name,
                        const std::function<std::int64_t(std::int64_t)>& to_new,
                        const RowPartition& partition) {
    MatrixFile file(comm, name);
    std::string complaint = file.complaint();
    if (complaint.empty() && file.header().rows != partition.rows)
        complaint = name + ": has other rows than before: somebody writes to it; try again";
    if (!complaint.empty()) throw MatrixFileError(complaint);
    EntryPost post(comm, partition);
    file.read(
        entries_at_once,
        [&](const FileEntry& entry) {
            post.add({to_new(entry.row), to_new(entry.column), entry.value, entry.line});
        },
        [&] { post.deliver(); });
    if (!file.complaint().empty()) throw MatrixFileError(file.complaint());
    return assemble(post.take(), partition.first(comm.rank()), partition.size(comm.rank()));
}

std::string why_not_readable(const std::string& name) {
    if (std::error_code ignored;
        std::filesystem::exists(name, ignored) && !std::filesystem::is_regular_file(name, ignored))
        return "is a folder or a device, and is read more than once; give a file";
    std::ifstream file(name);
    if (!file) return "cannot be read; give the path of a Matrix Market file";
    try {
        read_matrix_header(file, name);
    } catch (const MatrixFileError& error) {
        return error.what();
    }
    return "";
}

FileVerdict judge_file(const Communicator& comm, const std::string& name, DiagonalScaling scaling) {
    MatrixFile file(comm, name);
    if (!file.complaint().empty()) return {file.complaint(), ""};
    const RowPartition partition{file.header().rows, comm.size()};
    EntryPost post(comm, partition);
    file.read(
        entries_at_once,
        [&](const FileEntry& entry) {
            if (scaling != DiagonalScaling::none && entry.row == entry.column) post.add(entry);
        },
        [&] { post.deliver(); });
    if (!file.complaint().empty()) return {file.complaint(), ""};
    // Only what the file has: its header may announce more rows than fit into memory.
    std::deque<FileEntry> diagonal = post.take();
    std::ranges::sort(diagonal, {}, [](const FileEntry& e) { return std::tuple(e.row, e.line); });
    auto next = diagonal.begin();
    const std::int64_t end = partition.first(comm.rank() + 1);
    for (std::int64_t row = partition.first(comm.rank()); scaling != DiagonalScaling::none && row < end;
         ++row) {
        double value = 0;
        std::int64_t line = 0;
        for (; next != diagonal.end() && next->row == row; ++next) {
            value += next->value;
            line = next->line;
        }
        if (scalable(value, scaling)) continue;
        const std::int64_t number = row + 1;
        const std::string found =
            line == 0 ? fmt::format("{}: row {} has no diagonal entry", name, number)
                      : fmt::format("{}:{}: the diagonal entry of row {} is {}", name, line, number, value);
        return {"", found + (scaling == DiagonalScaling::right
                                 ? ", and the scaling divides by it"
                                 : ", and the symmetric scaling divides by its root")};
    }
    return {};
}

}  // namespace keel
