// Domains that are unions of boxes against the results of an independent program, however they are
// distributed, stored and talked about. Formulas are those of the golden file's key "def", and nothing else
// of Keel.

#include <catch2/catch.hpp>

#include "kernels/hash.hpp"
#include "solvers/multigrid/multigrid.hpp"
#include "tests/solvers/golden_file.hpp"

using namespace keel;
using namespace keel::test;

namespace {

using Json = nlohmann::json;
using Point = std::array<double, 3>;

Boundary boundary_of(const std::string& word) {
    return *named<Boundary>(word);
}

Domain golden_domain(const Json& problem) {
    const Index around = problem.at("bounding");
    Boundaries boundaries;
    for (std::size_t d = 0; d < 3; ++d) {
        const Json& sides = problem.at("boundary").at(d);
        boundaries[d] = sides.is_array() ? Sides(boundary_of(sides.at(0)), boundary_of(sides.at(1)))
                                         : Sides(boundary_of(sides));
    }
    std::vector<int> present;
    for (const Index at : problem.at("boxes"))
        present.push_back(at[0] + around[0] * (at[1] + around[1] * at[2]));
    std::ranges::sort(present);
    return {around, boundaries, present, boundary_of(problem.at("outside")),
            problem.at("dimensions").get<int>()};
}

class GoldenProblem {
  public:
    explicit GoldenProblem(const Json& problem)
        : p_(problem),
          domain_(golden_domain(problem)),
          boxes_(problem.at("boxes").get<std::set<Index>>()),
          width_(problem.at("box")),
          cells_(in_each_direction(width_, domain_.dimensions(), 1) * domain_.around()) {
        h_ = 1.0 / *std::ranges::max_element(cells_);
    }

    const Domain& domain() const { return domain_; }
    int width() const { return width_; }
    bool singular() const { return p_.at("a") == 0.0 && faces_of(domain_).dirichlet == 0; }

    double a_alpha(const Index& cell) const {
        const Point x = centre(cell);
        const double a = p_.at("a");
        if (p_.at("alpha") == "constant") return a;
        return a * (1 + 0.5 * product(x, [](double along) { return std::cos(two_pi * along); }));
    }
    double face(std::size_t d, const Index& index) const {
        const auto kind = boundary(d, index);
        const double w = !kind ? 1 : *kind == Boundary::dirichlet ? 2 : 0;
        return w * p_.at("b").get<double>() * beta(at_face(d, index)) / (h_ * h_);
    }
    double f(const Index& cell) const {
        double value = source(cell);
        for (std::size_t d = 0; d < domain_.dimensions(); ++d)
            for (const int side : {0, 1}) {
                Index index = cell;
                index[d] += side;
                if (boundary(d, index) != Boundary::dirichlet) continue;
                Point x = centre(index);
                x[d] = static_cast<double>(index[d]) / cells_[d];
                value += face(d, index) * data(x);
            }
        return value;
    }
    OperatorFormulas formulas() const {
        const auto along = [this](std::size_t d) { return [this, d](const Index& i) { return face(d, i); }; };
        return {
            [this](const Index& cell) { return a_alpha(cell); }, {along(0), along(1), along(2)}, singular()};
    }

