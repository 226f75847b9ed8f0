#pragma once

namespace keel {

// An interval that holds the eigenvalues of a system.
struct Spectrum {
    double lowest = 0;
    double highest = 0;
};

}  // namespace keel
