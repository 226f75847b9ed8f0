#include "miniapp/modes/spmv/matrix/matrix_source.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "kernels/check.hpp"
#include "kernels/hash.hpp"
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
        for (const MatrixEntry& entry : entries) {
            rows.columns.push_back(entry.column);
            rows.values.push_back(entry.value);
        }
        rows.first.push_back(static_cast<std::int64_t>(rows.columns.size()));
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
    {"stencil7", [](const MatrixChoice& m) { return stencil(m.cells, false); }},
    {"stencil27", [](const MatrixChoice& m) { return stencil(m.cells, true); }},
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
    {"stencil5", [](const MatrixChoice& m) { return stencil5(side_of_square(m.options.rows)); }},
    {"diagonal", [](const MatrixChoice& m) { return eigenvalues(side_of_square(m.options.rows)); }},
};

Generator generator_of(const MatrixChoice& matrix) {
    const auto found = std::ranges::find(generators, matrix.options.matrix, &NamedGenerator::name);
    check(found != std::end(generators), "a matrix is a file or has a generator");
    return found->make(matrix);
}

}  // namespace

Generator stencil(const Index& cells, bool all_neighbours) {
    const auto row = [=](std::int64_t number) {
        const Index at{static_cast<int>(number % cells[0]), static_cast<int>(number / cells[0] % cells[1]),
                       static_cast<int>(number / cells[0] / cells[1])};
        std::vector<MatrixEntry> entries{{number, all_neighbours ? 26.0 : 6.0}};
        for (int z = -1; z <= 1; ++z)
            for (int y = -1; y <= 1; ++y)
                for (int x = -1; x <= 1; ++x) {
                    const int crossed = x * x + y * y + z * z;
                    if (crossed == 0 || (crossed > 1 && !all_neighbours)) continue;
                    const Index to = at + Index{x, y, z};
                    if (to[0] < 0 || to[1] < 0 || to[2] < 0 || to[0] >= cells[0] || to[1] >= cells[1] ||
                        to[2] >= cells[2])
                        continue;
                    entries.push_back({(std::int64_t{to[2]} * cells[1] + to[1]) * cells[0] + to[0], -1.0});
                }
        return entries;
    };
    const auto all = static_cast<double>(product(cells));
    double of_box = 1;
    double of_cross = all;
    for (const int n : cells) {
        of_box *= 3.0 * n - 2;
        of_cross += 2 * (all - all / n);
    }
    return {static_cast<std::int64_t>(product(cells)), all_neighbours ? of_box : of_cross, row};
}

namespace {

// The same weights at every cell of a plane: [y + 1][x + 1] for the neighbour x and y away; 0: no entry.
using PlaneWeights = std::array<std::array<double, 3>, 3>;
Generator on_plane(int width, int height, const PlaneWeights& weights) {
    const auto weight = [=](int x, int y) {
        return weights[static_cast<std::size_t>(y + 1)][static_cast<std::size_t>(x + 1)];
    };
    const auto for_each_neighbour = [=](const auto& visit) {
        for (int y = -1; y <= 1; ++y)
            for (int x = -1; x <= 1; ++x)
                if (weight(x, y) != 0) visit(x, y);
    };
    double all = 0;
    for_each_neighbour([&](int x, int y) { all += 1.0 * (width - std::abs(x)) * (height - std::abs(y)); });
    return {std::int64_t{width} * height, all, [=](std::int64_t number) {
                const auto at_x = static_cast<int>(number % width);
                const auto at_y = static_cast<int>(number / width);
                std::vector<MatrixEntry> entries;
                for_each_neighbour([&](int x, int y) {
                    const int to_x = at_x + x;
                    const int to_y = at_y + y;
                    if (to_x >= 0 && to_x < width && to_y >= 0 && to_y < height)
                        entries.push_back({std::int64_t{to_y} * width + to_x, weight(x, y)});
                });
                return entries;
            }};
}

}  // namespace

Generator stencil5(std::int64_t n) {
    const auto side = static_cast<int>(n);
    return on_plane(side, side, {{{0, -1, 0}, {-1, 4, -1}, {0, -1, 0}}});
}