  private:
    template <class Factor>
    double product(const Point& x, const Factor& factor) const {  // over the directions that there are
        double all = 1;
        for (std::size_t d = 0; d < domain_.dimensions(); ++d) all *= factor(x[d]);
        return all;
    }
    Point centre(const Index& c) const {
        return {(c[0] + 0.5) / cells_[0], (c[1] + 0.5) / cells_[1], (c[2] + 0.5) / cells_[2]};
    }
    Point at_face(std::size_t d, const Index& index) const {
        Point x = centre(index);
        const bool wraps = domain_.boundaries()[d].low == Boundary::periodic;
        x[d] = static_cast<double>(wraps ? index[d] % cells_[d] : index[d]) / cells_[d];
        return x;
    }
    bool exists(Index cell) const {
        Index box{};
        for (std::size_t d = 0; d < domain_.dimensions(); ++d) {
            const bool wraps = domain_.boundaries()[d].low == Boundary::periodic;
            if (wraps) cell[d] = (cell[d] + cells_[d]) % cells_[d];
            if (cell[d] < 0 || cell[d] >= cells_[d]) return false;
            box[d] = cell[d] / width_;
        }
        return boxes_.contains(box);
    }
    // Condition on the face between cells index-1 and index; nothing where both exist.
    std::optional<Boundary> boundary(std::size_t d, const Index& index) const {
        Index below = index;
        below[d] -= 1;
        if (exists(below) && exists(index)) return {};
        const Sides<Boundary>& sides = domain_.boundaries()[d];
        if (sides.low != Boundary::periodic && index[d] == 0) return sides.low;
        if (sides.low != Boundary::periodic && index[d] == cells_[d]) return sides.high;
        return boundary_of(p_.at("outside"));
    }
    double beta(const Point& x) const {
        const double K = p_.at("contrast");
        const std::string kind = p_.at("coefficients");
        if (kind == "smooth")
            return std::pow(K, 0.5 * product(x, [](double along) { return std::sin(two_pi * along); }));
        if (kind == "ball") {
            double square = 0;
            for (std::size_t d = 0; d < domain_.dimensions(); ++d) square += (x[d] - 0.5) * (x[d] - 0.5);
            return square < 1.0 / 16 ? K : 1.0;
        }
        if (kind == "front") {
            const double z0 = 0.5 + std::sin(two_pi * x[0]) * std::cos(two_pi * x[1]) / 8;
            return std::pow(K, 0.5 * (1 + std::tanh(32 * (x[2] - z0))));
        }
        return 1;
    }
    double source(const Index& c) const {
        const std::string rhs = p_.at("rhs");
        if (rhs == "wave") {
            const double q = (1.0 * c[0] * cells_[1] + c[1]) * cells_[2] + c[2];
            return std::sin(2.59 * q) + 0.2 * std::cos(1.3 * q);
        }
        if (rhs == "random")
            return uniform(p_.at("seed"),
                           static_cast<std::uint64_t>(c[0] + cells_[0] * (c[1] + cells_[1] * c[2])));
        const Point x = centre(c);
        if (rhs == "triangle")
            return product(x, [](double along) { return 4 * std::abs(along - std::floor(along) - 0.5) - 1; });
        if (rhs == "linear") return a_alpha(c) * (1 + x[0] - 2 * x[1] + x[2] / 2);
        return 0;
    }
    double data(const Point& x) const {
        const std::string kind = p_.at("data");
        if (kind == "linear") return 1 + x[0] - 2 * x[1] + x[2] / 2;
        if (kind == "wave")
            return 0.5 + product(x, [](double along) { return std::cos(two_pi / 2 * along); });
        return 0;
    }

