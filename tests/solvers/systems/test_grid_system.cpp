// A grid level as a linear system: powers of its operator, from ghosts of several layers.

#include <catch2/catch.hpp>

#include "solvers/krylov/s_step/basis.hpp"
#include "solvers/systems/grid_system.hpp"
#include "tests/solvers/golden_problem.hpp"

using namespace keel;
using namespace keel::test;

namespace {

// Two bases of Krylov spaces, of m and m - 1 powers, from the same two vectors whatever made them.
struct TwoBases {
    TwoBases(Setup& setup, GridSystem& system, int degree) {
        while (p.size() <= static_cast<std::size_t>(degree)) p.push_back(system.make_vector());
        while (r.size() + 1 < p.size()) r.push_back(system.make_vector());
        setup.set(p[0], [](const Index& c) { return std::cos(1.7 * c[0] + 0.3 * c[1] * c[1] - c[2]); });
        setup.set(r[0], [](const Index& c) { return std::sin(0.4 * c[0] * c[2] + 2.3 * c[1]); });
    }
    void build(GridSystem& system, Recurrence recurrence) const {
        system.powers(std::array{LinearSystem::Vectors(p), LinearSystem::Vectors(r)}, recurrence);
    }
    std::vector<std::vector<double>> values(const Setup& setup) const {
        std::vector<std::vector<double>> all;
        for (const auto& basis : {p, r})
            for (const Field& v : basis)
                all.push_back(setup.hierarchy.level(0).plain->read(v, cube(setup.problem.width)));
        return all;
    }

    std::vector<Field> p, r;
};

// In z, a box of the second is its own neighbour on both sides.
const std::vector<Problem> shapes{
    {.boxes = {2, 2, 2}, .width = 4, .beta = "smooth100", .alpha = "wave", .exactly_periodic = true},
    {.boxes = {4, 2, 1},
     .width = 3,
     .b = 0.01,
     .beta = "ball100",
     .alpha = "wave",
     .exactly_periodic = true}};

}  // namespace

TEST_CASE("matrix powers are those of one exchange for every power, to the last bit") {
    // Without edges and corners, or with coefficients that end where the boxes do, the powers from the second
    // on differ.
    for (Problem problem : shapes)
        for (const Boundaries& boundaries : {periodic, dirichlet, neumann, mixed})
            for (int depth = 1; depth <= problem.width; ++depth) {
                problem.boundaries = boundaries;
                Setup plain(problem, {.bottom_box = problem.width});
                Setup deep(problem, {.bottom_box = problem.width, .bottom_ghosts = depth});
                Level& level = deep.finest();
                REQUIRE(level.u.shape().ghosts == depth);
                for (const auto scaling :
                     {DiagonalScaling::none, DiagonalScaling::right, DiagonalScaling::symmetric}) {
                    GridSystem paired(plain.finest().operations, *plain.finest().ghosts,
                                      *plain.finest().reduction, plain.finest().L, scaling, 2);
                    GridSystem system(level.operations, *level.ghosts, *level.reduction, level.L, scaling, 1,
                                      {level.deep_ghosts.get(), depth});
                    const double bound =
                        scaling == DiagonalScaling::none ? level.gershgorin_bound : level.jacobi_bound;
                    for (const Basis basis : {Basis::monomial, Basis::newton, Basis::chebyshev})
                        for (const int degree : {1, 2, 4, 7}) {
                            CAPTURE(problem.width, name(boundaries[0].low), depth, static_cast<int>(scaling),
                                    static_cast<int>(basis), degree);
                            const auto recurrence = keel::recurrence(basis, degree, {0.0, bound});
                            const TwoBases expected(plain, paired, degree);
                            expected.build(paired, recurrence);
                            const TwoBases powers(deep, system, degree);
                            const Counts start = system.counts();
                            powers.build(system, recurrence);
                            powers.build(system, recurrence);  // whatever the first time has left
                            const Counts spent = system.counts() - start;
                            CHECK((powers.values(deep) == expected.values(plain)));
                            CHECK(spent.exchanges == 2 * ((degree + depth - 1) / depth));
                            CHECK(spent.applications == 2 * (2 * degree - 1));
                        }
                }
            }
}

