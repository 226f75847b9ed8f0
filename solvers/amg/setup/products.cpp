#include "solvers/amg/setup/products.hpp"

#include <span>

#include "kernels/check.hpp"

namespace keel {
namespace {

// Calls end_row(sum) after every row of A P, from its own rows of P and those of A's ghosts. Returns what
// was done.
template <class EndRow>
Work for_each_row_of_product(const PartRows& A, const CompactColumns& columns, const GlobalRows& own,
                             const GlobalRows& of_ghosts, const EndRow& end_row) {
    const std::vector<std::int32_t> own_places = columns.places(own.columns);
    const std::vector<std::int32_t> ghost_places = columns.places(of_ghosts.columns);
    RowSum sum(columns.count());
    const auto add = [&](double factor, const GlobalRows& rows, const std::vector<std::int32_t>& places,
                         std::size_t row) {
        const auto [begin, end] = entries_of(rows, row);
        sum.add(factor, std::span(places).subspan(begin, end - begin), rows.values.data() + begin);
    };
    for (std::size_t r = 0; r < A.rows.rows(); ++r) {
        for (auto [e, end] = entries_of(A.rows, r); e < end; ++e) {
            const auto k = static_cast<std::size_t>(A.places[e]);
            if (k < own.rows())
                add(A.rows.values[e], own, own_places, k);
            else
                add(A.rows.values[e], of_ghosts, ghost_places, k - own.rows());
        }
        end_row(sum);
    }
    Work work = sum.work();
    work.bytes += RowSum::bytes_of_entry * static_cast<double>(A.places.size());
    return work;
}

}  // namespace

GlobalRows multiply(const PartRows& A, const RowPartition& partition, const GlobalRows& own,
                    const GlobalRows& of_ghosts, Work& work) {
    const CompactColumns columns(partition.first(A.rank), partition.size(A.rank),
                                 {own.columns, of_ghosts.columns});
    GlobalRows product;
    work += for_each_row_of_product(A, columns, own, of_ghosts, [&](RowSum& sum) {
        sum.finish_sorted([&](std::int32_t place, double value) {
            append(product, columns.column(static_cast<std::size_t>(place)), value);
        });
        end_row(product);
    });
    return product;
}

GlobalRows galerkin(const SetupContext& context, const PartRows& A, const PartRows& P,
                    const GlobalRows& of_ghosts, const ReverseExchange& way, Traffic& sent, Work& work) {
    const CompactColumns columns(P.columns.first(P.rank), P.own_columns(),
                                 {P.rows.columns, of_ghosts.columns});
    CsrMatrix AP;  // by places; no sum below depends on the order of a row's entries
    work += for_each_row_of_product(A, columns, P.rows, of_ghosts, [&](RowSum& sum) {
        sum.finish([&](std::int32_t place, double value) { append(AP, place, value); });
        end_row(AP);
    });

    const std::size_t own = P.own_columns();
    const CsrMatrix transposed = transpose(P.rows.first, P.places, P.rows.values, own + P.ghosts.size());
    RowSum sum(columns.count());
    const auto append_part = [&](auto& to, std::size_t c) {
        for (auto [e, last] = entries_of(transposed, c); e < last; ++e) {
            const auto [begin, end] = entries_of(AP, static_cast<std::size_t>(transposed.columns[e]));
            sum.add(transposed.values[e], std::span(AP.columns).subspan(begin, end - begin),
                    AP.values.data() + begin);
        }
        sum.finish_sorted([&](std::int32_t place, double entry) {
            append(to, columns.column(static_cast<std::size_t>(place)), entry);
        });
    };

    check_equal(way.contributions, P.ghosts.size(), "the way is that of the ghosts of P");
    std::vector<PartialRow> slots(way.slots());
    for (std::size_t n = 0; n < P.ghosts.size(); ++n) append_part(slots[n], own + n);
    reverse_exchange_rows(context, way, slots, sent);

    GlobalRows product;
    std::size_t home = 0;
    for (std::size_t c = 0; c < own; ++c) {
        const std::int64_t row = P.columns.first(P.rank) + static_cast<std::int64_t>(c);
        if (home < way.homes.size() && way.homes[home] == row) {
            PartialRow mine;
            append_part(mine, c);
            const PartialRow all = merged(mine, slots[way.contributions + way.relays + home++]);
            product.columns.insert(product.columns.end(), all.columns.begin(), all.columns.end());
            product.values.insert(product.values.end(), all.values.begin(), all.values.end());
        } else
            append_part(product, c);
        end_row(product);
    }
    work += sum.work();
    return product;
}

}  // namespace keel
