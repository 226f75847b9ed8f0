#include "solvers/krylov/gmres/arnoldi.hpp"

#include <cmath>

#include "kernels/bodies/vector.hpp"
#include "solvers/systems/preconditioners/preconditioner.hpp"

namespace keel {

Arnoldi::Arnoldi(const MethodSetup& setup) : A(setup.A), M(setup.M) {
    const auto most = static_cast<std::size_t>(setup.options.restart);
    H_.assign(most, std::vector<double>(most + 1));
    factors_.reserve(most + 2);
    terms_.reserve(most + 2);
    if (M == nullptr) return;
    const int kept = M->wants_flexible() ? setup.options.restart : 1;
    for (int k = 0; k < kept; ++k) Mv_.push_back(A.make_vector());
}

void Arnoldi::begin(Vector r, double norm) {
    known_ = 0;
    take_first(r, norm);
}

void Arnoldi::apply(Vector w, Vector v, std::size_t k) {
    if (M == nullptr) return A.apply(w, v);
    const Vector Mv = Mv_[M->wants_flexible() ? k : 0];
    M->apply(Mv, v);
    A.apply(w, Mv);
}

void Arnoldi::add(Vector y, double c, std::span<const double> d, std::span<const Vector> x) {
    factors_.assign(1, c);
    terms_.assign(1, y);
    factors_.insert(factors_.end(), d.begin(), d.end());
    terms_.insert(terms_.end(), x.begin(), x.begin() + static_cast<std::ptrdiff_t>(d.size()));
    A.combine(y, factors_, terms_);
}

void Arnoldi::form(Vector w, std::span<const double> y) {
    y = on_basis(y);
    A.combine(w, y, basis().first(y.size()));
}

double Arnoldi::orthogonality() {
    if (known_ == 0) return 0;
    form_basis();
    std::vector<double> products(gram_pairs(known_, 0));
    A.gram(basis().first(known_), {}, products);
    double sum = 0;
    const double* next = products.data();
    for (std::size_t i = 0; i < known_; ++i) {
        sum += (*next - 1) * (*next - 1);
        ++next;
        for (std::size_t j = i + 1; j < known_; ++j, ++next) sum += 2 * *next * *next;
    }
    return std::sqrt(sum);
}

void Arnoldi::correct(Vector x, std::span<const double> y) {
    y = on_basis(y);
    if (M == nullptr) return add(x, 1, y, basis());
    if (M->wants_flexible()) return add(x, 1, y, Mv_);
    const Vector Vy = basis().back();
    A.combine(Vy, y, basis().first(y.size()));
    M->apply(Mv_[0], Vy);
    A.axpby(x, 1, x, 1, Mv_[0]);
}

}  // namespace keel
