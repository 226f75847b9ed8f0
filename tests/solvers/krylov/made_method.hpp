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

}  // namespace keel::test
