#include "solvers/krylov/s_step/s_step.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/bodies/vector.hpp"
#include "solvers/krylov/s_step/basis.hpp"

namespace keel {

std::vector<int> outer_steps(const BottomOptions& options) {
    std::vector<int> steps;
    for (int s = 1; options.telescoping && s < options.s; s *= 2) steps.push_back(s);
    steps.push_back(options.s);
    return steps;
}

void preconditioned_powers(LinearSystem& A, Preconditioner& M, std::span<const LinearSystem::Vectors> bases,
                           std::span<const LinearSystem::Vectors> partners, Recurrence recurrence) {
    std::array<LinearSystem::Vector, most_bases> from, to;
    for (std::size_t i = 0;; ++i) {
        std::size_t count = 0;
        for (std::size_t n = 0; n < bases.size(); ++n) {
            if (i + 1 >= partners[n].size()) continue;
            from[count] = bases[n][i];
            to[count++] = partners[n][i + 1];
        }
        if (count == 0) return;
        A.apply(std::span(to).first(count), std::span(from).first(count));
        for (std::size_t n = 0; n < bases.size(); ++n) {
            if (i + 1 >= partners[n].size()) continue;
            A.recur(partners[n][i + 1], partners[n], i, recurrence[i]);
            if (i + 1 < bases[n].size()) M.apply(bases[n][i + 1], partners[n][i + 1]);
        }
    }
}

template <class Scalar>
Scalar applied_in_bases(Recurrence recurrence, int i, const std::vector<Scalar>& x) {
    const int longer = static_cast<int>(recurrence.size()) + 1;
    const int length = i < longer ? longer : longer - 1;
    const int k = i < longer ? i : i - longer;
    Scalar sum(0);
    if (k > 0) sum += Scalar(recurrence[at(k - 1)].gamma) * x[at(i - 1)];
    if (k + 1 < length) sum += Scalar(recurrence[at(k)].theta) * x[at(i)];
    if (k + 2 < length) sum += Scalar(recurrence[at(k + 1)].sigma) * x[at(i + 1)];
    return sum;
}

template <class Scalar>
PairSpace<Scalar>::PairSpace(const MethodSetup& setup, int degree_per_s)
    : A_(setup.A), M_(setup.M), options_(setup.options), degree_per_s_(degree_per_s) {
    while (own_.size() < at(2 * degree_per_s * options_.s - 1)) {
        own_.push_back(A_.make_vector());
        if (M_) own_partners_.push_back(A_.make_vector());
    }
    choose(0, options_.s);  // the largest room
    adopt(setup.spectrum);
    begin();
}

template <class Scalar>
void PairSpace<Scalar>::adopt(const Spectrum& spectrum) {
    relations_.clear();
    for (const int steps : outer_steps(options_)) {
        const auto some = keel::recurrence(options_.basis, degree_per_s_ * steps, spectrum);
        relations_.insert(relations_.end(), some.begin(), some.end());
    }
}

template <class Scalar>
void PairSpace<Scalar>::begin() {
    choose(0, outer_steps(options_).front());
}

template <class Scalar>
void PairSpace<Scalar>::lengthen() {
    if (s < options_.s) choose(first_ + at(degree()), std::min(2 * s, options_.s));
}

template <class Scalar>
void PairSpace<Scalar>::choose(std::size_t first, int length) {
    first_ = first;
    s = length;
    const std::size_t n = at(size());
    G_.resize(n * n);
    sums_.resize(gram_pairs(n, 1));
    for (Coordinates* coordinates : {&a, &c, &e, &d, &Ta, &Td, &GT, &g, &Gx_}) coordinates->resize(n);
    for (std::vector<double>* factors : {&of_p_, &of_r_}) factors->resize(n);
    terms_.resize(n + 1);
    if (M_) partners_.resize(n);
}

template <class Scalar>
void PairSpace<Scalar>::place(std::span<Vector> V, Vector p, Vector r, std::span<const Vector> own) const {
    for (std::size_t i = 0, next = 0; i < V.size(); ++i)
        V[i] = i == 0 ? p : i == at(place_of_r()) ? r : own[next++];
}

template <class Scalar>
void PairSpace<Scalar>::make_bases(std::span<const Vector> y, std::span<Scalar> sums) {
    const auto parts = [&](std::span<const Vector> V) {
        return std::array{V.first(at(degree() + 1)), V.last(at(degree()))};
    };
    const std::span<const Vector> V = basis();
    const auto bases = parts(V);
    const std::size_t at_once = options_.powers == Powers::sequential ? 1 : 2;
    if (M_) {
        const auto partners = parts(partners_);
        for (std::size_t n = 0; n < 2; n += at_once)
            preconditioned_powers(A_, *M_, std::span(bases).subspan(n, at_once),
                                  std::span(partners).subspan(n, at_once), recurrence());
        products_.clear();
        for (std::size_t i = 0; i < V.size(); ++i)
            for (std::size_t j = i; j < V.size(); ++j) products_.push_back({partners_[i], V[j]});
        made_.resize(products_.size());
        A_.dots(products_, made_);
        std::ranges::copy(made_, sums.begin());
    } else if (at_once == 2) {
        A_.powers_and_gram(bases, recurrence(), V, y, sums);
    } else {
        A_.powers(std::span(bases).first(1), recurrence());
        A_.powers(std::span(bases).last(1), recurrence());
        A_.gram(V, y, sums);
    }
}

template <class Scalar>
void PairSpace<Scalar>::span(Vector x, Vector p, Vector r, std::span<const Vector> y,
                             const std::array<Vector, 2>& partners) {
    terms_[0] = x;
    place(std::span(terms_).subspan(1), p, r, own_);
    if (M_) place(partners_, partners[0], partners[1], own_partners_);
    const std::span<const Vector> V = basis();
    const std::span<Scalar> sums = std::span(sums_).first(gram_pairs(V.size(), y.size()));
    make_bases(y, sums);
    const std::size_t n = V.size();
    const Scalar* next = sums.data();
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = i; j < n; ++j) G_[i * n + j] = G_[j * n + i] = *next++;
        if (!y.empty()) g[i] = *next++;
        a[i] = Scalar(i == 0 ? 1.0 : 0.0);
        c[i] = Scalar(i == at(place_of_r()) ? 1.0 : 0.0);
        e[i] = Scalar(0);
    }
}

