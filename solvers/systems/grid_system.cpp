#include "solvers/systems/grid_system.hpp"

#include <algorithm>

#include "kernels/bodies/stencil.hpp"
#include "kernels/bodies/vector.hpp"
#include "kernels/check.hpp"
#include "solvers/systems/splitting.hpp"

namespace keel {

GridSystem::GridSystem(Operations& operations, Exchange& exchange, Reduction& reduction, const Stencil& L,
                       DiagonalScaling scaling, std::size_t at_once, DeepGhosts deep, bool singular)
    : LinearSystem(operations, exchange, reduction, scaling, at_once),
      L_(L),
      deep_(deep),
      singular_(singular) {
    if (scaling == DiagonalScaling::none) return;
    for (std::size_t n = 0; n < at_once; ++n) scaled_.push_back(make_vector());
    scale_ = L.inverse_diagonal;
    if (scaling == DiagonalScaling::symmetric) scale_ = make_vector();
    update();
}

void GridSystem::update() {
    if (scaling_ != DiagonalScaling::symmetric) return;
    operations_.square_root(scale_.with_ghosts(deep_.layers), L_.inverse_diagonal);
    const Vector D = scaled_.front();
    operations_.fill(D, 1.0);
    operations_.divide(D, D, L_.inverse_diagonal);
    const double of_diagonal = unit(D);
    operations_.fill(D, 0.0);  // outside the domain, too
    unit_ = of_diagonal < 0x1p-200 || of_diagonal > 0x1p200 ? of_diagonal : 1.0;
}

double GridSystem::application_flops(DiagonalScaling scaling, std::size_t dimensions) {
    const int multiplications = scaling == DiagonalScaling::none    ? 0
                                : scaling == DiagonalScaling::right ? 1
                                                                    : 2;
    const double of_operator = dimensions == 2 ? Apply<2>::cost.flops : Apply<3>::cost.flops;
    return of_operator + multiplications * Multiply::cost.flops;
}

void GridSystem::multiply(std::span<const Vector> y, std::span<const Vector> x) {
    applications_ += static_cast<long>(x.size());
    std::span<const Vector> operands = x;
    if (scaling_ != DiagonalScaling::none) {
        check_at_most(x.size(), scaled_.size(), "no more vectors at once than the system was made for");
        operands = std::span(scaled_).first(x.size());
        for (std::size_t n = 0; n < x.size(); ++n) operations_.multiply(operands[n], scale_, x[n]);
        reduction_.progress();
    }
    exchange_.run(operands, [&](Part part) {
        for (std::size_t n = 0; n < x.size(); ++n) operations_.apply(y[n], L_.on(part), operands[n]);
    });
    reduction_.progress();
    if (scaling_ != DiagonalScaling::symmetric) return;
    for (std::size_t n = 0; n < x.size(); ++n) operations_.multiply(y[n], scale_, y[n]);
}

void GridSystem::split(std::span<const Vector> columns, Vector r, Splitting splitting) {
    LinearSystem::split(columns, r, splitting);
    if (singular_) project_on_range(columns);
}

void GridSystem::number_columns(Vector numbers, Splitting splitting, int columns) {
    const Layout& layout = operations_.layout();
    const Bricks bricks = bricks_of(splitting, layout, columns);
    operations_.assign(numbers, layout.box_cells(),
                       [&](const Index& cell) { return bricks.column_of(cell); });
}

// The constants are orthogonal to the range of L and of L D^-1; D^1/2 times them to that of D^-1/2 L D^-1/2.
void GridSystem::project_on_range(std::span<const Vector> columns) {
    const auto cells = static_cast<double>(operations_.layout().cell_count());
    sums_.resize(columns.size() + 1);
    if (scaling_ != DiagonalScaling::symmetric) {
        const auto local = parts(columns.size());
        const std::size_t boxes = local.size() / columns.size();
        for (std::size_t n = 0; n < columns.size(); ++n)
            operations_.totals(columns[n], local.subspan(n * boxes, boxes));
        reduction_.sum(local, std::span(sums_).first(columns.size()));
        for (std::size_t n = 0; n < columns.size(); ++n) operations_.shift(columns[n], -sums_[n] / cells);
        return;
    }
    const Vector v = scaled_.front();
    operations_.divide(v, scale_, L_.inverse_diagonal);
    products_.clear();
    for (const Vector column : columns) products_.push_back({v, column});
    products_.push_back({v, v});
    dots(products_, sums_);
    for (std::size_t n = 0; n < columns.size(); ++n)
        axpby(columns[n], 1, columns[n], -sums_[n] / sums_.back(), v);
}

void GridSystem::powers(std::span<const Vectors> bases, Recurrence recurrence) {
    if (deep_.exchange == nullptr) return LinearSystem::powers(bases, recurrence);
    deep_powers(bases, recurrence, nullptr);
}

void GridSystem::powers_and_gram(std::span<const Vectors> bases, Recurrence recurrence,
                                 std::span<const Vector> x, std::span<const Vector> y,
                                 std::span<double> results) {
    if (!deep_.one_pass || deep_.layers < static_cast<int>(recurrence.size()))
        return LinearSystem::powers_and_gram(bases, recurrence, x, y, results);
    GramEnd end{y, parts(results.size())};
    deep_powers(bases, recurrence, &end);
    if (!end.made) return gram(x, y, results);
    reduction_.sum(end.sums, results);
}

void GridSystem::deep_powers(std::span<const Vectors> bases, Recurrence recurrence, GramEnd* end) {
    const auto depth = static_cast<std::size_t>(deep_.layers);
    const auto last_after = [&](std::size_t first,
                                Vectors v) {  // the last power that the same exchange serves
        return std::min(first + depth, v.size() - 1);
    };
    std::array<Vector, 2 * most_bases> sent;
    for (std::size_t first = 0;; first += depth) {
        std::size_t count = 0;
        for (const Vectors v : bases) {
            if (first + 1 >= v.size()) continue;
            sent[count++] = v[first];
            // Three terms: v_{first-1} has too few layers, unless only one power follows.
            if (first > 0 && recurrence[first].sigma != 0.0 && last_after(first, v) > first + 1)
                sent[count++] = v[first - 1];
        }
        if (count == 0) return;
        deep_.exchange->run(std::span(sent).first(count));
        if (deep_.one_pass) {
            powers_in_one_pass(bases, first, recurrence, end);
            continue;
        }
        for (std::size_t i = first; i < first + depth; ++i)
            for (const Vectors v : bases)
                if (i + 1 < v.size())
                    power(v, i, static_cast<int>(last_after(first, v) - (i + 1)), recurrence[i]);
    }
}

void GridSystem::powers_in_one_pass(std::span<const Vectors> bases, std::size_t first, Recurrence recurrence,
                                    GramEnd* end) {
    std::array<BasisVectors, most_bases> made;
    std::size_t count = 0;
    std::size_t longest = 0;
    for (const Vectors v : bases) {
        // A basis without powers is part of the Gram matrix.
        if (first + 1 >= v.size() && end == nullptr) continue;
        const std::size_t powers = std::min(static_cast<std::size_t>(deep_.layers), v.size() - 1 - first);
        made[count++] = {v.subspan(first, powers + 1), first > 0 ? v[first - 1] : Vector()};
        longest = std::max(longest, powers);
        applications_ += static_cast<long>(powers);
    }
    terms_.clear();
    for (std::size_t i = first; i < first + longest; ++i) terms_.push_back(recurrence[i].next());
    operations_.powers(std::span(made).first(count), {L_, scale_, scaling_}, terms_, end);
    reduction_.progress();
}

// v_{i+1} on `layers` ghost layers
void GridSystem::power(Vectors v, std::size_t i, int layers, const Relation& relation) {
    ++applications_;
    const Vector next = v[i + 1].with_ghosts(layers);
    if (scaling_ == DiagonalScaling::none) {
        operations_.apply(next, L_, v[i]);
    } else {
        operations_.multiply(scaled_[0].with_ghosts(layers + 1), scale_, v[i]);
        operations_.apply(next, L_, scaled_[0]);
    }
    if (scaling_ == DiagonalScaling::symmetric) operations_.multiply(next, scale_, next);
    recur(next, v, i, relation);
    reduction_.progress();
}

// (D^-1/2 r, D D^-1/2 r) = (r,r)
Squares GridSystem::squares(Vector r) {
    if (scaling_ != DiagonalScaling::symmetric) return LinearSystem::squares(r);
    const Vector Dr = scaled_.front();
    operations_.divide(Dr, r, L_.inverse_diagonal);
    if (unit_ != 1.0) operations_.scale(Dr, unit_, Dr);
    const auto [own, unscaled] = LinearSystem::dots({{r, r}, {r, Dr}});
    return {own, unscaled};
}

std::optional<LinearSystem::Alone> GridSystem::alone() {
    const std::optional<Items<BlockCopy>> copies = exchange_.copies_alone();
    if (!copies || !reduction_.alone()) return std::nullopt;
    return Alone{operations_, *copies, {L_, scale_, scaling_}, unit_};
}

Counts GridSystem::counts() const {
    Counts counts = LinearSystem::counts();
    if (deep_.exchange != nullptr) counts.exchanges += deep_.exchange->count();
    return counts;
}

}  // namespace keel
