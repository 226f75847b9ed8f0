#include "solvers/krylov/s_step/s_step.hpp"

#include <algorithm>
#include <cmath>

#include "solvers/krylov/s_step/basis.hpp"

namespace keel {

std::vector<int> outer_steps(const BottomOptions& options) {
    std::vector<int> steps;
    for (int s = 1; options.telescoping && s < options.s; s *= 2) steps.push_back(s);
    steps.push_back(options.s);
    return steps;
}

Eigen::MatrixXd operator_in_basis(const Recurrence& A, std::initializer_list<Eigen::Index> sizes) {
    Eigen::Index total = 0;
    for (const Eigen::Index size : sizes) total += size;
    Eigen::MatrixXd T = Eigen::MatrixXd::Zero(total, total);
    Eigen::Index first = 0;
    for (const Eigen::Index size : sizes) {
        for (Eigen::Index i = 0; i + 1 < size; ++i) {
            const auto n = static_cast<std::size_t>(i);
            const Eigen::Index column = first + i;
            T(column + 1, column) = A.gamma[n];
            T(column, column) = A.theta[n];
            if (i > 0) T(column - 1, column) = A.sigma[n];
        }
        first += size;
    }
    return T;
}

namespace {

template <class Coordinates>
void to_doubles(const Coordinates& c, std::vector<double>::iterator values) {
    std::transform(c.begin(), c.end(), values, [](const auto& x) { return static_cast<double>(x); });
}

}  // namespace

template <class Scalar>
double PairSpace<Scalar>::bytes(int degree) {
    const auto n = 2 * static_cast<std::size_t>(degree) + 1;
    return static_cast<double>(sizeof(Scalar) * (2 * n * n + gram_pairs(n, 1)));
}

template <class Scalar>
PairSpace<Scalar>::PairSpace(const BottomOptions& options, const Spectrum& spectrum, int degree,
                             std::span<const LinearSystem::Vector> vectors)
    : sequential_(options.powers == Powers::sequential), basis_(options.basis), degree_(degree) {
    const auto m = static_cast<std::size_t>(degree);
    const Eigen::Index n = 2 * degree + 1;
    update(spectrum);
    G.resize(n, n);
    g.resize(n);
    Gc_.resize(n);
    terms_.resize(2 * m + 2);
    e_.assign(2 * m + 2, 1.0);
    a_.resize(2 * m + 1);
    c_.resize(2 * m + 1);
    sums_.resize(gram_pairs(2 * m + 1, 1));
    std::copy_n(vectors.begin(), m, V().begin() + 1);  // P_1 .. P_m
    std::copy_n(vectors.begin() + degree, m - 1,
                V().begin() + static_cast<std::ptrdiff_t>(m) + 2);  // R_1 .. R_m-1
}

template <class Scalar>
void PairSpace<Scalar>::update(const Spectrum& spectrum) {
    recurrence_ = recurrence(basis_, degree_, spectrum);
    T = operator_in_basis(recurrence_, {degree_ + 1, degree_}).cast<Scalar>();
}

template <class Scalar>
void PairSpace<Scalar>::span(LinearSystem& A, LinearSystem::Vector p, LinearSystem::Vector r,
                             std::span<const LinearSystem::Vector> y) {
    const std::size_t m = recurrence_.gamma.size();
    const auto P = V().first(m + 1);
    const auto R = V().last(m);
    P[0] = p;
    R[0] = r;
    if (sequential_) {
        A.powers(std::array{LinearSystem::Vectors(P)}, recurrence_);
        A.powers(std::array{LinearSystem::Vectors(R)}, recurrence_);
    } else {
        A.powers(std::array{LinearSystem::Vectors(P), LinearSystem::Vectors(R)}, recurrence_);
    }

    const auto sums = std::span(sums_).first(gram_pairs(V().size(), y.size()));
    A.gram(V(), y, sums);
    auto next = sums.begin();
    for (Eigen::Index i = 0; i < size(); ++i) {
        for (Eigen::Index j = i; j < size(); ++j) G(i, j) = G(j, i) = *next++;
        if (!y.empty()) g(i) = *next++;
    }
}

template <class Scalar>
void PairSpace<Scalar>::add(LinearSystem& A, LinearSystem::Vector x, const Coordinates& e) {
    terms_[0] = x;
    to_doubles(e, e_.begin() + 1);
    A.combine(x, e_, terms_);
}

template <class Scalar>
void PairSpace<Scalar>::advance(LinearSystem& A, LinearSystem::Vector x, const Coordinates& e,
                                LinearSystem::Vector next_p, const Coordinates& a, LinearSystem::Vector r,
                                const Coordinates& c) {
    terms_[0] = x;
    to_doubles(e, e_.begin() + 1);
    to_doubles(a, a_.begin());
    to_doubles(c, c_.begin());
    A.combine_all(
        std::array{Combination{x, e_, terms_}, Combination{next_p, a_, V()}, Combination{r, c_, V()}});
}

template <class Scalar>
Scalar PairSpace<Scalar>::norm(const Coordinates& c) {
    Gc_.noalias() = G * c;
    const Scalar square = c.dot(Gc_);
    using std::sqrt;
    return square < Scalar(0) ? Scalar(0) : sqrt(square);
}

template class PairSpace<double>;
template class PairSpace<DoubleDouble>;

}  // namespace keel
