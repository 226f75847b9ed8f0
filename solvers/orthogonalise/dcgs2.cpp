// Classical Gram-Schmidt with delayed reorthogonalisation: Lockhart 2023, QRAdd, corrected. The second pass
// over a column waits for the all-reduce of the next one, so that two are left.
//
// As printed, the delayed pass adds s to R where q_old = q_new + Q s asks for s R_{k-1,k-1}, and keeps
// (q_old, x) where the column that is there now is q_new: X = Q R then holds to 3e-2 only on an
// ill-conditioned X of 64 rows, and |Q'Q - I| is 4e-3; corrected, 4e-16 and 2e-7. The newest column waits for
// its second pass, also while the oldest is rotated out.

#include "solvers/orthogonalise/orthogonalisers.hpp"

namespace keel {
namespace {

class DelayedGramSchmidt : public QR {
  public:
    using QR::QR;

    bool append(Vector x, Vector) override {
        if (columns() == most()) drop_oldest();
        const std::size_t k = columns();
        const Vector v = begin(x);
        if (k > 0) {
            want_columns(k - 1, q(k - 1));
            want_columns(k, v);
            const auto sums = reduce();
            const auto s = sums.first(k - 1);
            const auto h = sums.last(k);
            subtract(q(k - 1), s);
            for (std::size_t j = 0; j + 1 < k; ++j) {
                R()(j, k - 1) += s[j] * R()(k - 1, k - 1);
                h[k - 1] -= s[j] * h[j];
            }
            set_column(h);
            subtract(v, h);
        }
        return normalise(v, A().dot(v, v));
    }
};

}  // namespace

Orthogonaliser dcgs2() {
    return {.name = "dcgs2",
            .source =
                "classical Gram-Schmidt with delayed reorthogonalisation, corrected; Lockhart 2023, "
                "section 6.2",
            .use = "2 all-reduces for a column, nearly as orthogonal as cgs2",
            .add =
                [](long k) {
                    return k == 0 ? QRCost{1, 1, 40}
                                  : QRCost{2, 2 * k, 40 + 16 * k + 32 + (k > 1 ? 8 * k + 24 : 0)};
                },
            .make = make_qr<DelayedGramSchmidt>};
}

}  // namespace keel