template <class Scalar>
void PairSpace<Scalar>::apply(Coordinates& y, const Coordinates& x) const {
    for (int i = 0; i < size(); ++i) y[at(i)] = applied_in_bases(recurrence(), i, x);
}

template <class Scalar>
void PairSpace<Scalar>::weigh(Coordinates& y, const Coordinates& x) const {
    const Scalar* row = G_.data();
    for (Scalar& sum : y) {
        sum = Scalar(0);
        for (const Scalar& value : x) sum += *row++ * value;
    }
}

template <class Scalar>
Scalar PairSpace<Scalar>::dot(const Coordinates& x, const Coordinates& y) const {
    Scalar sum(0);
    for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
    return sum;
}

template <class Scalar>
void PairSpace<Scalar>::add(Coordinates& z, const Coordinates& x, Scalar b, const Coordinates& y) const {
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = x[i] + b * y[i];
}

template <class Scalar>
Scalar PairSpace<Scalar>::norm(const Coordinates& x) {
    weigh(Gx_, x);
    const Scalar square = dot(x, Gx_);
    using std::sqrt;
    return square < Scalar(0) ? Scalar(0) : sqrt(square);
}

template <class Scalar>
void PairSpace<Scalar>::combine(Vector next_p, bool all) {
    of_x_.assign(1, 1.0);
    for (std::size_t i = 0; i < e.size(); ++i) {
        of_x_.push_back(static_cast<double>(e[i]));
        of_p_[i] = static_cast<double>(a[i]);
        of_r_[i] = static_cast<double>(c[i]);
    }
    const Vector x = terms_[0];
    const Vector r = basis()[at(place_of_r())];
    const LinearSystem::Combination combinations[]{
        {x, of_x_, terms_}, {next_p, of_p_, basis()}, {r, of_r_, basis()}};
    A_.combine_all(std::span(combinations).first(all ? 3 : 1));
}

template <class Scalar>
void PairSpace<Scalar>::combine_partners(Vector next_p) {
    const LinearSystem::Combination combinations[]{{next_p, of_p_, partners_},
                                                   {partners_[at(place_of_r())], of_r_, partners_}};
    A_.combine_all(combinations);
}

template double applied_in_bases(Recurrence, int, const std::vector<double>&);
template class PairSpace<double>;
template class PairSpace<DoubleDouble>;

}  // namespace keel
