#pragma once

// s-step methods on pairs of bases (kernels/bodies/krylov/pair_space.hpp), as ranks run them.

#include <memory>
#include <span>
#include <vector>

#include "kernels/bodies/krylov/pair_space.hpp"
#include "kernels/double_double.hpp"
#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/options.hpp"
#include "solvers/systems/linear_system.hpp"
#include "solvers/systems/spectrum.hpp"

namespace keel {

// The s of the outer steps of a run; the last one stays.
std::vector<int> outer_steps(const BottomOptions& options);

// The relations of the bases of all outer steps, one after the other. The spectrum, that of A, plays no part
// for the monomial basis.
std::vector<Relation> relations_of(const BottomOptions& options, int degree_per_s, const Spectrum& spectrum);
OuterSteps outer_steps(const BottomOptions& options, int degree_per_s, std::span<const Relation> relations);

template <class Scalar>
class PairMethod : public MethodOfSystem {
  public:
    using Memory = bodies::PairMemory<LinearSystem::Vector, Scalar>;
    using Space = bodies::PairSpace<LinearSystem, Scalar, std::span<const LinearSystem::Vector>>;

    PairMethod(const MethodSetup& setup, int degree_per_s);

    void adopt(const Spectrum& spectrum) override;
    // At the first outer step.
    Space space();

  protected:
    Vector p = vector(), next_p = vector();

  private:
    int degree_per_s_;
    std::vector<Relation> relations_;
    std::vector<Vector> own_, terms_;
    std::vector<Scalar> scalars_;
    std::vector<double> coefficients_;
};

// Makes a method whose Scalar the options choose.
template <template <class Scalar> class Kind>
std::unique_ptr<KrylovMethod> made_in_precision(const MethodSetup& setup) {
    if (setup.options.gram_precision == GramPrecision::twofold)
        return std::make_unique<Kind<DoubleDouble>>(setup);
    return std::make_unique<Kind<double>>(setup);
}

}  // namespace keel
