// Modified Gram-Schmidt: Lockhart 2023, QRAdd. An all-reduce of one word for each column and one for the
// norm, each after the other: what the others are for. Orthogonal to eps times the condition of X.

#include "solvers/orthogonalise/orthogonalisers.hpp"

namespace keel {
namespace {

class ModifiedGramSchmidt : public QR {
  public:
    using QR::QR;

    bool append(Vector x, Vector) override {
        if (columns() == most()) drop_oldest();
        const std::size_t k = columns();
        const Vector v = begin(x);
        for (std::size_t j = 0; j < k; ++j) {
            R()(j, k) = A().dot(q(j), v);
            A().axpby(v, 1, v, -R()(j, k), q(j));
        }
        return normalise(v, A().dot(v, v));
    }
};

}  // namespace

Orthogonaliser mgs() {
    return {.name = "mgs",
            .source = "modified Gram-Schmidt; Lockhart 2023, section 6.2",
            .use = "few columns, few ranks: k + 1 all-reduces of a word for a column beside k",
            .add =
                [](long k) {
                    return QRCost{k + 1, k + 1, 40 * k + 40};
                },
            .make = make_qr<ModifiedGramSchmidt>};
}

}  // namespace keel
