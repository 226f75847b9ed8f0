#pragma once

// Methods of the table for a system that a test has made.

#include <functional>
#include <memory>
#include <string>

#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/methods.hpp"

namespace keel::test {

using Make = std::function<std::unique_ptr<KrylovMethod>(LinearSystem&)>;

// For a system whose eigenvalues lie in the spectrum; solver of the options plays no part.
inline Make made(const std::string& solver, const BottomOptions& options = {},
                 const Spectrum& spectrum = {}) {
    return [=](LinearSystem& A) { return method_named(solver).make(A, options, spectrum); };
}

// Solves of one system by one method, under the verify-and-restart rule.
class Restarted {
  public:
    Restarted(LinearSystem& A, const Make& make) : A_(A), method_(make(A)), own_(A) {}

    Report solve(Field x, Field b, const Stop& stop) {
        return verify_and_restart(A_, *method_, own_, x, b, stop);
    }

  private:
    LinearSystem& A_;
    std::unique_ptr<KrylovMethod> method_;
    RestartVectors own_;
};

inline Report solved(LinearSystem& A, const Make& make, Field x, Field b, const Stop& stop) {
    return Restarted(A, make).solve(x, b, stop);
}

}  // namespace keel::test