    Json p_;
    Domain domain_;
    std::set<Index> boxes_;
    int width_;
    Index cells_;
    double h_ = 0;
};

// A golden problem on the ranks at hand, or on the first so many.
struct Solved {
    SolveReport report;
    std::vector<double> u;  // cells of the rank's boxes
    std::vector<int> boxes;
};

struct WayToRun {
    HierarchyOptions hierarchy = {};
    MultigridOptions multigrid = {};
    BottomOptions bottom = {};
    Placement placement = Placement::curve;
};

WayToRun golden_way(const Json& problem) {
    WayToRun way;
    way.hierarchy.bottom_box = way.multigrid.bottom_box = problem.at("bottom_box");
    way.multigrid.tolerance = problem.at("tolerance");
    way.bottom.solver = "cg";
    way.bottom.tolerance = 1e-12;
    way.bottom.max_iterations = 5000;
    return way;
}

Solved solve(const GoldenProblem& problem, const WayToRun& way) {
    const Communicator comm = Communicator::world();
    const Topology topology = virtual_topology(comm.size(), 2);
    const auto backend = chosen_backend(comm.rank());
    Ledger ledger(
        static_cast<int>(level_shapes({1, 1, 1}, 3, problem.width(), 1, {way.hierarchy.bottom_box}).size()));
    const Layout finest(problem.domain(), problem.width(),
                        place(problem.domain(), comm.size(), way.placement), comm.rank());
    Hierarchy hierarchy(comm, topology, *backend, finest, problem.formulas(), way.hierarchy, ledger);
    Level& top = hierarchy.level(0);
    const Region all = finest.box_cells();
    top.plain->assign(top.f, all, [&](const Index& cell) { return problem.f(cell); });
    if (problem.singular()) make_solvable(top);
    Solved solved;
    solved.report = Multigrid(hierarchy, way.multigrid, way.bottom).solve();
    solved.u = top.plain->read(top.u, all);
    solved.boxes.assign(finest.local().begin(), finest.local().end());
    return solved;
}

bool fits(const GoldenProblem& problem) {
    return problem.domain().count() >= Communicator::world().size();
}

// Cases that are steady and whose right-hand side this file knows.
std::vector<Json> cases() {
    std::vector<Json> known;
    const Json file = golden("domains.json");
    for (const Json& one : file.at("cases")) {
        const Json& problem = one.at("problem");
        if (one.contains("hist") && problem.at("rhs") != "manufactured") known.push_back(one);
    }
    return known;
}

const Json& case_named(const std::vector<Json>& all, const std::string& name) {
    return *std::ranges::find_if(all, [&](const Json& one) { return one.at("name") == name; });
}

}  // namespace

TEST_CASE("unions of boxes have the golden faces, parts, histories and solutions", "[golden]") {
    int compared = 0;
    for (const Json& one : cases()) {
        CAPTURE(one.at("name").get<std::string>());
        const GoldenProblem problem(one.at("problem"));
        ++compared;
        const Domain& domain = problem.domain();
        const auto dimensions = static_cast<long>(domain.dimensions());
        const long of_box =
            dimensions == 2 ? problem.width() : static_cast<long>(problem.width()) * problem.width();
        const BoxFaces faces = faces_of(domain);
        const Json& golden_faces = one.at("faces");
        const long inside = dimensions * (problem.width() - 1) * of_box * domain.count();
        CHECK(faces.interior * of_box + inside == golden_faces.at("interior").get<long>());
        CHECK(faces.outer * of_box == golden_faces.at("outer").get<long>());
        // A cell has six faces, in two dimensions four. Where a periodic direction ends at a missing box the
        // file counts a face twice, once at each end of the direction: 8 faces of boxes in "patch_periodic".
        CHECK(2 * faces.interior + faces.outer + faces.missing == 2 * dimensions * domain.count());
        const long twice = one.at("name") == "patch_periodic" ? 8 : 0;
        CHECK((faces.missing + twice) * of_box == golden_faces.at("missing").get<long>());
        CHECK((faces.dirichlet + twice) * of_box == golden_faces.at("dirichlet").get<long>());
        CHECK(faces.neumann * of_box == golden_faces.at("neumann").get<long>());
        std::vector<int> parts;
        for (const Component& component : components_of(domain)) parts.push_back(component.boxes);
        std::ranges::sort(parts, std::greater());
        auto golden_parts = one.at("components").get<std::vector<int>>();
        std::ranges::sort(golden_parts, std::greater());
        CHECK(parts == golden_parts);
        CHECK(problem.singular() == one.at("singular").get<bool>());
        if (!fits(problem)) continue;

        const Solved solved = solve(problem, golden_way(one.at("problem")));
        CHECK(solved.report.converged());
        const auto history = one.at("hist").get<std::vector<double>>();
        REQUIRE(solved.report.residuals.size() == history.size());
        for (std::size_t k = 0; k < history.size(); ++k) {
            CAPTURE(k);
            CHECK(std::abs(solved.report.residuals[k] - history[k]) <=
                  (history[k] > 1e-9 ? 1e-5 : 1e-2) * history[k]);
        }
        double sum = 0;
        for (const double u : solved.u) sum += u * u;
        const double cells = one.at("cells");
        const double rms = std::sqrt(Communicator::world().sum(sum) / cells);
        CHECK(relative(rms, one.at("u_rms")) < 1e-7);
    }
    CHECK(compared == 12);
}

