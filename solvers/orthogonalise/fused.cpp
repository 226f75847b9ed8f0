// A new column and the least-squares problem with two all-reduces in all, whatever the number of columns: Q'f
// rides beside Q'x in the first, the new column's share of it beside its norm in the second. What is dropped
// is rotated out of these small vectors as out of R, so that the first is formed with the columns as they
// were. (f,f) comes along.
//
// `dcgs2_fused` delays the second pass over a column as dcgs2 does. `icwy_fused` corrects by (I + L)^-1, Q'f
// as well as Q'x: with Q'x alone it takes 45 iterations where 41 do on the heat source 2 in 100^2 cells, and
// 55 for 42 in 128^2; and it takes the new column's share of f - Q c, for one pass over Q more.

#include <algorithm>

#include "solvers/orthogonalise/orthogonalisers.hpp"

namespace keel {
namespace {

class Fused : public GramQR {
  public:
    enum class Kind { dcgs2, icwy };

    Fused(LinearSystem& system, std::size_t most, Kind kind)
        : GramQR(system, most, kind == Kind::icwy),
          kind_(kind),
          rest_(kind == Kind::icwy ? system.make_vector() : Vector()) {}

    bool append(Vector x, Vector f) override {
        std::size_t k = columns();
        want(f, f);
        if (k > 0) want_columns(k - 1, q(k - 1));
        want_columns(k, x);
        want_columns(k, f);
        const auto sums = reduce();  // 1
        ff_ = sums[0];
        const auto l = sums.subspan(1, k > 0 ? k - 1 : 0);
        h = sums.last(2 * k).first(k);
        std::ranges::copy(sums.last(k), c().begin());

        if (kind_ == Kind::dcgs2 && k > 1) {
            subtract(q(k - 1), l);
            for (std::size_t j = 0; j + 1 < k; ++j) {
                R()(j, k - 1) += l[j] * R()(k - 1, k - 1);
                h[k - 1] -= l[j] * h[j];
                c()[k - 1] -= l[j] * c()[j];
            }
        }
        for (std::size_t j = 0; kind_ == Kind::icwy && j + 1 < k; ++j) W(k - 1, j) = W(j, k - 1) = l[j];
        if (k == most()) {
            rotate_out_with_sums();
            k = columns();
        }
        const auto y = h.first(k);
        const auto of_f = std::span(c()).first(k);
        if (kind_ == Kind::icwy) {
            solve_unit_lower(W, y);
            solve_unit_lower(W, of_f);
        }
        const Vector v = begin(x);
        set_column(y);
        subtract(v, y);
        Vector with = f;
        if (kind_ == Kind::icwy && k > 0) {
            A().copy(rest_, f);
            subtract(rest_, of_f);
            with = rest_;
        }
        want(v, v);
        want(v, with);
        const auto new_sums = reduce();  // 2
        const double vf = new_sums[1];
        if (!normalise(v, new_sums[0])) return false;
        c()[k] = vf / r(k, k);
        return true;
    }

    std::optional<double> square_of_f() const override { return ff_; }

  protected:
    void project(Vector) override {}

    void rotated(std::size_t i, double cosine, double s) override {
        rotate(c()[i], c()[i + 1], cosine, s);
        GramQR::rotated(i, cosine, s);
    }

  private:
    Kind kind_;
    Vector rest_;  // f - Q c
    double ff_ = 0;
};

// Beside dcgs2 one pass more over Q and f for Q'f, and one over f for the new column's share.
QRCost of_dcgs2(long k, long left) {
    return {2, (k > 0 ? k - 1 : 0) + 2 * k + 1 + 2,
            40 + 8 * k + 16 + (k > 1 ? 8 * k + 16 : 0) + 8 * left + 24 + 8};
}

QRCost of_icwy(long k, long left) {
    return {2, (k > 0 ? k - 1 : 0) + 2 * k + 1 + 2, 40 + 8 * k + 16 + 8 * left + 24 + 8 * left + 32};
}

}  // namespace

Orthogonaliser dcgs2_fused() {
    return {.name = "dcgs2_fused",
            .source = "dcgs2 with the least-squares problem in its all-reduces",
            .use = "2 all-reduces for all that an iteration needs, whatever the number of columns",
            .add = [](long k) { return of_dcgs2(k, k); },
            .replace = [](long k) { return rotations(k) + of_dcgs2(k, k - 1); },
            .project = [](long) { return QRCost{}; },
            .make = make_qr<Fused, Fused::Kind::dcgs2>};
}

Orthogonaliser icwy_fused() {
    return {.name = "icwy_fused",
            .source = "icwy_rotated with the least-squares problem in its all-reduces",
            .use = "2 all-reduces for all that an iteration needs, without passes over older columns",
            .add = [](long k) { return of_icwy(k, k); },
            .drop =
                [](long k) {
                    return rotations(k) + (k > 2 ? QRCost{1, (k - 1) * (k - 2) / 2, 8 * (k - 1)} : QRCost{});
                },
            .replace = [](long k) { return rotations(k) + of_icwy(k, k - 1); },
            .project = [](long) { return QRCost{}; },
            .make = make_qr<Fused, Fused::Kind::icwy>};
}

}  // namespace keel
