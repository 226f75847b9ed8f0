#include "solvers/hierarchy.hpp"

#include <algorithm>

#include "kernels/check.hpp"

namespace keel {

namespace {

// The largest sum of magnitudes in a row of L on this rank. With c the faces that have a cell beyond, the sum is
// D + SUM c = 2 D - L 1. Uses the level's u and r, and leaves zeros.
double gershgorin_bound(Level& level) {
    Operations& make = *level.plain;
    make.fill(level.u, 1.0);
    make.fill_boundary(level.u, make.make_items(std::span<const BoundaryItem>(boundary_ghosts(level.layout))),
                       {0.0, 0.0, 0.0});
    make.apply(level.r, level.L, level.u);
    make.axpby(level.r, 2, level.L.diagonal, -1, level.r);
    double bound = 0;
    make.max_norm(level.r, bound);
    make.fill(level.u, 0.0);
    make.fill(level.r, 0.0);
    return bound;
}

// Gives the operator its coefficients in the ghost layers of powers. Outside the domain they are zero, and so are the faces
// on its boundary, now that the diagonal has their part: the operator makes zeros there, and reads none of them, so
// that boundary conditions hold in every layer without further care.
void deepen(Level& level) {
    Operations& make = *level.plain;
    const std::array faces{level.L.x, level.L.y, level.L.z};
    for (std::size_t d = 0; d < 3; ++d) {
        std::vector<BoundaryItem> on_boundary;
        for (BoundaryItem item : boundary_ghosts(level.layout)) {
            if (item.outward[d] == 0) continue;
            if (item.outward[d] < 0) item.cells.lo[d] += 1;  // face i is the lower one of cell i
            on_boundary.push_back(item);
        }
        make.fill_boundary(faces[d], make.make_items(std::span<const BoundaryItem>(on_boundary)),
                           {0.0, 0.0, 0.0});
    }
    for (const Field coefficient :
         {level.L.x, level.L.y, level.L.z, level.L.diagonal, level.L.inverse_diagonal})
        level.deep_ghosts->run(coefficient);
}

}  // namespace

LevelSchemes HierarchyOptions::schemes_of(int level) const {
    return schemes.empty() ? LevelSchemes{scheme, scheme, scheme}
                           : schemes.at(static_cast<std::size_t>(level));
}

std::vector<int> level_widths(int box, int bottom_box) {
    std::vector<int> widths{box};
    while (widths.back() > bottom_box && widths.back() % 2 == 0) widths.push_back(widths.back() / 2);
    check(widths.back() == bottom_box, "halving the box must reach the bottom box");
    return widths;
}

Hierarchy::Hierarchy(const Communicator& comm, const Topology& topology, const Backend& backend,
                     const Layout& finest, const OperatorFormulas& formulas, const HierarchyOptions& options,
                     Ledger& ledger)
    : singular_(formulas.singular) {
    int tag = 0;
    Layout layout = finest;
    for (const int width : level_widths(finest.width(), options.bottom_box)) {
        if (width < layout.width()) layout = layout.coarsened();
        const int number = levels();
        const int deep = width == options.bottom_box ? options.bottom_ghosts : 0;
        levels_.push_back(std::make_unique<Level>(
            layout, backend.make_operations(layout, std::max(options.ghost_depth, deep)), ledger, number));
        Level& level = *levels_.back();
        Operations& make = *level.plain;
        level.u = make.make_field();
        level.f = make.make_field();
        level.r = make.make_field();
        level.L = {make.make_field(), make.make_field(), make.make_field(), make.make_field(),
                   make.make_field()};
        level.reduction = std::make_unique<TimedReduction>(
            make_reduction(comm, layout, options.deterministic, options.all_reduce), ledger, number);

        const auto exchange = [&](int depth, Neighbours neighbours, const SchemeOptions& scheme) {
            const int own_tag = tag++;
            const GhostPattern pattern = ghost_pattern(layout, depth, neighbours, scheme);
            return make_exchange(
                level.operations, pattern, make_plan(pattern, topology, scheme, comm.rank()),
                options.exchange, [&](const Itinerary& itinerary) {
                    return std::make_unique<TimedPointToPoint>(
                        make_point_to_point(comm, topology, itinerary, own_tag, options.persistent), ledger,
                        number);
                });
        };
        const LevelSchemes schemes = options.schemes_of(number);
        level.ghosts = exchange(options.ghost_depth, options.neighbours, schemes.ghosts);
        if (options.all_ghosts && number > 0) {
            level.all_ghosts = exchange(1, Neighbours::all, schemes.all_ghosts);
            level.outside = make.make_items(std::span<const BoundaryItem>(boundary_ghosts(layout)));
        }
        if (deep > 0) {
            level.deep_ghosts = exchange(deep, Neighbours::all, schemes.deep_ghosts);
            level.deep_layers = deep;
        }
    }
    build_operators(formulas, comm);
    if (bottom().deep_ghosts) deepen(bottom());
}

void Hierarchy::build_operators(const OperatorFormulas& formulas, const Communicator& comm) {
    const auto faces = [](const Stencil& L) { return std::array{L.x, L.y, L.z}; };
    for (int l = 0; l < levels(); ++l) {
        Level& here = level(l);
        const int n = here.layout.width();
        for (std::size_t d = 0; d < 3; ++d) {
            if (l == 0) {
                Index extent{n, n, n};
                extent[d] += 1;
                here.plain->assign(faces(here.L)[d], {{}, extent}, formulas.face[d]);
            } else {  // c has 1/h^2 in it, and h doubles
                level(l - 1).plain->restrict_faces(faces(here.L)[d], faces(level(l - 1).L)[d],
                                                   static_cast<int>(d), 0.25);
            }
        }
        if (l == 0) here.plain->assign(here.L.diagonal, cube(n), formulas.a_alpha);
        // The coarse a alpha must be taken before the faces are added to the diagonal.
        if (l + 1 < levels()) here.plain->restrict_to(level(l + 1).L.diagonal, here.L.diagonal);
        here.plain->complete_diagonal(here.L);
        here.gershgorin_bound = comm.max(gershgorin_bound(here));
        here.jacobi_bound = comm.max(here.plain->jacobi_bound(here.L));
    }
}

void remove_mean(Operations& operations, Reduction& reduction, Field u) {
    std::vector<double> parts(static_cast<std::size_t>(operations.layout().local_count()));
    double total = 0;
    operations.totals(u, parts);
    reduction.sum(parts, std::span(&total, 1));
    operations.shift(u, -total / static_cast<double>(operations.layout().cell_count()));
}

}  // namespace keel
