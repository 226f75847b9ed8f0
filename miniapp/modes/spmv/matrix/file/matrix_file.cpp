#include "miniapp/modes/spmv/matrix/file/matrix_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "miniapp/deck/text/text.hpp"

namespace keel {
namespace {

// The first byte of the first line that begins at `at` or behind it.
std::int64_t line_from(std::istream& file, std::int64_t at, std::int64_t first, std::int64_t bytes) {
    if (at <= first) return first;
    file.clear();
    file.seekg(at - 1);
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    return file.eof() ? bytes : at - 1 + static_cast<std::int64_t>(file.gcount());
}

// One rank's words to all.
struct Told {
    FileIdentity identity;
    int node = 0;
    FileLines lines;
    std::uint64_t digest = 0;

    static constexpr std::size_t words = 9;
    std::vector<std::int64_t> write() const {
        return {identity.bytes,
                identity.device,
                identity.number,
                identity.seconds,
                identity.nanoseconds,
                node,
                lines.begin,
                lines.end,
                std::bit_cast<std::int64_t>(digest)};
    }
    static Told read(const std::int64_t* w) {
        return {{w[0], w[1], w[2], w[3], w[4]},
                static_cast<int>(w[5]),
                {w[6], w[7]},
                std::bit_cast<std::uint64_t>(w[8])};
    }
    bool same_file(const Told& other) const { return identity == other.identity && node == other.node; }
};

}  // namespace

FileLines lines_of(std::istream& file, const MatrixHeader& header, std::int64_t bytes, int part, int parts) {
    const std::int64_t all = bytes - header.bytes;
    const auto begin = [&](int p) { return header.bytes + all / parts * p + all % parts * p / parts; };
    const std::int64_t end = begin(part + 1);
    return {std::min(line_from(file, begin(part), header.bytes, bytes), end), end};
}

FileIdentity identity_of(const std::string& name) {
    struct stat found {};
    if (::stat(name.c_str(), &found) != 0) return {};
    return {static_cast<std::int64_t>(found.st_size), static_cast<std::int64_t>(found.st_dev),
            static_cast<std::int64_t>(found.st_ino), static_cast<std::int64_t>(found.st_mtim.tv_sec),
            static_cast<std::int64_t>(found.st_mtim.tv_nsec)};
}

MatrixFile::MatrixFile(const Communicator& comm, std::string name)
    : comm_(comm), name_(std::move(name)), identity_(identity_of(name_)), file_(name_, std::ios::binary) {
    std::string mine;
    std::string found = "none that it can read";
    if (file_ && identity_.bytes >= 0) try {
            header_ = read_matrix_header(file_, name_);
            found = fmt::format("{}, its first {} with the digest {:016x}", counted(identity_.bytes, "byte"),
                                header_.bytes, header_.digest);
        } catch (const MatrixFileError& error) {
            mine = found = error.what();
        }
    const std::string first = comm.broadcast(found);
    if (found != first)
        mine = fmt::format("rank {} finds {}, rank 0 {}; give all ranks the same file", comm.rank(), found,
                           first);
    else if (mine.empty() && !file_)
        mine = "cannot be read; give the path of a Matrix Market file";
    agree(mine);
}

void MatrixFile::agree(const std::string& mine) {
    if (comm_.max(mine.empty() ? 0 : 1) == 0) return;
    const std::vector<std::string> all = comm_.gather(mine);
    const auto first = std::ranges::find_if(all, [](const std::string& text) { return !text.empty(); });
    complaint_ = comm_.broadcast(first == all.end() ? "" : *first);
}

void MatrixFile::read(std::int64_t at_once, const std::function<void(const FileEntry&)>& take,
                      const std::function<void()>& pause) {
    if (!complaint_.empty()) return;
    const int rank = comm_.rank();
    const FileLines lines = lines_of(file_, header_, identity_.bytes, rank, comm_.size());
    const LineCount count = count_lines(file_, lines);
    const std::vector<std::int64_t> all =
        comm_.all_gather(std::vector{std::int64_t{count.lines}, count.entries});
    FileBefore before{header_.line, 0};
    std::int64_t most = 0;
    for (int r = 0; r < comm_.size(); ++r) {
        const auto at = 2 * static_cast<std::size_t>(r);
        if (r < rank) before.lines += all[at];
        if (r < rank) before.entries += all[at + 1];
        most = std::max(most, all[at + 1]);
    }

    EntryReader reader(file_, name_, header_, lines, before);
    std::string mine;
    bool more = true;
    // A file that grows meanwhile may hold more lines than were counted: the last round takes what is left.
    for (std::int64_t done = 0; done <= most; done += at_once) {
        const bool last = done + at_once > most;
        try {
            for (std::int64_t n = 0; more && (last || n < at_once); ++n) {
                const auto entry = reader.next();
                more = entry.has_value();
                if (more) take_mirrored(header_, *entry, take);
            }
            if (last && mine.empty() && rank + 1 == comm_.size()) reader.finish();
        } catch (const MatrixFileError& error) {
            mine = error.what();
            more = false;
        }
        pause();
    }
    const std::string unlike = unlike_rank_0(lines, count);
    if (mine.empty()) mine = unlike;
    if (mine.empty() && (reader.digest() != count.digest || identity_of(name_) != identity_))
        mine = fmt::format("rank {} finds that somebody writes to it; try again", rank);
    agree(mine);
}

std::string MatrixFile::unlike_rank_0(const FileLines& lines, const LineCount& count) {
    const Told mine{identity_, comm_.node_leaders()[static_cast<std::size_t>(comm_.rank())], lines,
                    count.digest};
    const std::vector<std::int64_t> words = comm_.all_gather(mine.write());
    std::vector<Told> all;
    for (std::size_t at = 0; at < words.size(); at += Told::words) all.push_back(Told::read(&words[at]));
    // Those who read the file of rank 0 share the lines of all others.
    std::vector<int> readers;
    std::vector<int> others;
    for (int r = 0; r < comm_.size(); ++r)
        (all[static_cast<std::size_t>(r)].same_file(all.front()) ? readers : others).push_back(r);
    for (std::size_t n = 0; n < others.size(); ++n) {
        if (readers[n % readers.size()] != comm_.rank()) continue;
        const Told& other = all[static_cast<std::size_t>(others[n])];
        const FileLines same = lines_of(file_, header_, identity_.bytes, others[n], comm_.size());
        const std::uint64_t digest = count_lines(file_, same).digest;
        if (digest != other.digest || same.begin != other.lines.begin)
            return fmt::format(
                "rank {} finds {}, digest {:016x} of the lines from byte {} on, rank 0 {:016x}; give all "
                "ranks the same file",
                others[n], counted(identity_.bytes, "byte"), other.digest, other.lines.begin, digest);
    }
    return "";
}

}  // namespace keel
