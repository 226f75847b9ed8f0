#pragma once

// Approximations M to the inverse of an operator A.

#include <string>

#include "kernels/layout/precision.hpp"
#include "solvers/systems/linear_system.hpp"

namespace keel {

class Preconditioner {
  public:
    using Vector = LinearSystem::Vector;

    virtual ~Preconditioner() = default;
    // z = M r; they differ. Unless it varies() M is linear and the same in every application, on which Krylov
    // methods rely, and without all-reduces, as one would end the overlap of pipelined methods. Collective.
    void apply(Vector z, Vector r) {
        ++applications_;
        multiply(z, r);
    }
    long applications() const { return applications_; }
    // Whether M is symmetric, as CG's family wants it.
    virtual bool symmetric() const { return true; }
    // Whether M is another operator in each application, as one is that solves by a tolerance: for flexible
    // methods alone.
    virtual bool varies() const { return false; }
    // The precision in which M computes, by whose rounding it may miss being linear.
    virtual Precision precision() const { return Precision::fp64; }
    // Whether flexible methods take M for another operator in each application.
    bool wants_flexible() const { return varies() || precision() == Precision::fp32; }
    // The quantity that vanished when M was made; empty: none did. Else there is no M to apply.
    virtual std::string vanished() const { return {}; }

  private:
    virtual void multiply(Vector z, Vector r) = 0;

    long applications_ = 0;
};

}  // namespace keel
