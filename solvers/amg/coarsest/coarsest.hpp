#pragma once

// The interface of a solver of the coarsest level.

#include "kernels/layout/field.hpp"

namespace keel {

// The counts of conjugate gradients so far; the same on all ranks that have rows of the level.
struct CoarsestVisits {
    long visits = 0;
    long iterations = 0;
    long missed = 0;  // visits whose true residual was above the tolerance

    CoarsestVisits& operator+=(const CoarsestVisits& other) {
        visits += other.visits;
        iterations += other.iterations;
        missed += other.missed;
        return *this;
    }
    friend CoarsestVisits operator-(const CoarsestVisits& a, const CoarsestVisits& b) {
        return {a.visits - b.visits, a.iterations - b.iterations, a.missed - b.missed};
    }
};

class Coarsest {
  public:
    virtual ~Coarsest() = default;

    // Whether there is no solution; the same on all ranks.
    virtual bool singular() const { return false; }
    // Whether it is not the same operator twice, since it stops by a tolerance.
    virtual bool varies() const { return false; }
    // x = A^-1 b, or about that, from zero, at this rank's rows; neither's ghosts are read. Collective.
    virtual void solve(Field x, Field b) = 0;

    virtual CoarsestVisits visits() const { return {}; }
};

}  // namespace keel
