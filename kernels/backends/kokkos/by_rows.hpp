#pragma once

// The loops of the verbs on processor cores: Kokkos runs rows, planes or items in parallel, and inside each
// of them is a loop that the compiler vectorises.

#include <Kokkos_Core.hpp>

#include "kernels/backends/rows/rows.hpp"
#include "kernels/operations.hpp"

namespace keel {

struct ByRows {
    using Space = Kokkos::DefaultHostExecutionSpace;

    template <class Body>
    static void for_each_value(Field u, const Body& body) {
        const int chunks = u.shape().blocks * std::max(u.shape().extent[1], u.shape().extent[2]);
        const auto total = static_cast<std::ptrdiff_t>(u.shape().values());
        const std::ptrdiff_t chunk = chunks > 0 ? (total + chunks - 1) / chunks : 0;
        double* const data = u.data();
        run<Kokkos::Static>("values", chunks, u.shape().values(), [=](int c) {
            each_value(body, data + c * chunk, data + std::min(total, (c + 1) * chunk));
        });
    }

    template <class Row>
    static void for_each_row(const Cells& cells, const Row& row, std::size_t weight = 1) {
        run<Kokkos::Static>("rows", shares(cells), weight * cells.count(), [=](int n) {
            const Row own = row;  // a copy, which the compiler can keep in registers
            take_rows(own, cells, share(cells, n));
        });
    }

    template <class Body>
    static void for_each_cell(const Cells& cells, const Body& body, std::size_t weight = 1) {
        for_each_row(cells, CellRow<Body>{body, cells}, weight);
    }

    template <class Body>
    static void sum_slices(const Cells& cells, std::size_t count, const Body& body, double* partial) {
        const int all = slices(cells);
        run<Kokkos::Static>("sums of slices", cells.boxes * all, cells.count(), [=](int slice) {
            sum_slice(body, count, cells, slice / all, slice % all, partial);
        });
    }

    template <class Body>
    static double max_over_cells(const Cells& cells, const Body& body) {
        const auto take_share = [=](int n, std::int64_t& most) {
            const Body own = body;
            const Rows rows = share(cells, n);
            for (int j = rows.j_low; j < rows.j_high; ++j)
                most = std::max(most, most_in_row(own, cells.extent[0], rows.q, j, rows.k_low));
        };
        std::int64_t most = 0;
        if (cells.count() < serial_below)
            for (int n = 0; n < shares(cells); ++n) take_share(n, most);
        else
            Kokkos::parallel_reduce("maximum of rows", Range<Kokkos::Static>(0, shares(cells)), take_share,
                                    Kokkos::Max<std::int64_t>(most));
        return magnitude(most);
    }

    template <class T, class Body>
    static void for_each_item(const Items<T>& items, std::size_t fields, const Body& body) {
        const T* const list = items.data;
        run<Kokkos::Dynamic>("items", static_cast<int>(items.count), items.cells * fields, [=](int t) {
            for (std::size_t field = 0; field < fields; ++field) walk_item(body, list[t], field);
        });
    }

  private:
    template <class Schedule>
    using Range = Kokkos::RangePolicy<Space, Kokkos::Schedule<Schedule>, Kokkos::IndexType<int>>;

    template <class Schedule, class Function>
    static void run(const char* name, int count, std::size_t cells, const Function& function) {
        if (cells < serial_below)
            for (int n = 0; n < count; ++n) function(n);
        else
            Kokkos::parallel_for(name, Range<Schedule>(0, count), function);
    }
};

}  // namespace keel
