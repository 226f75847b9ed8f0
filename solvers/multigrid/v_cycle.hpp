#pragma once

// One V-cycle as a preconditioner of the finest level's operator.

#include "solvers/multigrid/multigrid.hpp"
#include "solvers/systems/preconditioners/preconditioner.hpp"

namespace keel {

class VCycle : public Preconditioner {
  public:
    // multigrid: its cycle and tolerance play no part. The bottom is relaxed, in `bottom_sweeps`: a Krylov
    // method there would make M differ from one application to the next. M is symmetric if multigrid.pre =
    // multigrid.post and the interpolation is constant, which makes it the transpose of the restriction times
    // 8: GSRB relaxes red before black on the way down and black before red on the way up. Cycles of a mixed
    // hierarchy compute, and others may send, in single precision, in which max|r| is to be far from 1e-38
    // and 1e38. The hierarchy, of two levels or more, must outlive this object.
    VCycle(Hierarchy& hierarchy, const MultigridOptions& multigrid, int bottom_sweeps);

    bool symmetric() const override { return symmetric_; }
    Precision precision() const override { return precision_; }

  private:
    // Overwrites r of the finest level and u, f, r of the coarser ones.
    void multiply(Vector z, Vector r) override;

    Multigrid multigrid_;
    bool symmetric_;
    Precision precision_;
};

}  // namespace keel