Generator rotated(const Index& cells, double epsilon, double angle) {
    const double C = std::cos(angle);
    const double S = std::sin(angle);
    const double E = C * C + epsilon * S * S;
    const double F = 2 * (1 - epsilon) * C * S;
    const double G = epsilon * C * C + S * S;
    return on_plane(cells[0], cells[1],
                    {{{-F / 4, -G, F / 4}, {-E, 2 * E + 2 * G, -E}, {F / 4, -G, -F / 4}}});
}

Generator convection(const Index& cells, double peclet) {
    const auto all = static_cast<double>(product(cells));
    double entries = all;
    for (const int n : cells) entries += 2 * (all - all / n);
    return {static_cast<std::int64_t>(product(cells)), entries, [=](std::int64_t number) {
                const Index at{static_cast<int>(number % cells[0]),
                               static_cast<int>(number / cells[0] % cells[1]),
                               static_cast<int>(number / cells[0] / cells[1])};
                const double x = (2.0 * at[0] + 1) / cells[0] - 1;
                const double y = (2.0 * at[1] + 1) / cells[1] - 1;
                const double wind[] = {2 * y * (1 - x * x), -2 * x * (1 - y * y), 0};
                const std::int64_t away[] = {1, cells[0], std::int64_t{cells[0]} * cells[1]};
                std::vector<MatrixEntry> entries_of_row{{number, 0.0}};
                for (std::size_t d = 0; d < (cells[2] == 1 ? 2U : 3U); ++d) {
                    const double flow = peclet * wind[d] / cells[0];
                    const double before = 1 + std::max(flow, 0.0), behind = 1 + std::max(-flow, 0.0);
                    entries_of_row[0].value += before + behind;
                    if (at[d] > 0) entries_of_row.push_back({number - away[d], -before});
                    if (at[d] + 1 < cells[d]) entries_of_row.push_back({number + away[d], -behind});
                }
                return entries_of_row;
            }};
}

Generator elasticity(const Index& cells) {
    constexpr double ratio = 0.3;
    constexpr double lambda = ratio / ((1 + ratio) * (1 - 2 * ratio)), mu = 0.5 / (1 + ratio);
    // Integrals of products of slopes, and of values, of two hat functions on a line, `away` nodes apart.
    const auto slopes = [](int away) { return away == 0 ? 2.0 : -1.0; };
    const auto hats = [](int away) { return away == 0 ? 4.0 / 6 : 1.0 / 6; };
    const int width = cells[0], height = cells[1];
    const double all = 2.0 * (3.0 * width - 2) * (3.0 * height - 2) + 8.0 * (width - 1) * (height - 1);
    return {std::int64_t{2} * width * height, all, [=](std::int64_t number) {
                const auto along = number % 2;  // 0: x
                const auto at_x = static_cast<int>(number / 2 % width);
                const auto at_y = static_cast<int>(number / 2 / width);
                std::vector<MatrixEntry> entries;
                for (int y = std::max(-1, -at_y); y <= std::min(1, height - 1 - at_y); ++y)
                    for (int x = std::max(-1, -at_x); x <= std::min(1, width - 1 - at_x); ++x) {
                        const double xx = slopes(x) * hats(y), yy = hats(x) * slopes(y);
                        const std::int64_t to = 2 * (std::int64_t{at_y + y} * width + at_x + x);
                        entries.push_back({to + along, (lambda + 2 * mu) * (along == 0 ? xx : yy) +
                                                           mu * (along == 0 ? yy : xx)});
                        if (x * y != 0) entries.push_back({to + 1 - along, -(lambda + mu) * x * y / 4});
                    }
                return entries;
            }};
}

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

Generator banded(std::int64_t rows, int half) {
    const auto n = static_cast<double>(rows);
    const double reach = std::min(n - 1, 1.0 * half);
    const double all = n + reach * (2 * n - 1 - reach);
    return {rows, all, [=](std::int64_t row) {
                std::vector<MatrixEntry> entries;
                const std::int64_t last = std::min(rows - 1, row + half);
                for (std::int64_t c = std::max<std::int64_t>(0, row - half); c <= last; ++c)
                    entries.push_back({c, c == row ? 2.0 * half + 1 : -1.0});
                return entries;
            }};
}

