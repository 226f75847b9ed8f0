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

class InverseCompactWY : public QR {
  public:
    enum class Drop { forms_gram, rotates_gram };

    InverseCompactWY(LinearSystem& system, std::size_t most, Drop drop)
        : QR(system, most), drop_(drop), W_(most) {}

    bool append(Vector x, Vector) override {
        if (columns() == most() && (drop_ == Drop::forms_gram || most() == 1)) drop_oldest();
        const std::size_t k = columns();
        if (k == 0) return finish(begin(x));
        want_columns(k - 1, q(k - 1));
        want_columns(k, x);
        const auto sums = reduce();
        for (std::size_t j = 0; j + 1 < k; ++j) W_(k - 1, j) = W_(j, k - 1) = sums[j];
        h_ = sums.last(k);
        if (k == most()) rotate_with_gram();
        const auto y = h_.first(columns());
        solve_unit_lower(W_, y);
        const Vector v = begin(x);
        set_column(y);
        subtract(v, y);
        return finish(v);
    }

    void drop_oldest() override {
        rotate_out_oldest();
        if (columns() < 2) return;
        for (std::size_t i = 1; i < columns(); ++i) want_columns(i, q(i));
        const auto sums = reduce();
        std::size_t n = 0;
        for (std::size_t i = 1; i < columns(); ++i)
            for (std::size_t j = 0; j < i; ++j) W_(i, j) = W_(j, i) = sums[n++];
    }

  protected:
    void rotated(std::size_t i, double c, double s) override {
        if (!with_gram_) return;
        rotate(h_[i], h_[i + 1], c, s);
        for (std::size_t j = 0; j < columns(); ++j) rotate(W_(i, j), W_(i + 1, j), c, s);
        for (std::size_t j = 0; j < columns(); ++j) rotate(W_(j, i), W_(j, i + 1), c, s);
    }

  private:
    bool finish(Vector v) { return normalise(v, A().dot(v, v)); }

    void rotate_with_gram() {
        for (std::size_t i = 0; i < columns(); ++i) W_(i, i) = 1;
        with_gram_ = true;
        rotate_out_oldest();
        with_gram_ = false;
    }

    Drop drop_;
    SmallMatrix W_;        // Q'Q but for its newest row, until the next append()
    std::span<double> h_;  // Q'x
    bool with_gram_ = false;
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
            .make = [](LinearSystem& system, std::size_t most) -> std::unique_ptr<QR> {
                return std::make_unique<InverseCompactWY>(system, most, InverseCompactWY::Drop::forms_gram);
            }};
}

Orthogonaliser icwy_rotated() {
    return {.name = "icwy_rotated",
            .source = "icwy, its Gram matrix rotated with its columns",
            .use = "2 all-reduces for a column, also when one leaves",
            .add = add,
            .drop = drop,
            .replace = replace,
            .make = [](LinearSystem& system, std::size_t most) -> std::unique_ptr<QR> {
                return std::make_unique<InverseCompactWY>(system, most, InverseCompactWY::Drop::rotates_gram);
            }};
}

}  // namespace keel
