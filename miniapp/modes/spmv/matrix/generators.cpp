#include "miniapp/modes/spmv/matrix/generators.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <utility>

#include "kernels/hash.hpp"
#include "miniapp/modes/spmv/matrix/ordering.hpp"

namespace keel {

namespace {

// Cell (0,0,0) and its neighbours in these dimensions: across faces alone, or all.
std::vector<Index> neighbourhood(std::size_t dimensions, bool across_edges) {
    std::vector<Index> found;
    const int planes = dimensions == 2 ? 0 : 1;
    for (int z = -planes; z <= planes; ++z)
        for (int y = -1; y <= 1; ++y)
            for (int x = -1; x <= 1; ++x)
                if (across_edges || x * x + y * y + z * z <= 1) found.push_back({x, y, z});
    return found;
}

// A row for each cell, numbered x fastest: value(cell, away) for those of the neighbours `away` of it that
// are cells.
template <class Value>
Generator on_grid(const Index& cells, std::vector<Index> neighbours, const Value& value) {
    double all = 0;
    for (const Index& away : neighbours) {
        double pairs = 1;
        for (std::size_t d = 0; d < 3; ++d) pairs *= cells[d] - std::abs(away[d]);
        all += pairs;
    }
    return {static_cast<std::int64_t>(product(cells)), all,
            [cells, neighbours = std::move(neighbours), value](std::int64_t row) {
                const Index cell{static_cast<int>(row % cells[0]),
                                 static_cast<int>(row / cells[0] % cells[1]),
                                 static_cast<int>(row / cells[0] / cells[1])};
                std::vector<MatrixEntry> entries;
                for (const Index& away : neighbours) {
                    const Index to = cell + away;
                    bool inside = true;
                    for (std::size_t d = 0; d < 3; ++d) inside = inside && to[d] >= 0 && to[d] < cells[d];
                    if (inside)
                        entries.push_back(
                            {(std::int64_t{to[2]} * cells[1] + to[1]) * cells[0] + to[0], value(cell, away)});
                }
                return entries;
            }};
}

}  // namespace

Generator stencil(const Index& cells, std::size_t dimensions, bool all_neighbours) {
    std::vector<Index> neighbours = neighbourhood(dimensions, all_neighbours);
    const auto full = static_cast<double>(neighbours.size() - 1);
    return on_grid(cells, std::move(neighbours),
                   [full](const Index&, const Index& away) { return away == Index{} ? full : -1.0; });
}

Generator rotated(const Index& cells, double epsilon, double angle) {
    const double C = std::cos(angle);
    const double S = std::sin(angle);
    const double E = C * C + epsilon * S * S;
    const double F = 2 * (1 - epsilon) * C * S;
    const double G = epsilon * C * C + S * S;
    return on_grid({cells[0], cells[1], 1}, neighbourhood(2, true), [=](const Index&, const Index& away) {
        const auto [x, y, z] = away;
        if (x * y != 0) return -x * y * F / 4;
        return x != 0 ? -E : y != 0 ? -G : 2 * E + 2 * G;
    });
}

Generator convection(const Index& cells, double peclet) {
    const std::size_t dimensions = cells[2] == 1 ? 2 : 3;
    return on_grid(cells, neighbourhood(dimensions, false), [=](const Index& at, const Index& away) {
        const double x = (2.0 * at[0] + 1) / cells[0] - 1;
        const double y = (2.0 * at[1] + 1) / cells[1] - 1;
        const double wind[] = {2 * y * (1 - x * x), -2 * x * (1 - y * y), 0};
        double diagonal = 0;
        for (std::size_t d = 0; d < dimensions; ++d) {
            const double flow = peclet * wind[d] / cells[0];
            const double before = 1 + std::max(flow, 0.0), behind = 1 + std::max(-flow, 0.0);
            if (away[d] != 0) return away[d] < 0 ? -before : -behind;
            diagonal += before + behind;
        }
        return diagonal;
    });
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

Generator eigenvalues(std::int64_t n) {
    return {n * n, static_cast<double>(n * n), [=](std::int64_t row) {
                const auto wave = [&](std::int64_t number) {
                    return 2 * std::cos(static_cast<double>(number + 1) * std::numbers::pi /
                                        static_cast<double>(n + 1));
                };
                return std::vector<MatrixEntry>{{row, 4 - wave(row / n) - wave(row % n)}};
            }};
}

}  // namespace keel
