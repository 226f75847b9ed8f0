#include "miniapp/modes/spmv/matrix/file/file_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <deque>
#include <filesystem>
#include <numeric>
#include <system_error>
#include <tuple>
#include <utility>

#include "comm/ranks/sparse_alltoallv.hpp"
#include "miniapp/files/numpy_file.hpp"
#include "miniapp/modes/spmv/matrix/file/gzip_text.hpp"
#include "miniapp/modes/spmv/matrix/file/matrix_market.hpp"

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

// The fault that the action finds in a file; empty if it finds none.
template <class Action>
std::string fault_of(const Action& action) {
    try {
        action();
    } catch (const MatrixFileError& error) {
        return error.what();
    } catch (const NumpyFileError& error) {
        return error.what();
    }
    return "";
}

using Take = std::function<void(const FileEntry&)>;

// Rank 0 reads entries by `read` and sends each to the owner of its row, whose `keep` takes it. Returns the
// complaint of `read`, on all ranks alike. Collective.
std::string share_out(const Communicator& comm, const RowPartition& partition,
                      const std::function<void(const Take&)>& read, const Take& keep) {
    const Communicator entries_only = comm.duplicate();  // no other message can match
    WordsByRank outgoing;
    std::size_t held = 0;
    int tag = 0;
    // Whether rank 0 has more to read, which it alone knows.
    const auto deliver = [&](bool more) {
        tag = 1 - tag;
        held = 0;
        for (const auto& [from, words] : sparse_alltoallv(entries_only, std::exchange(outgoing, {}), tag))
            for (std::size_t n = 0; n < words.size(); n += 4)
                keep({words[n], words[n + 1], std::bit_cast<double>(words[n + 2]), words[n + 3]});
        return comm.max(more ? 1.0 : 0.0) > 0;
    };
    if (comm.rank() != 0) {
        while (deliver(false)) continue;
        return comm.broadcast("");
    }
    const auto send_or_keep = [&](const FileEntry& entry) {
        const int owner = partition.owner(entry.row);
        if (owner == 0) return keep(entry);
        std::vector<std::int64_t>& words = outgoing[owner];
        words.insert(words.end(), {entry.row, entry.column, std::bit_cast<std::int64_t>(entry.value),
                                   std::int64_t{entry.line}});
        if (++held == entries_at_once) deliver(true);
    };
    const std::string complaint = fault_of([&] { read(send_or_keep); });
    deliver(false);
    return comm.broadcast(complaint);
}

// The entries of the whole file.
void read_entries(const std::string& name, std::int64_t rows, const ReadLimit& limit, const Take& take) {
    GzipText file(name);
    const MatrixHeader header = read_matrix_header(file, name);
    if (header.rows != rows)
        throw MatrixFileError(name + ": has other rows than before: somebody writes to it; try again");
    read_matrix_entries(file, name, header, take, limit);
}

bool is_numpy_file(const std::string& name) {
    return name.ends_with(".npy");
}

// The values of the whole file with their rows. Throws MatrixFileError or NumpyFileError.
void read_values(const std::string& name, std::int64_t rows, const ReadLimit& limit,
                 const std::function<void(std::int64_t, double)>& take) {
    if (!is_numpy_file(name)) {
        GzipText file(name);
        return read_vector_values(file, name, read_vector_header(file, name, rows), take, limit);
    }
    NumpyFile file(name, rows);
    std::int64_t row = 0;
    while (row < rows)
        for (const double value :
             file.read(row, std::min(entries_at_once, static_cast<std::size_t>(rows - row)))) {
            if (!std::isfinite(value))
                throw NumpyFileError(fmt::format("has {} at [{}]; give finite numbers alone", value, row));
            take(row++, value);
        }
}

// Why there is no text of this name; empty if there is.
std::string why_no_file(const std::string& name) {
    if (std::error_code ignored;
        std::filesystem::exists(name, ignored) && !std::filesystem::is_regular_file(name, ignored))
        return "is a folder or a device, and is read more than once; give a file";
    return GzipText(name) ? "" : "cannot be read; give the path of a Matrix Market file";
}

