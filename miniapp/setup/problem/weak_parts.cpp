#include "miniapp/setup/problem/weak_parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "miniapp/setup/problem/problem.hpp"

namespace keel {
namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
// Contrasts up to about 1e7 lose less, on any grid that fits a machine.
constexpr double least_loss = 1e-6;

struct Coupling {
    int from = 0;
    int to = 0;
    double face = 0;   // c of a fine face
    double total = 0;  // of all fine faces between the two nodes
};

// The operator on nodes, each a cuboid of cells of a box; their sizes differ by a cell in each direction at
// most.
struct Graph {
    std::vector<Index> cell = {};   // the first of each node
    std::vector<double> hold = {};  // SUM a alpha + SUM c of Dirichlet faces
    std::vector<Coupling> couplings = {};
    double cells = 1;  // of a node, on average
    double most = 0;   // max D of a cell
};

// Nodes along a side of a box: one for each cell where they stay few.
int nodes_across(const Domain& domain, int box) {
    constexpr double most_nodes = 1 << 14;
    const double fit = std::pow(most_nodes / domain.count(), 1 / static_cast<double>(domain.dimensions()));
    return std::clamp(static_cast<int>(fit + 1e-9), 1, box);
}

Graph graph_of(const ProblemOptions& options, const Domain& domain) {
    const Layout layout(domain, options.box, std::vector<int>(static_cast<std::size_t>(domain.count())), 0);
    const Problem problem(options, layout);
    const OperatorFormulas formulas = problem.operator_formulas();
    const int across = nodes_across(domain, options.box);
    const double width = static_cast<double>(options.box) / across;
    const auto first_of = [&](int n) { return n * options.box / across; };  // cell of the n-th along a side
    const std::size_t dimensions = domain.dimensions();
    const Index per_box = in_each_direction(across, dimensions, 1);
    const auto nodes_of_box = static_cast<int>(product(per_box));
    const double face_cells = std::pow(width, static_cast<double>(dimensions) - 1);
    Graph graph{.cells = face_cells * width};
    const auto node = [&](int box, const Index& at) {
        return box * nodes_of_box + (at[2] * per_box[1] + at[1]) * per_box[0] + at[0];
    };
    const auto add = [&](int box, const Index& at) {
        const int here = node(box, at);
        Index cell = layout.first_cell(box), above = cell, middle = cell;
        for (std::size_t d = 0; d < dimensions; ++d) {
            cell[d] += first_of(at[d]);
            above[d] += first_of(at[d] + 1);
            middle[d] = (cell[d] + above[d]) / 2;
        }
        const double a_alpha = formulas.a_alpha(middle);
        double diagonal = a_alpha;
        double hold = a_alpha * graph.cells;
        for (std::size_t d = 0; d < dimensions; ++d)
            for (const bool high : {false, true}) {
                Index face = middle;
                face[d] = high ? above[d] : cell[d];
                const double c = formulas.face[d](face);
                diagonal += c;
                Index beside = at;
                beside[d] += high ? 1 : -1;
                int other = box;
                if (beside[d] < 0 || beside[d] == per_box[d]) {
                    Index offset{};
                    offset[d] = high ? 1 : -1;
                    const auto neighbour = domain.neighbour(box, offset);
                    if (!neighbour) {
                        hold += c * face_cells;
                        continue;
                    }
                    other = *neighbour;
                    beside[d] = high ? 0 : per_box[d] - 1;
                }
                if (high) graph.couplings.push_back({here, node(other, beside), c, c * face_cells});
            }
        graph.cell.push_back(cell);
        graph.hold.push_back(hold);
        graph.most = std::max(graph.most, diagonal);
    };
    for (int box = 0; box < domain.count(); ++box)
        for (int k = 0; k < per_box[2]; ++k)
            for (int j = 0; j < per_box[1]; ++j)
                for (int i = 0; i < per_box[0]; ++i) add(box, {i, j, k});
    return graph;
}

// Sets that only grow together.
class Clusters {
  public:
    explicit Clusters(std::size_t nodes) : parent_(nodes) { std::iota(parent_.begin(), parent_.end(), 0); }
    int root(int node) {
        while (up(node) != node) node = up(node) = up(up(node));
        return node;
    }
    void join(int a, int b) {
        const auto [low, high] = std::minmax({root(a), root(b)});
        up(high) = low;
    }

