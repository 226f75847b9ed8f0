#pragma once

// The memory of a dry run, estimated before any of it is taken: from sizes alone, so that all machines that
// are large enough refuse the same. Estimates are within a factor of 3 of what dry runs took, more often
// above than below. They bound the time, too, but for iterations of Krylov methods in proxy solves.

#include <algorithm>
#include <limits>
#include <string>

namespace keel {

// Bytes to lay out so many boxes, or to choose them among the positions of problem.shape = "tags".
inline double bytes_of_boxes(double boxes) {
    return 32 * boxes;
}

// run.dry_run_limit; but no more than half of a rank's share of the memory here, since others need some, too.
struct DryRunLimit {
    double gigabytes = 2;
    double bytes_here = std::numeric_limits<double>::infinity();

    double bytes() const { return std::min(1e9 * gigabytes, bytes_here); }
    bool allows(double bytes_needed) const { return bytes_needed <= bytes(); }
    // "a dry run takes about 3 GB, and may take 2 GB: choose REMEDY, or run.dry_run_limit = 3"; empty where
    // so many bytes are allowed.
    std::string exceeded_by(double bytes_needed, const std::string& remedy) const;
};

}  // namespace keel