// The sizes that a rank finds.
std::string sizes_of(const std::string& name) {
    try {
        GzipText file(name);
        const MatrixHeader header = read_matrix_header(file, name);
        return fmt::format("{} rows and {} entries", header.rows, header.entries);
    } catch (const MatrixFileError&) {
        return "none that it can read";
    }
}

// The first rank that finds other sizes than rank 0, as a complaint; empty if none does. Collective.
std::string unlike_rank_0(const Communicator& comm, const std::string& name) {
    const std::vector<std::string> all = comm.gather(sizes_of(name));
    const auto other = std::ranges::find_if(all, [&](const std::string& sizes) { return sizes != all[0]; });
    return comm.broadcast(other == all.end()
                              ? ""
                              : fmt::format("rank {} finds {}, rank 0 {}; give all ranks the same file",
                                            other - all.begin(), *other, all[0]));
}

}  // namespace

GlobalRows rows_of_file(const Communicator& comm, const std::string& name,
                        const std::function<std::int64_t(std::int64_t)>& to_new,
                        const RowPartition& partition) {
    std::deque<FileEntry> own;  // grows without being copied
    const std::string complaint = share_out(
        comm, partition,
        [&](const Take& take) {
            read_entries(name, partition.rows, {}, [&](const FileEntry& entry) {
                take({to_new(entry.row), to_new(entry.column), entry.value, entry.line});
            });
        },
        [&](const FileEntry& entry) { own.push_back(entry); });
    if (!complaint.empty()) throw MatrixFileError(complaint);
    return assemble(std::move(own), partition.first(comm.rank()), partition.size(comm.rank()));
}

std::vector<double> values_of_file(const Communicator& comm, const std::string& name,
                                   const std::function<std::int64_t(std::int64_t)>& to_new,
                                   const RowPartition& partition) {
    const std::int64_t first = partition.first(comm.rank());
    std::vector<double> own(partition.size(comm.rank()));
    const std::string complaint = share_out(
        comm, partition,
        [&](const Take& take) {
            read_values(name, partition.rows, {},
                        [&](std::int64_t row, double value) { take({.row = to_new(row), .value = value}); });
        },
        [&](const FileEntry& entry) { own[static_cast<std::size_t>(entry.row - first)] = entry.value; });
    if (!complaint.empty()) throw MatrixFileError(complaint);
    return own;
}

std::string why_not_readable(const std::string& name) {
    if (std::string reason = why_no_file(name); !reason.empty()) return reason;
    return fault_of([&] {
        GzipText file(name);
        read_matrix_header(file, name);
    });
}

std::string why_no_values(const std::string& name, std::int64_t rows) {
    if (is_numpy_file(name)) return fault_of([&] { NumpyFile(name, rows); });
    if (std::string reason = why_no_file(name); !reason.empty()) return reason;
    return fault_of([&] {
        GzipText file(name);
        read_vector_header(file, name, rows);
    });
}

std::string judge_values(const Communicator& comm, const std::string& name, std::int64_t rows,
                         const ReadLimit& limit) {
    return comm.broadcast(fault_of([&] {
        if (comm.rank() == 0) read_values(name, rows, limit, [](std::int64_t, double) {});
    }));
}

FileVerdict judge_file(const Communicator& comm, const std::string& name, DiagonalScaling scaling,
                       const ReadLimit& limit) {
    if (std::string complaint = unlike_rank_0(comm, name); !complaint.empty()) return {complaint, ""};
    GzipText file(name);
    const RowPartition partition{read_matrix_header(file, name).rows, comm.size()};
    const bool judged = scaling != DiagonalScaling::none;
    std::deque<FileEntry> diagonal;
    const std::string complaint = share_out(
        comm, partition,
        [&](const Take& take) {
            read_entries(name, partition.rows, limit, [&](const FileEntry& entry) {
                if (judged && entry.row == entry.column) take(entry);
            });
        },
        [&](const FileEntry& entry) { diagonal.push_back(entry); });
    if (!complaint.empty() || !judged) return {complaint, ""};
    // Only what the file has: its header may announce more rows than fit into memory.
    std::ranges::sort(diagonal, {}, [](const FileEntry& e) { return std::tuple(e.row, e.line); });
    auto next = diagonal.begin();
    const std::int64_t end = partition.first(comm.rank() + 1);
    for (std::int64_t row = partition.first(comm.rank()); row < end; ++row) {
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