  private:
    int& up(int node) { return parent_[static_cast<std::size_t>(node)]; }
    std::vector<int> parent_;
};

// The worst of the clusters as they are now; couplings from `weak` on are still open. Sums of positive
// numbers only, since what is wanted is small beside what cancels.
void find_worst(const Graph& graph, Clusters& clusters, std::size_t weak, WeakPart& worst) {
    const std::size_t nodes = graph.hold.size();
    std::vector<double> held(nodes), size(nodes);
    for (std::size_t n = 0; n < nodes; ++n) {
        const auto root = static_cast<std::size_t>(clusters.root(static_cast<int>(n)));
        held[root] += graph.hold[n];
        size[root] += graph.cells;
    }
    for (std::size_t c = weak; c < graph.couplings.size(); ++c) {
        const int from = clusters.root(graph.couplings[c].from);
        const int to = clusters.root(graph.couplings[c].to);
        if (from == to) continue;
        held[static_cast<std::size_t>(from)] += graph.couplings[c].total;
        held[static_cast<std::size_t>(to)] += graph.couplings[c].total;
    }
    for (std::size_t n = 0; n < nodes; ++n) {
        if (size[n] == 0 || held[n] == 0) continue;
        const double loss = eps * (graph.most / held[n]) * size[n];
        if (loss > worst.loss) worst = {loss, size[n], graph.cell[n]};
    }
}

// Whether no part can lose so much, by the greatest and the least of the couplings: a cut has no more cells
// for a face than there are along a side, or, where boxes are missing, in all for a box's face.
bool is_moderate(const ProblemOptions& problem, const Domain& domain, bool all_dirichlet) {
    if (!all_dirichlet &&
        loss_of_a(problem, 1.0 / (problem.box * std::ranges::max(domain.around())), false) > least_loss)
        return false;
    const auto [least, most] = std::ranges::minmax(std::span(problem.anisotropy).first(domain.dimensions()));
    const double contrast =
        problem.coefficients == Coefficients::constant ? 1 : std::max(problem.contrast, 1 / problem.contrast);
    const double across = problem.box * static_cast<double>(domain.whole() ? std::ranges::max(domain.around())
                                                                           : domain.count());
    return eps * 6 * contrast * (most / least) * across <= least_loss;
}

bool all_have_dirichlet(const Domain& domain) {
    return std::ranges::all_of(components_of(domain), &Component::dirichlet);
}

}  // namespace

double WeakPart::digits() const {
    return std::clamp(std::log10(loss / eps), 0.0, 16.0);
}

WeakPart weakest_part(const ProblemOptions& problem, const Domain& domain) {
    constexpr int most_boxes = 1 << 16;
    if (domain.count() > most_boxes || is_moderate(problem, domain, all_have_dirichlet(domain))) return {};
    Graph graph = graph_of(problem, domain);
    auto& couplings = graph.couplings;
    std::ranges::sort(couplings, std::ranges::greater(), &Coupling::face);
    Clusters clusters(graph.hold.size());
    WeakPart worst;
    find_worst(graph, clusters, 0, worst);
    // Thresholds by factors, of which at most 64 span all couplings.
    const double ratio = couplings.empty() ? 1 : couplings.front().face / couplings.back().face;
    const double factor = std::max(8.0, std::pow(ratio, 1.0 / 64));
    for (std::size_t next = 0; next < couplings.size();) {
        const double threshold = couplings[next].face / factor;
        for (; next < couplings.size() && couplings[next].face >= threshold; ++next)
            clusters.join(couplings[next].from, couplings[next].to);
        find_worst(graph, clusters, next, worst);
    }
    return worst;
}

std::string warning_of_lost_digits(const ProblemOptions& problem, const Domain& domain) {
    const double spacing = 1.0 / (problem.box * std::ranges::max(domain.around()));
    const double of_a = loss_of_a(problem, spacing, all_have_dirichlet(domain));
    const auto digits = [](double lost) { return fmt::format("{:.0f} of its 16 digits", lost); };
    if (of_a > least_loss)
        return fmt::format(
            "problem.a = {} is so small beside b beta / h^2 that the diagonal, in double precision, "
            "loses up to {} of it, and the constant part of u up to {}; residual_recomputed has all of "
            "a. Give a larger a or a smaller b{}",
            problem.a, of_a < 1 ? fmt::format("{:.1g}", of_a) : "all", digits(WeakPart{of_a}.digits()),
            domain.has_dirichlet() ? "" : ", or problem.a = 0");
    const WeakPart part = weakest_part(problem, domain);
    if (part.loss <= least_loss) return "";
    return fmt::format(
        "u may lose {} in the {:.0f} cells around [{}]: only couplings that rounding loses join them "
        "to the rest and to Dirichlet faces, so a residual within the tolerance does not determine "
        "their constant. Give a smaller problem.contrast or problem.anisotropy, a larger problem.a, or "
        "Dirichlet faces there",
        digits(part.digits()), part.cells, fmt::join(part.at, ","));
}

}  // namespace keel
