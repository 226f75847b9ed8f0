#include "solvers/systems/linear_system.hpp"

#include <cmath>

#include "kernels/bodies/norms.hpp"
#include "kernels/check.hpp"
#include "solvers/systems/preconditioners/preconditioner.hpp"

namespace keel {

LinearSystem::LinearSystem(Operations& operations, Exchange& exchange, Reduction& reduction,
                           DiagonalScaling scaling, std::size_t at_once)
    : operations_(operations),
      exchange_(exchange),
      reduction_(reduction),
      scaling_(scaling),
      at_once_(at_once) {
    exchange_.reserve(at_once);
}

void LinearSystem::precondition_from_right(Preconditioner& M) {
    right_ = &M;
    while (preconditioned_.size() < at_once_) preconditioned_.push_back(make_vector());
}

void LinearSystem::take_natural_norm(Preconditioner& M) {
    natural_ = &M;
    Mr_ = make_vector();
}

void LinearSystem::apply(std::span<const Vector> y, std::span<const Vector> x) {
    if (right_ == nullptr) return multiply(y, x);
    check_at_most(x.size(), at_once_, "no more vectors at once than the system was made for");
    for (std::size_t n = 0; n < x.size(); ++n) right_->apply(preconditioned_[n], x[n]);
    multiply(y, std::span(preconditioned_).first(x.size()));
}

Squares LinearSystem::squares(Vector r) {
    if (natural_ == nullptr) return {.own = dot(r, r)};
    natural_->apply(Mr_, r);
    const auto [natural, rr] = dots({{r, Mr_}, {r, r}});
    // M is positive definite: r . M r is zero for r = 0 alone.
    return {.own = natural > 0 || rr == 0.0 ? natural : HUGE_VAL, .unscaled = rr};
}

void LinearSystem::combine(Vector y, std::span<const double> c, std::span<const Vector> x) {
    operations_.combine(y, c, x);
    reduction_.progress();
}

void LinearSystem::combine_all(std::span<const Combination> combinations) {
    operations_.combine_all(combinations);
    reduction_.progress();
}

void LinearSystem::prepare_split(std::size_t columns, Splitting splitting) {
    const std::pair wanted{columns, splitting};
    if (column_numbers_ == Field()) column_numbers_ = make_vector();
    if (numbered_ != wanted) number_columns(column_numbers_, splitting, static_cast<int>(columns));
    numbered_ = wanted;
}

void LinearSystem::split(std::span<const Vector> columns, Vector r, Splitting splitting) {
    prepare_split(columns.size(), splitting);
    for (std::size_t n = 0; n < columns.size(); ++n)
        operations_.map(columns[n], Select{static_cast<double>(n)}, r, column_numbers_);
}

std::span<double> LinearSystem::parts(std::size_t sums) {
    parts_.resize(sums * static_cast<std::size_t>(operations_.layout().local_count()));
    return parts_;
}

std::span<double> LinearSystem::local_sums(std::span<const Product> products) {
    const auto local = parts(products.size());
    operations_.dots(products, local);
    return local;
}

void LinearSystem::dots(std::span<const Product> products, std::span<double> results) {
    reduction_.sum(local_sums(products), results);
}

AllReduceRequest LinearSystem::begin_dots(std::span<const Product> products) {
    return reduction_.begin_sum(local_sums(products), products.size());
}

double LinearSystem::max_norm(Vector x) {
    double norm = 0;
    operations_.max_norm(x, norm);
    return reduction_.max(norm);
}

void LinearSystem::gram(std::span<const Vector> x, std::span<const Vector> y, std::span<double> results) {
    const auto local = parts(gram_pairs(x.size(), y.size()));
    operations_.gram(x, y, GramAccuracy::plain, local);
    reduction_.sum(local, results);
}

void LinearSystem::gram(std::span<const Vector> x, std::span<const Vector> y,
                        std::span<DoubleDouble> results) {
    const auto local = parts(2 * gram_pairs(x.size(), y.size()));
    operations_.gram(x, y, GramAccuracy::doubled, local);
    reduction_.sum(local, results);
}

void LinearSystem::count(const Counts& spent) {
    applications_ += spent.applications;
    exchange_.count_copied(spent.exchanges);
    reduction_.count_summed(spent.reductions, spent.words);
}

Counts LinearSystem::counts() const {
    const Reductions reductions = reduction_.count();
    return {applications_, exchange_.count(), reductions.calls, reductions.words};
}

void LinearSystem::scale_right_side(Vector b, Field f) {
    if (scaling_ == DiagonalScaling::symmetric)
        operations_.multiply(b, scale_, f);
    else
        operations_.copy(b, f);
}

void LinearSystem::unscale_solution(Field u, Vector y) {
    if (scaling_ == DiagonalScaling::none)
        operations_.copy(u, y);
    else
        operations_.multiply(u, scale_, y);
}

void LinearSystem::powers(std::span<const Vectors> bases, Recurrence recurrence) {
    check_at_most(bases.size(), most_bases, "no more bases at once than there is room for");
    std::array<Vector, most_bases> from, to;
    for (std::size_t i = 0;; ++i) {
        std::size_t count = 0;
        for (const Vectors v : bases) {
            if (i + 1 >= v.size()) continue;
            from[count] = v[i];
            to[count++] = v[i + 1];
        }
        if (count == 0) return;
        apply(std::span(to).first(count), std::span(from).first(count));
        for (const Vectors v : bases)
            if (i + 1 < v.size()) recur(v[i + 1], v, i, recurrence[i]);
    }
}

void LinearSystem::recur(Vector next, Vectors v, std::size_t i, const Relation& relation) {
    const auto [a, b, c] = relation.next();
    if (c != 0.0)
        combine(next, {a, b, c}, {next, v[i], v[i - 1]});
    else if (a != 1.0 || b != 0.0)
        axpby(next, a, next, b, v[i]);
}

void LinearSystem::powers_and_gram(std::span<const Vectors> bases, Recurrence recurrence,
                                   std::span<const Vector> x, std::span<const Vector> y,
                                   std::span<double> results) {
    powers(bases, recurrence);
    gram(x, y, results);
}

void LinearSystem::powers_and_gram(std::span<const Vectors> bases, Recurrence recurrence,
                                   std::span<const Vector> x, std::span<const Vector> y,
                                   std::span<DoubleDouble> results) {
    powers(bases, recurrence);
    gram(x, y, results);
}

double LinearSystem::norm(Vector x, double weight) {
    if (natural_) return std::sqrt(weight * squares(x).own);
    return bodies::norm(*this, x, weight);
}

double LinearSystem::unit(Vector x) {
    return bodies::unit(*this, x);
}

}  // namespace keel
