#pragma once

// Values of a problem that files give (files/numpy_file.hpp): f of every cell, an array by x, y and z of the
// box around the domain; u on Dirichlet faces, an array for each side of that box by its other directions.

#include <compare>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernels/layout/layout.hpp"
#include "miniapp/deck/parameters.hpp"

namespace keel {

// A side of the box around a domain.
struct DomainSide {
    std::size_t direction = 0;
    bool high = false;

    friend auto operator<=>(const DomainSide&, const DomainSide&) = default;
};

// The array of f or, on a side, that of u.
struct FileArray {
    std::string file;
    std::optional<DomainSide> side = {};
    Index shape{};
    std::size_t axes = 3;

    const char* key() const { return side ? "problem.data" : "problem.rhs"; }
};

inline bool reads_files(const ProblemOptions& problem) {
    return problem.rhs == Rhs::file || problem.data == BoundaryData::file;
}
// The arrays that a problem reads.
std::vector<FileArray> arrays_of(const ProblemOptions& problem, const Domain& domain);
double bytes_of_arrays(const ProblemOptions& problem, const Domain& domain);

struct FileFault {
    std::string key;
    std::string reason;  // with the remedy
};
// The first fault of each array: none of its kind and shape; and, in every `step`-th box from `first` on, a
// value that is not finite. A step of 0 looks into no box. Purely local.
std::vector<FileFault> faults_of_arrays(const ProblemOptions& problem, const Domain& domain, int first = 0,
                                        int step = 0);

// The values of a rank's boxes.
class FileValues {
  public:
    // Throws std::runtime_error where a file cannot be read.
    FileValues(const ProblemOptions& problem, const Layout& finest);
    // f of a cell or, with a side, u on its face there. The rank owns the cell.
    double at(const Index& cell, const std::optional<DomainSide>& side = {}) const;

  private:
    Layout finest_;
    // By array and number of the box, x fastest.
    std::map<std::optional<DomainSide>, std::map<int, std::vector<double>>> values_;
};

}  // namespace keel