Generator random_pairs(std::int64_t rows, int most, std::uint64_t seed) {
    std::vector<RandomPermutation> orders;
    for (int k = 0; k < most; ++k) orders.emplace_back(rows, scramble(seed) + static_cast<std::uint64_t>(k));
    return {rows, static_cast<double>(rows) * (1.0 + most), [=](std::int64_t row) {
                // The first row of each order is paired with the last, the second with the last but one, ...
                std::vector<std::int64_t> partners;
                for (const RandomPermutation& order : orders)
                    if (const auto partner = order.inverse(rows - 1 - order(row)); partner != row)
                        partners.push_back(partner);
                sort_distinct(partners);
                std::vector<MatrixEntry> entries{{row, 1.0 + static_cast<double>(partners.size())}};
                for (const std::int64_t partner : partners) entries.push_back({partner, -1.0});
                return entries;
            }};
}

Generator arrow(std::int64_t rows) {
    return {rows, 3.0 * static_cast<double>(rows) - 2, [=](std::int64_t row) {
                if (row > 0) return std::vector<MatrixEntry>{{0, -1.0}, {row, 2.0}};
                std::vector<MatrixEntry> entries{{0, static_cast<double>(rows)}};
                for (std::int64_t c = 1; c < rows; ++c) entries.push_back({c, -1.0});
                return entries;
            }};
}

Generator dense_blocks(std::int64_t rows, int block) {
    const std::int64_t elements = (rows + block - 1) / block;
    const auto side = static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(elements))));
    // The element and those beside it, first to last.
    const auto coupled = [=](std::int64_t element) {
        std::vector<std::int64_t> found;
        if (element >= side) found.push_back(element - side);
        if (element % side > 0) found.push_back(element - 1);
        found.push_back(element);
        if ((element + 1) % side > 0 && element + 1 < elements) found.push_back(element + 1);
        if (element + side < elements) found.push_back(element + side);
        return found;
    };
    // Pairs of elements beside each other; entries of full blocks, less those that the last one lacks.
    const auto pairs =
        static_cast<double>(2 * elements - (elements + side - 1) / side - std::min(side, elements));
    const auto last = static_cast<double>(coupled(elements - 1).size());
    const auto lacks = static_cast<double>(elements * block - rows);
    const double all = 1.0 * block * block * (static_cast<double>(elements) + 2 * pairs) -
                       lacks * (2 * last * block - lacks);
    return {rows, all, [=](std::int64_t row) {
                std::vector<MatrixEntry> entries;
                for (const std::int64_t element : coupled(row / block))
                    for (std::int64_t c = element * block; c < std::min(rows, (element + 1) * block); ++c)
                        entries.push_back({c, c == row ? 5.0 * block - 1 : -1.0});
                return entries;
            }};
}

std::int64_t side_of_square(std::int64_t rows) {
    return std::llround(std::sqrt(static_cast<double>(rows)));
}

bool is_square(const std::string& matrix) {
    return matrix == "stencil5" || matrix == "diagonal";
}

Generator eigenvalues(std::int64_t n) {
    return {n * n, static_cast<double>(n * n), [=](std::int64_t row) {
                const auto wave = [&](std::int64_t number) {
                    return 2 * std::cos(static_cast<double>(number + 1) * std::numbers::pi /
                                        static_cast<double>(n + 1));
                };
                return std::vector<MatrixEntry>{{row, 4 - wave(row / n) - wave(row % n)}};
            }};
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

RowOrder random_order(std::int64_t rows, std::uint64_t seed) {
    const RandomPermutation random(rows, seed);
    return {random, [random](std::int64_t n) { return random.inverse(n); }};
}

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
    if (matrix.options.ordering == Ordering::random) return random_order(rows, matrix.seed);
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

GlobalRows generated_rows(const MatrixChoice& matrix, std::int64_t first, std::size_t count) {
    check(matrix.options.ordering != Ordering::rcm, "rows are ordered only where all are there");
    const Generator generator = generator_of(matrix);
    const bool random = matrix.options.ordering == Ordering::random;
    return rows_of_generator(generator, random ? random_order(generator.rows, matrix.seed) : RowOrder(),
                             first, count);
}

GlobalRows read_whole_matrix(const MatrixChoice& matrix) {
    return read_matrix(matrix, {matrix_size(matrix).rows, 1}, Communicator::self());
}

}  // namespace keel
