#include "miniapp/setup/problem/shape.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "kernels/hash.hpp"
#include "miniapp/deck/text/text.hpp"

namespace keel {
namespace {

int number_of(const Index& position, const Index& around) {
    return position[0] + around[0] * (position[1] + around[1] * position[2]);
}

bool is_inside(const Index& position, const Index& around) {
    return position[0] < around[0] && position[1] < around[1] && position[2] < around[2];
}

Index position_of(int number, const Index& around) {
    return {number % around[0], number / around[0] % around[1], number / around[0] / around[1]};
}

// Inside in every direction that has more than one box.
bool is_interior(const Index& p, const Index& around) {
    for (std::size_t d = 0; d < 3; ++d)
        if (around[d] > 1 && (p[d] == 0 || p[d] == around[d] - 1)) return false;
    return true;
}

double from_0_to_1(std::uint64_t seed, std::uint64_t counter) {
    return (uniform(seed, counter) + 1) / 2;
}

// The `wanted` boxes nearest to one of four random centres; of two at the same distance the one with the
// lower number.
std::vector<int> nearest_to_centres(const ProblemOptions& problem, const Index& around, std::size_t wanted) {
    using Point = std::array<double, 3>;
    std::array<Point, 4> centres;
    for (std::size_t m = 0; m < centres.size(); ++m)
        for (std::size_t d = 0; d < 3; ++d) centres[m][d] = from_0_to_1(problem.seed, 3 * m + d) * around[d];
    std::vector<std::pair<double, int>> boxes;
    for (int n = 0; n < static_cast<int>(product(around)); ++n) {
        const Index at = position_of(n, around);
        double least = HUGE_VAL;
        for (const Point& centre : centres) {
            double square = 0;
            for (std::size_t d = 0; d < 3; ++d) {
                const double distance = at[d] + 0.5 - centre[d];
                if (around[d] > 1) square += distance * distance;
            }
            least = std::min(least, square);
        }
        boxes.emplace_back(least, n);
    }
    wanted = std::min(wanted, boxes.size());
    std::ranges::nth_element(boxes, boxes.begin() + static_cast<std::ptrdiff_t>(wanted));
    std::vector<int> present;
    for (std::size_t n = 0; n < wanted; ++n) present.push_back(boxes[n].second);
    std::ranges::sort(present);
    return present;
}

std::size_t boxes_of_tags(const ProblemOptions& problem, const Index& around, int ranks) {
    if (problem.boxes == Index{})
        return static_cast<std::size_t>(ranks) * static_cast<std::size_t>(problem.boxes_per_rank);
    const auto all = static_cast<double>(product(around));
    return static_cast<std::size_t>(std::max(1.0, std::floor(problem.fill * all + 0.5)));
}

std::vector<int> listed(const std::vector<Index>& positions, const Index& around) {
    std::vector<int> present;
    for (const Index& position : positions)
        if (is_inside(position, around)) present.push_back(number_of(position, around));
    std::ranges::sort(present);
    present.erase(std::unique(present.begin(), present.end()), present.end());
    return present;
}

bool is_present(const ProblemOptions& problem, const Index& around, int n) {
    const Index p = position_of(n, around);
    switch (problem.shape) {
        case DomainShape::l:
            return 2 * p[0] < around[0] || 2 * p[1] < around[1];
        case DomainShape::shell:
            return !is_interior(p, around);
        case DomainShape::scattered:
            return from_0_to_1(problem.seed, static_cast<std::uint64_t>(n)) < problem.fill;
        case DomainShape::cube:
        case DomainShape::tags:
        case DomainShape::list:
            break;
    }
    return true;
}

ShapeComplaint wrong_list(const ProblemOptions& problem, const Index& around) {
    const std::vector<Index>& positions = problem.boxes_list.positions;
    if (positions.empty())
        return {{"problem.shape"},
                "problem.shape = []: names no box; list positions, such as "
                "[[0,0,0],[1,0,0]], or give another shape"};
    std::map<int, std::size_t> first;  // place in the list of each box
    for (std::size_t n = 0; n < positions.size(); ++n) {
        const Index& at = positions[n];
        if (!is_inside(at, around))
            return {{"problem.shape", "problem.boxes"},
                    fmt::format("problem.shape: position {} is [{}], outside problem.boxes = [{}]; each "
                                "number is less than that of the boxes in its direction: give another "
                                "position, or larger problem.boxes",
                                n + 1, fmt::join(at, ","), fmt::join(around, ","))};
        const auto [earlier, is_new] = first.emplace(number_of(at, around), n);
        if (!is_new)
            return {{"problem.shape"},
                    fmt::format("problem.shape: positions {} and {} are both [{}]: boxes may not "
                                "overlap; leave one of them out",
                                earlier->second + 1, n + 1, fmt::join(at, ","))};
    }
    return {};
}

}  // namespace

std::vector<int> boxes_of_shape(const ProblemOptions& problem, const Index& around, int ranks) {
    if (problem.shape == DomainShape::tags)
        return nearest_to_centres(problem, around, boxes_of_tags(problem, around, ranks));
    if (problem.shape == DomainShape::list) return listed(problem.boxes_list.positions, around);
    std::vector<int> present;
    for (int n = 0; n < static_cast<int>(product(around)); ++n)
        if (is_present(problem, around, n)) present.push_back(n);
    return present;
}

Domain domain_of(const ProblemOptions& problem, int ranks) {
    const Index around = resolved_boxes(problem, ranks);
    if (problem.shape == DomainShape::cube) return {around, problem.boundary, problem.dimensions};
    const Boundary outside = problem.outside == Outside::dirichlet ? Boundary::dirichlet : Boundary::neumann;
    return {around, problem.boundary, boxes_of_shape(problem, around, ranks), outside, problem.dimensions};
}

ShapeComplaint why_no_domain(const ProblemOptions& problem, int ranks) {
    if (problem.shape == DomainShape::cube) return {};
    const Index around = resolved_boxes(problem, ranks);
    const std::string boxes = fmt::format("[{}]", fmt::join(around, ","));
    const std::string shape = fmt::format("problem.shape = \"{}\"", name(problem.shape));
    constexpr std::size_t most = 1 << 24;
    if (problem.shape == DomainShape::list) {
        if (const ShapeComplaint wrong = wrong_list(problem, around); !wrong.first.empty()) return wrong;
    } else if (problem.shape != DomainShape::tags && problem.boxes == Index{}) {
        return {{"problem.shape", "problem.boxes"},
                shape + ": the boxes around it are not given; give problem.boxes, such as [4,4,4]"};
    }
    if (problem.shape != DomainShape::list && product(around) > most)
        return {{"problem.boxes", "problem.shape"},
                fmt::format("{}: each rank would choose among {} boxes; give at most {}, or a list", shape,
                            product(around), most)};
    if (problem.shape == DomainShape::shell && std::ranges::max(around) < 3)
        return {{"problem.shape", "problem.boxes"},
                fmt::format("problem.shape = \"shell\": of problem.boxes = {} none is inside, which makes it "
                            "the cube; give 3 boxes or more in a direction, or problem.shape = \"cube\"",
                            boxes)};
    if (problem.shape == DomainShape::l && std::min(around[0], around[1]) < 2)
        return {
            {"problem.shape", "problem.boxes"},
            fmt::format("problem.shape = \"L\": of problem.boxes = {} no quarter in x and y can be left out, "
                        "which makes it the cube; give 2 boxes or more in x and in y, or problem.shape = "
                        "\"cube\"",
                        boxes)};
    const std::vector<int> present = boxes_of_shape(problem, around, ranks);
    if (present.empty())
        return {{"problem.shape", "problem.fill", "problem.boxes"},
                fmt::format("{}: of problem.boxes = {} no box is present; give {}", shape, boxes,
                            problem.shape == DomainShape::scattered
                                ? "a larger problem.fill, more boxes or another problem.seed"
                                : "more boxes")};
    if (problem.a != 0) return {};

    const Domain domain = domain_of(problem, ranks);
    const std::vector<Component> components = components_of(domain);
    const auto floating = std::ranges::find(components, false, &Component::dirichlet);
    if (components.size() == 1 || floating == components.end()) return {};
    return {
        {"problem.outside", "problem.boundary", "problem.shape", "problem.a"},
        fmt::format("problem.a = 0: the domain falls into {} parts that share no face, and constants are in "
                    "the null space of the one of {} from box [{}] on, which has no Dirichlet face; give "
                    "problem.outside or a side of problem.boundary as \"dirichlet\", boxes that hang "
                    "together, or problem.a above 0",
                    components.size(), counted(floating->boxes, "box"),
                    fmt::join(domain.position(floating->first), ","))};
}

}  // namespace keel
