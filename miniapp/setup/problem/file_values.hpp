#pragma once

// Values of a problem that files give (files/numpy_file.hpp): f of every cell, an array by x, y and z of the
// box around the domain; u on Dirichlet faces, an array for each side of that box by its other directions.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernels/layout/layout.hpp"
#include "miniapp/deck/parameters.hpp"

namespace keel {

inline bool reads_files(const ProblemOptions& problem) {
    return problem.rhs == Rhs::file || problem.data == BoundaryData::file;
}

// For each array that is not as the problem needs it, or has in every `step`-th box from `first` on a value
// that is not finite: the key, and the reason with the remedy. A step of 0 looks into no box. Purely local.
std::vector<std::pair<std::string, std::string>> faults_of_files(const ProblemOptions& problem,
                                                                 const Domain& domain, int first = 0,
                                                                 int step = 0);

// A remark on each array whose values are converted. Purely local.
std::vector<std::string> remarks_on_files(const ProblemOptions& problem, const Domain& domain);
// The same remark on a file that `key` names.
std::string remark_on_conversion(const std::string& key, const std::string& file);

// The values of a rank's boxes.
class FileValues {
  public:
    static constexpr int no_side = -1;

    // Throws std::runtime_error where a file cannot be read.
    FileValues(const ProblemOptions& problem, const Layout& finest);
    // f of a cell that the rank owns or, on side 2 d + (0 low, 1 high) of direction d, u on its face there.
    double at(const Index& cell, int side = no_side) const;

  private:
    Layout finest_;
    std::map<int, std::map<int, std::vector<double>>> values_;  // by side and box, x fastest
};

}  // namespace keel
