#pragma once

// The loops of the verbs on a device: one thread takes one cell. Every verb returns when its work is done.

#include <Kokkos_Core.hpp>

#include "kernels/backends/rows/rows.hpp"
#include "kernels/operations.hpp"

namespace keel {

template <class Body>
struct ValueThread {
    Body body;
    double* data;

    KOKKOS_FUNCTION void operator()(std::ptrdiff_t n) const { body(data[n]); }
};

template <class Body>
struct CellThread {
    Body body;
    Cells cells;

    // The i-th cell of a colour in the row.
    KOKKOS_FUNCTION void operator()(int i, int j, int k, int q) const {
        const int x = cells.first(0, q, j, k) + i * cells.step();
        if (x < cells.extent[0] && cells.contains(x, j, k)) body(q, x, j, k);
    }
};

template <class Body>
struct MaximumThread {
    Body body;

    KOKKOS_FUNCTION void operator()(int i, int j, int k, int q, std::int64_t& most) const {
        const std::int64_t bits = magnitude_bits(body(q, i, j, k));
        if (bits > most) most = bits;
    }
};

// A team adds up a slice (rows.hpp), in an order that depends on the size of the team alone.
template <class Body, class Team>
struct SliceTeam {
    Body body;
    std::size_t count;
    Cells cells;
    double* partial;

    KOKKOS_FUNCTION void operator()(const Team& team) const {
        const int q = team.league_rank() / slices(cells);
        const int slice = team.league_rank() % slices(cells);
        const Rows rows = slice_of(cells, q, slice);
        const int n0 = cells.extent[0];
        for (std::size_t n = 0; n < count; ++n) {
            double sum = 0.0;
            Kokkos::parallel_reduce(
                Kokkos::TeamThreadRange(team, n0 * (rows.j_high - rows.j_low)),
                [&](int cell, double& part) {
                    part += body(n, q, cell % n0, rows.j_low + cell / n0, rows.k_low);
                },
                sum);
            Kokkos::single(Kokkos::PerTeam(team), [&] { partial[place_of_sum(cells, n, q, slice)] = sum; });
        }
    }
};

// A team takes one item of one field.
template <class T, class Body, class Team>
struct ItemTeam {
    Body body;
    const T* list;
    int fields;

    KOKKOS_FUNCTION void operator()(const Team& team) const {
        const T& item = list[team.league_rank() / fields];
        const auto field = static_cast<std::size_t>(team.league_rank() % fields);
        const int n0 = item.size()[0];
        const int n1 = item.size()[1];
        const int n2 = item.size()[2];
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, n0 * n1 * n2), [&](int n) {
            body(item, field, static_cast<std::size_t>(n), n % n0, n / n0 % n1, n / (n0 * n1));
        });
    }
};

struct ByCells {
    using Space = Kokkos::DefaultExecutionSpace;

    template <class Body>
    static void for_each_value(Field u, const Body& body) {
        const auto values = static_cast<std::ptrdiff_t>(u.shape().values());
        Kokkos::parallel_for("values",
                             Kokkos::RangePolicy<Space, Kokkos::IndexType<std::ptrdiff_t>>(0, values),
                             ValueThread<Body>{body, u.data()});
        Kokkos::fence();
    }

    template <class Body>
    static void for_each_cell(const Cells& cells, const Body& body, std::size_t /*weight*/ = 1) {
        if (cells.count() == 0) return;
        Kokkos::parallel_for("cells", threads(cells), CellThread<Body>{body, cells});
        Kokkos::fence();
    }

    template <class Body>
    static void sum_slices(const Cells& cells, std::size_t count, const Body& body, double* partial) {
        if (cells.count() == 0) return;
        Kokkos::parallel_for("sums of slices", Teams(cells.boxes * slices(cells), Kokkos::AUTO),
                             SliceTeam<Body, Team>{body, count, cells, partial});
        Kokkos::fence();
    }

    template <class Body>
    static double max_over_cells(const Cells& cells, const Body& body) {
        if (cells.count() == 0) return 0.0;
        std::int64_t most = 0;
        Kokkos::parallel_reduce("maximum of cells", threads(cells), MaximumThread<Body>{body},
                                Kokkos::Max<std::int64_t>(most));
        return magnitude(most);
    }

    template <class T, class Body>
    static void for_each_item(const Items<T>& items, std::size_t fields, const Body& body) {
        if (items.count * fields == 0) return;
        Kokkos::parallel_for("items", Teams(static_cast<int>(items.count * fields), Kokkos::AUTO),
                             ItemTeam<T, Body, Team>{body, items.data, static_cast<int>(fields)});
        Kokkos::fence();
    }

  private:
    using Teams = Kokkos::TeamPolicy<Space>;
    using Team = Teams::member_type;
    using Box = Kokkos::MDRangePolicy<Space, Kokkos::Rank<4, Kokkos::Iterate::Left, Kokkos::Iterate::Left>,
                                      Kokkos::IndexType<int>>;

    static Box threads(const Cells& cells) {
        const auto [n0, n1, n2] = cells.extent;
        return Box({0, 0, 0, 0}, {(n0 + cells.step() - 1) / cells.step(), n1, n2, cells.boxes});
    }
};

}  // namespace keel
