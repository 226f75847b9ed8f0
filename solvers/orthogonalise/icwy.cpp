// Gram-Schmidt by the inverse compact WY form: Lockhart 2023, QRAdd. The triangular correction T = (I +
// L)^-1, with L the strictly lower triangle of Q'Q, makes one projection as good as modified Gram-Schmidt's;
// the last row of L rides in the same all-reduce as Q'x. Two all-reduces for a column.
//
// Rotating the oldest column out changes Q'Q. `icwy` forms it anew, by a third all-reduce of k (k - 1) / 2
// words; `icwy_rotated` forms Q'x and the last row with the columns as they were and rotates these small
// things as well: two again, and steadier (on the heat source 2 in 128^2 cells 42 iterations where `icwy`
// fails after 49). Columns that are dropped apart from append() were not asked for their row in time: there
// both form Q'Q anew.

#include "solvers/orthogonalise/orthogonalisers.hpp"

namespace keel {
namespace {

class InverseCompactWY : public GramQR {
  public:
    enum class Drop { forms_gram, rotates_gram };
    InverseCompactWY(LinearSystem& system, std::size_t most, Drop drop)
        : GramQR(system, most, true), drop_(drop) {}

    bool append(Vector x, Vector) override {
        if (columns() == most() && (drop_ == Drop::forms_gram || most() == 1)) drop_oldest();
        const std::size_t k = columns();
        if (k == 0) return finish(begin(x));
        want_columns(k - 1, q(k - 1));
        want_columns(k, x);
        const auto sums = reduce();
        for (std::size_t j = 0; j + 1 < k; ++j) W(k - 1, j) = W(j, k - 1) = sums[j];
        h = sums.last(k);
        if (k == most()) rotate_out_with_sums();
        const auto y = h.first(columns());
        solve_unit_lower(W, y);
        const Vector v = begin(x);
        set_column(y);
        subtract(v, y);
        return finish(v);
    }

  private:
    bool finish(Vector v) { return normalise(v, A().dot(v, v)); }

    Drop drop_;
};

QRCost add(long k) {
    return k == 0 ? QRCost{1, 1, 40} : QRCost{2, 2 * k, 40 + 16 * k + 32};
}

QRCost drop(long k) {
    return rotations(k) + (k > 2 ? QRCost{1, (k - 1) * (k - 2) / 2, 8 * (k - 1)} : QRCost{});
}

// Sums of Q'x and of the last row of Q'Q are with all k columns, the rest with those that stay.
QRCost replace(long k) {
    if (k == 1) return add(0);
    return rotations(k) + QRCost{2, 2 * k, 40 + 16 * k + 24};
}

}  // namespace

Orthogonaliser icwy() {
    return {.name = "icwy",
            .source = "Gram-Schmidt in inverse compact WY form; Lockhart 2023, section 6.2",
            .use = "2 all-reduces for a column, and a third when one leaves",
            .add = add,
            .drop = drop,
            .make = make_qr<InverseCompactWY, InverseCompactWY::Drop::forms_gram>};
}

Orthogonaliser icwy_rotated() {
    return {.name = "icwy_rotated",
            .source = "icwy, its Gram matrix rotated with its columns",
            .use = "2 all-reduces for a column, also when one leaves",
            .add = add,
            .drop = drop,
            .replace = replace,
            .make = make_qr<InverseCompactWY, InverseCompactWY::Drop::rotates_gram>};
}

}  // namespace keel