TEST_CASE("on a union of boxes nothing that carries or stores values changes a bit") {
    const std::vector<Json> all = cases();
    for (const std::string name : {"L_helmholtz", "shell_neumann_singular", "patch_periodic",
                                   "scattered_linear", "square_2d", "tags_2d"}) {
        CAPTURE(name);
        const Json& problem = case_named(all, name).at("problem");
        const GoldenProblem golden(problem);
        if (!fits(golden)) continue;
        WayToRun way = golden_way(problem);
        way.hierarchy.deterministic = true;
        way.bottom.solver = "bicgstab";
        way.bottom.tolerance = 1e-4;
        way.multigrid.max_cycles = 3;
        const Solved expected = solve(golden, way);
        const auto same = [&](const WayToRun& other) {
            const Solved found = solve(golden, other);
            CHECK(found.report.residuals == expected.report.residuals);
            if (found.boxes == expected.boxes) CHECK(found.u == expected.u);
        };
        for (const Scheme scheme :
             {Scheme::two_step, Scheme::three_step, Scheme::split, Scheme::staged_axes}) {
            CAPTURE(static_cast<int>(scheme));
            WayToRun other = way;
            other.hierarchy.scheme = {.scheme = scheme, .message_cap = 256};
            other.hierarchy.neighbours = Neighbours::all;
            other.hierarchy.ghost_depth = 2;
            same(other);
        }
        for (const Placement placement :
             {Placement::lexicographic, Placement::round_robin, Placement::scattered}) {
            WayToRun other = way;
            other.placement = placement;
            same(other);
        }
        for (const int place : {BottomRanks::one_in_eight, BottomRanks::one, BottomRanks::all}) {
            CAPTURE(place);
            WayToRun other = way;
            other.hierarchy.bottom_grid = place;
            same(other);
        }
        WayToRun blocks = way;
        blocks.hierarchy.storage = Storage::blocks;
        blocks.placement = Placement::lexicographic;
        same(blocks);
        WayToRun overlapped = way;
        overlapped.hierarchy.exchange.overlap = true;
        same(overlapped);
    }
}

TEST_CASE(
    "matrix powers and fused half sweeps on a union of boxes are those of one exchange each, bit by bit") {
    const std::vector<Json> all = cases();
    for (const std::string name : {"L_helmholtz", "patch_periodic", "square_2d", "tags_2d"}) {
        CAPTURE(name);
        const Json& problem = case_named(all, name).at("problem");
        const GoldenProblem golden(problem);
        if (!fits(golden)) continue;
        WayToRun way = golden_way(problem);
        way.hierarchy.deterministic = true;
        way.bottom = {};
        way.bottom.solver = "ca_bicgstab";
        way.bottom.powers_depth = 2;
        way.multigrid.max_cycles = 3;
        const Solved expected = solve(golden, way);
        WayToRun powers = way;
        powers.bottom.powers = Powers::matrix_powers;
        powers.hierarchy.bottom_ghosts = 2;
        CHECK(solve(golden, powers).u == expected.u);
        WayToRun fused = way;
        fused.multigrid.pre = fused.multigrid.post = 1;
        const Solved one_by_one = solve(golden, fused);
        fused.hierarchy.fused = fusible_half_sweeps(fused.multigrid);
        REQUIRE(fused.hierarchy.fused == 2);
        CHECK(solve(golden, fused).u == one_by_one.u);
    }
}

TEST_CASE("a list of all boxes is the cube, bit by bit") {
    const Index around{2, 2, 2};
    std::vector<int> every(product(around));
    for (std::size_t n = 0; n < every.size(); ++n) every[n] = static_cast<int>(n);
    const Domain listed(around, mixed, every, Boundary::neumann);
    CHECK(listed.whole());
    CHECK(place(listed, 3, Placement::curve) == place(around, 3, Placement::curve));
}
