#pragma once

// Arnoldi's relation A M V_k = V_{k+1} H_k: V has orthonormal columns that span the Krylov space of A M and
// r, and H is upper Hessenberg. The forms differ in how they make a new column orthogonal, and so in
// all-reduces.

#include <memory>
#include <span>
#include <vector>

#include "solvers/krylov/krylov.hpp"
#include "solvers/orthogonalise/orthogonalisers.hpp"

namespace keel {

class Arnoldi {
  public:
    using Vector = LinearSystem::Vector;

    virtual ~Arnoldi() = default;

    // v_1 = r / norm, where `norm` is |r|. r is not changed. Collective, as all that follows.
    void begin(Vector r, double norm);
    // Applies A M to the newest vector, or its powers, and makes the next one, or ones, of the result.
    virtual void extend() = 0;
    // Makes columns of H known, or known to rounding, where extend() has left them open.
    virtual void conclude() {}

    // The columns of H that are known. Column k has k + 2 entries, k from 0.
    std::size_t known() const { return known_; }
    std::span<const double> column(std::size_t k) const { return std::span(H_[k]).first(k + 2); }
    // The columns of H that the next extend() or conclude() leaves as they are.
    virtual std::size_t settled() const { return known_; }
    virtual std::span<const Vector> basis() const = 0;  // the columns of V, or vectors that span the same

    void form(Vector w, std::span<const double> y);  // w = V y
    // x += M V y. A fixed M is applied once; of one that varies each M v was kept.
    void correct(Vector x, std::span<const double> y);
    virtual void adopt(const Spectrum&) {}  // as KrylovMethod
    double orthogonality();                 // as KrylovMethod, of as many columns of V as H has

  protected:
    explicit Arnoldi(const MethodSetup& setup);

    virtual void take_first(Vector r, double norm) = 0;
    // Coordinates on basis() of V y.
    virtual std::span<const double> on_basis(std::span<const double> y) { return y; }
    virtual void form_basis() {}  // makes basis() V itself, and ends the cycle
    // w = A M v, v the k-th column of V, from 0.
    void apply(Vector w, Vector v, std::size_t k);
    // y = c y + SUM d_n x_n
    void add(Vector y, double c, std::span<const double> d, std::span<const Vector> x);

    // Leaves `known` columns of H.
    void forget(std::size_t known) { known_ = known; }
    // The next column of H, which is known from now on.
    std::span<double> next_column() {
        std::vector<double>& column = H_[known_++];
        return std::span(column).first(known_ + 1);
    }

    LinearSystem& A;
    Preconditioner* const M;
    std::vector<Vector> Mv_;  // M v: one for each column where M varies, else one for all

  private:
    std::vector<std::vector<double>> H_;  // columns
    std::size_t known_ = 0;
    std::vector<double> factors_;
    std::vector<Vector> terms_;
};

// By the form that the options name, for bottom.restart columns of H.
std::unique_ptr<Arnoldi> make_arnoldi(const MethodSetup& setup);
// By panels of bottom.s columns (s_step/ca_gmres.cpp).
std::unique_ptr<Arnoldi> make_panels(const MethodSetup& setup);

// GMRES (gmres.cpp).
std::unique_ptr<KrylovMethod> gmres_on(const MethodSetup& setup, std::unique_ptr<Arnoldi> V);

// The costs of a whole cycle of bottom.restart iterations, besides the applications.
struct ArnoldiCost {
    double reductions = 0, words = 0, flops = 0, vectors = 0;
};
ArnoldiCost cost_of_arnoldi(const BottomOptions& options);

}  // namespace keel
