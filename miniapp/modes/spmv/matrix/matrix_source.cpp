#include "miniapp/modes/spmv/matrix/matrix_source.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "kernels/check.hpp"
#include "miniapp/modes/spmv/matrix/file/file_rows.hpp"
#include "miniapp/modes/spmv/matrix/file/gzip_text.hpp"
#include "miniapp/modes/spmv/matrix/ordering.hpp"

namespace keel {
namespace {

// Room for one more row where the numbers expected were too few: a list that doubles could take half of the
// memory.
template <class T>
void make_room(std::vector<T>& list, std::size_t more) {
    const std::size_t needed = list.size() + more;
    if (needed > list.capacity()) list.reserve(std::max(needed, list.capacity() + list.capacity() / 8));
}

GlobalRows rows_of_generator(const Generator& generator, const RowOrder& order, std::int64_t first,
                             std::size_t count) {
    GlobalRows rows;
    const double share = static_cast<double>(count) / static_cast<double>(generator.rows);
    const auto expected = static_cast<std::size_t>(generator.entries * share);
    rows.first.reserve(count + 1);
    rows.columns.reserve(expected);
    rows.values.reserve(expected);
    for (std::int64_t r = first; r < first + static_cast<std::int64_t>(count); ++r) {
        std::vector<MatrixEntry> entries = generator.row(order.to_old(r));
        for (MatrixEntry& entry : entries) entry.column = order.to_new(entry.column);
        std::ranges::sort(entries, {}, &MatrixEntry::column);
        make_room(rows.columns, entries.size());
        make_room(rows.values, entries.size());
        for (const MatrixEntry& entry : entries) append(rows, entry.column, entry.value);
        end_row(rows);
    }
    return rows;
}

constexpr const char* elastic_matrix = "elasticity";

// The name of each matrix that is generated, and its generator.
struct NamedGenerator {
    const char* name;
    Generator (*make)(const MatrixChoice& matrix);
};
constexpr NamedGenerator generators[] = {
    {"stencil7", [](const MatrixChoice& m) { return stencil(m.cells, 3, false); }},
    {"stencil27", [](const MatrixChoice& m) { return stencil(m.cells, 3, true); }},
    {grid_matrix, [](const MatrixChoice& m) { return grid_operator(*m.grid); }},
    {"rotated", [](const MatrixChoice& m) { return rotated(m.cells, 0.001, std::numbers::pi / 8); }},
    {"convection", [](const MatrixChoice& m) { return convection(m.cells, m.options.peclet); }},
    {elastic_matrix, [](const MatrixChoice& m) { return elasticity(m.cells); }},
    {"banded", [](const MatrixChoice& m) { return banded(m.options.rows, m.options.row_entries); }},
    {"random",
     [](const MatrixChoice& m) { return random_pairs(m.options.rows, m.options.row_entries, m.seed); }},
    {"arrow", [](const MatrixChoice& m) { return arrow(m.options.rows); }},
    {"dense_blocks",
     [](const MatrixChoice& m) { return dense_blocks(m.options.rows, m.options.row_entries); }},
    {"stencil5",
     [](const MatrixChoice& m) {
         const auto side = static_cast<int>(side_of_square(m.options.rows));
         return stencil({side, side, 1}, 2, false);
     }},
    {"diagonal", [](const MatrixChoice& m) { return eigenvalues(side_of_square(m.options.rows)); }},
};

Generator generator_of(const MatrixChoice& matrix) {
    const auto found = std::ranges::find(generators, matrix.options.matrix, &NamedGenerator::name);
    check(found != std::end(generators), "a matrix is a file or has a generator");
    return found->make(matrix);
}

}  // namespace

int rows_of_node(const MatrixChoice& matrix) {
    return matrix.options.matrix == elastic_matrix ? 2 : 1;
}

std::optional<NearNull> near_null(const MatrixChoice& matrix, std::int64_t first, std::size_t count) {
    if (matrix.options.matrix != elastic_matrix) return {};
    NearNull modes{.values = {}, .vectors = 3, .node = rows_of_node(matrix)};
    const Index& cells = matrix.cells;
    for (std::int64_t row = first; row < first + static_cast<std::int64_t>(count); ++row) {
        const double x = static_cast<double>(row / 2 % cells[0]) - 0.5 * (cells[0] - 1);
        const double y = static_cast<double>(row / 2 / cells[0]) - 0.5 * (cells[1] - 1);
        const bool along_x = row % 2 == 0;
        modes.values.insert(modes.values.end(), {along_x ? 1.0 : 0.0, along_x ? 0.0 : 1.0, along_x ? -y : x});
    }
    return modes;
}

std::int64_t side_of_square(std::int64_t rows) {
    return std::llround(std::sqrt(static_cast<double>(rows)));
}

bool is_square(const std::string& matrix) {
    return matrix == "stencil5" || matrix == "diagonal";
}

std::vector<std::string> generator_names() {
    std::vector<std::string> names;
    for (const NamedGenerator& generator : generators) names.push_back(generator.name);
    return names;
}

bool is_matrix_file(const std::string& matrix) {
    return matrix.ends_with(".mtx") || matrix.ends_with(".mtx.gz");
}

MatrixSize matrix_size(const MatrixChoice& matrix) {
    const std::string& source = matrix.options.matrix;
    if (is_matrix_file(source)) {
        GzipText file(source);
        const MatrixHeader header = read_matrix_header(file, source);
        return {header.rows, static_cast<double>(header.entries) * (header.symmetric ? 2 : 1)};
    }
    const Generator generator = generator_of(matrix);
    return {generator.rows, generator.entries};
}

namespace {

// Rank 0 orders the whole matrix. Throws MatrixFileError, on all ranks alike. Collective.
std::vector<std::int64_t> cuthill_mckee_by_rank_0(MatrixChoice matrix, const Communicator& comm) {
    matrix.options.ordering = Ordering::natural;
    std::vector<std::int64_t> old;
    std::string complaint;
    try {
        if (comm.rank() == 0) old = reverse_cuthill_mckee(read_whole_matrix(matrix));
    } catch (const MatrixFileError& error) {
        complaint = error.what();
    }
    complaint = comm.broadcast(complaint);
    if (!complaint.empty()) throw MatrixFileError(complaint);
    return comm.all_gather(old);
}

}  // namespace

RowOrder order_of(const MatrixChoice& matrix, std::int64_t rows, const Communicator& comm) {
    if (matrix.options.ordering == Ordering::natural) return {};
    if (matrix.options.ordering == Ordering::random) {
        const RandomPermutation random(rows, matrix.seed);
        return {random, [random](std::int64_t n) { return random.inverse(n); }};
    }
    std::vector<std::int64_t> old = cuthill_mckee_by_rank_0(matrix, comm);
    std::vector<std::int64_t> back(old.size());
    for (std::size_t n = 0; n < old.size(); ++n)
        back[static_cast<std::size_t>(old[n])] = static_cast<std::int64_t>(n);
    return {[back = std::move(back)](std::int64_t n) { return back[static_cast<std::size_t>(n)]; },
            [old = std::move(old)](std::int64_t n) { return old[static_cast<std::size_t>(n)]; }};
}

RowPartition owners_of_rows(const MatrixChoice& matrix, const Topology& topology) {
    const int node = rows_of_node(matrix);
    const std::int64_t nodes = matrix_size(matrix).rows / node;
    const int ranks = topology.ranks();
    if (matrix.options.ranks_per_device == 1) return resized({nodes, ranks}, 1, node);
    const auto owns = [&](int rank) {
        return topology.local_rank(rank) % matrix.options.ranks_per_device == 0;
    };
    int owners = 0;
    for (int rank = 0; rank < ranks; ++rank) owners += owns(rank) ? 1 : 0;
    const RowPartition even{nodes, owners};
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(ranks), 0);
    for (int rank = 0, owner = 0; rank < ranks; ++rank)
        if (owns(rank)) sizes[static_cast<std::size_t>(rank)] = static_cast<std::int64_t>(even.size(owner++));
    return resized(partition_of(sizes), 1, node);
}

GlobalRows read_matrix(const MatrixChoice& matrix, const RowPartition& partition, const Communicator& comm) {
    return read_matrix(matrix, order_of(matrix, partition.rows, comm), partition, comm);
}

GlobalRows read_matrix(const MatrixChoice& matrix, const RowOrder& order, const RowPartition& partition,
                       const Communicator& comm) {
    const int rank = comm.rank();
    return is_matrix_file(matrix.options.matrix)
               ? rows_of_file(comm, matrix.options.matrix, order.to_new, partition)
               : rows_of_generator(generator_of(matrix), order, partition.first(rank), partition.size(rank));
}

GlobalRows read_whole_matrix(const MatrixChoice& matrix) {
    return read_matrix(matrix, {matrix_size(matrix).rows, 1}, Communicator::self());
}

}  // namespace keel
