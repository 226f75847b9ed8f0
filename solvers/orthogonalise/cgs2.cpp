// Classical Gram-Schmidt, twice: Lockhart 2023, QRAdd. Three all-reduces whatever the number of columns.
// Orthogonal to rounding: the second pass takes out what the first has left.

#include "solvers/orthogonalise/orthogonalisers.hpp"

namespace keel {
namespace {

class ClassicalGramSchmidtTwice : public QR {
  public:
    using QR::QR;

    bool append(Vector x, Vector) override {
        if (columns() == most()) drop_oldest();
        const std::size_t k = columns();
        const Vector v = begin(x);
        for (int pass = 0; pass < 2 && k > 0; ++pass) {
            want_columns(k, v);
            const auto a = reduce();
            for (std::size_t j = 0; j < k; ++j) R()(j, k) = (pass == 0 ? 0.0 : R()(j, k)) + a[j];
            subtract(v, a);
        }
        return normalise(v, A().dot(v, v));
    }
};

}  // namespace

Orthogonaliser cgs2() {
    return {.name = "cgs2",
            .source = "classical Gram-Schmidt with reorthogonalisation; Lockhart 2023, section 6.2",
            .use = "orthogonality to rounding, by 3 all-reduces for a column",
            .add =
                [](long k) {
                    return k == 0 ? QRCost{1, 1, 40} : QRCost{3, 2 * k + 1, 40 + 2 * (16 * k + 32)};
                },
            .make = make_qr<ClassicalGramSchmidtTwice>};
}

}  // namespace keel