TEST_CASE("the ledger holds the redundant work and the messages of matrix powers") {
    const Problem problem{.boxes = {2, 2, 2}, .width = 4, .boundaries = mixed, .beta = "smooth10"};
    for (const int depth : {1, 2, 4})
        for (const Basis basis : {Basis::monomial, Basis::chebyshev}) {
            CAPTURE(depth, static_cast<int>(basis));
            const int degree = 6;
            Setup setup(problem, {.bottom_box = 4, .bottom_ghosts = depth});
            Level& level = setup.finest();
            GridSystem system(level.bottom_operations, *level.ghosts, *level.reduction, level.L,
                              DiagonalScaling::none, 1, {level.deep_ghosts.get(), depth});
            const TwoBases bases(setup, system, degree);
            setup.ledger.clear();
            bases.build(system, recurrence(basis, degree, {0.0, level.gershgorin_bound}));

            // A power is needed in one layer less than its predecessor, the last before an exchange in none.
            std::size_t cells = 0;
            std::size_t vectors = 0;  // sent
            for (const int powers : {degree, degree - 1})
                for (int first = 0; first < powers; first += depth) {
                    const int last = std::min(first + depth, powers);
                    for (int layers = 0; layers < last - first; ++layers)
                        cells += cube(problem.width, layers).cells();
                    vectors += basis == Basis::chebyshev && first > 0 && last > first + 1 ? 2 : 1;
                }
            cells *= static_cast<std::size_t>(level.layout.local_count());
            const Entry& applied = setup.ledger.at(Op::bottom_operator, 0);
            CHECK(applied.calls == 2 * degree - 1);
            CHECK(applied.work.bytes == (Apply<3>::cost * cells).bytes);
            CHECK(applied.work.flops == (Apply<3>::cost * cells).flops);

            const Traffic once = level.deep_ghosts->plan().traffic(setup.comm.rank(), setup.topology, 1);
            const Traffic sent = setup.ledger.at(Op::send, 0).traffic;
            CHECK(sent.messages == (degree + depth - 1) / depth * once.messages);
            CHECK(sent.bytes == static_cast<long>(vectors) * once.bytes);
        }
}

TEST_CASE("the bottom level alone has deep ghosts, and its coefficients end at the domain's boundary") {
    const Problem problem{.boxes = {2, 2, 2}, .width = 8, .boundaries = mixed, .beta = "smooth10"};
    Setup plain(problem, {.bottom_box = 4});
    Setup setup(problem, {.bottom_box = 4, .bottom_ghosts = 3});
    CHECK(setup.finest().u.shape().ghosts == 1);
    CHECK(setup.finest().deep_ghosts == nullptr);
    CHECK(setup.hierarchy.bottom().u.shape().ghosts == 3);
    CHECK(setup.hierarchy.bottom().gershgorin_bound == plain.hierarchy.bottom().gershgorin_bound);
    CHECK(setup.hierarchy.bottom().jacobi_bound == plain.hierarchy.bottom().jacobi_bound);

    const Level& level = setup.hierarchy.bottom();
    const int n = level.layout.width();
    const HostField inverse(*level.plain, level.L.inverse_diagonal);
    const std::array faces{HostField(*level.plain, level.L.x), HostField(*level.plain, level.L.y),
                           HostField(*level.plain, level.L.z)};
    for (int q = 0; q < level.layout.local_count(); ++q) {
        const Index first = level.layout.first_cell(level.layout.local()[static_cast<std::size_t>(q)]);
        const auto outside = [&](std::size_t d, int cell) {
            return problem.boundaries[d] != Boundary::periodic &&
                   (first[d] + cell < 0 || first[d] + cell >= level.layout.cells()[d]);
        };
        for_each_index({n + 6, n + 6, n + 6}, [&](const Index& at) {
            const Index c = at + Index{-3, -3, -3};
            const bool none = outside(0, c[0]) || outside(1, c[1]) || outside(2, c[2]);
            CHECK((inverse(q, c[0], c[1], c[2]) == 1) == none);
            for (std::size_t d = 0; d < 3; ++d)  // a face has a coefficient where cells are on both its sides
                CHECK((faces[d](q, c[0], c[1], c[2]) == 0) == (none || outside(d, c[d] - 1)));
        });
    }
}
