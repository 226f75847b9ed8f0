#pragma once

// A grid level as a linear system, optionally scaled by its diagonal.
//
// Given deep ghosts, it makes bases of Krylov spaces as Demmel, Hoemmen, Mohiyuddin and Yelick 2008 (PA1) do:
// one exchange of d ghost layers from all 26 neighbours, then d powers without another, each on one layer of
// ghost cells less: work that the neighbours do as well. In a box of n^3 cells the first power is (1 + 2
// (d-1) / n)^3 applications, so it is worth it only where messages are dear and boxes are not small. The
// values are those of one exchange for every power, to the last bit. These exchanges are not overlapped with
// work. In one pass, the powers between two exchanges read the operator once for all of them (PA1's blocks
// that fit the cache, Operations::powers): the same values again.

#include <vector>

#include "solvers/systems/linear_system.hpp"

namespace keel {

// The exchange of the ghost layers of all 26 neighbours that some powers of the operator need, of how many
// layers, and whether the powers between two of them are one pass over memory. The operator's coefficients
// must be current there, and zero outside the domain and on its boundary (Hierarchy).
struct DeepGhosts {
    Exchange* exchange = nullptr;
    int layers = 0;
    bool one_pass = false;
};

class GridSystem : public LinearSystem {
  public:
    // At most `at_once` vectors are applied to in one call. Nothing is owned: operations, exchanges and
    // reduction must outlive this object.
    // `singular`: constants are in the null space of L; split() then makes columns that are in A's range.
    GridSystem(Operations& operations, Exchange& exchange, Reduction& reduction, const Stencil& L,
               DiagonalScaling scaling, std::size_t at_once = 1, DeepGhosts deep = {}, bool singular = false);
    // Flops per cell of one application of the operator, the scaling included: 13, in two dimensions 9, and 1
    // (right) or 2 (symmetric) more.
    static double application_flops(DiagonalScaling scaling, std::size_t dimensions = 3);

    Vector make_vector() override { return operations_.make_field(); }
    // With deep ghosts of d layers: an exchange for every d powers.
    void powers(std::span<const Vectors> bases, Recurrence recurrence) override;
    using LinearSystem::powers_and_gram;
    void powers_and_gram(std::span<const Vectors> bases, Recurrence recurrence, std::span<const Vector> x,
                         std::span<const Vector> y, std::span<double> results) override;
    void fill(Vector y, double value) override { operations_.fill(y, value); }
    // With one all-reduce if the problem is singular.
    void split(std::span<const Vector> columns, Vector r, Splitting splitting) override;
    Squares squares(Vector r) override;
    Counts counts() const override;
    std::optional<Alone> alone() override;
    void update() override;

  private:
    void multiply(std::span<const Vector> y, std::span<const Vector> x) override;
    void number_columns(Vector numbers, Splitting splitting, int columns) override;
    void project_on_range(std::span<const Vector> columns);
    // The powers from v_first on that one exchange serves, of each basis.
    void powers_in_one_pass(std::span<const Vectors> bases, std::size_t first, Recurrence recurrence,
                            GramEnd* end);
    // `end`: only where one exchange serves all powers, and those are one pass.
    void deep_powers(std::span<const Vectors> bases, Recurrence recurrence, GramEnd* end);
    void power(Vectors v, std::size_t i, int layers, const Relation& relation);

    Stencil L_;
    DeepGhosts deep_;
    bool singular_;
    double unit_ = 1.0;          // a power of two, times which D is far from under- and overflow
    std::vector<Field> scaled_;  // scale x, of the vectors applied to at once
    std::vector<Product> products_;
    std::vector<double> sums_;
    std::vector<ThreeTerms> terms_;  // for the powers that are made in one pass
};

}  // namespace keel
