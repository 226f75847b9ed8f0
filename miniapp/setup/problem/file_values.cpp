#include "miniapp/setup/problem/file_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "miniapp/files/named_files.hpp"
#include "miniapp/files/numpy_file.hpp"

namespace keel {
namespace {

constexpr int no_side = FileValues::no_side;

// Numbers of cells without the direction across the side, `beyond` behind the others.
Index along(int side, const Index& cells, int beyond) {
    if (side == no_side) return cells;
    Index rest{beyond, beyond, beyond};
    std::size_t n = 0;
    for (int d = 0; d < 3; ++d)
        if (d != side / 2) rest[n++] = cells[static_cast<std::size_t>(d)];
    return rest;
}

// An array of a problem, by its side.
struct FileArray {
    const ProblemOptions& problem;
    const Domain& domain;
    int side = no_side;

    std::string file() const {
        return side == no_side ? problem.rhs_file : file_of_side(problem.data_file, side);
    }
    std::string key() const { return side == no_side ? "problem.rhs" : "problem.data"; }
    NumpyFile open() const {
        const Index cells = extent() * domain.around();
        return {file(), along(side, cells, 1), domain.dimensions() - (side == no_side ? 0 : 1)};
    }
    Index extent() const { return in_each_direction(problem.box, domain.dimensions(), 1); }
    // The part that a box has; nothing where it is not at the side.
    std::optional<Region> part(int box) const {
        const Index position = domain.position(box);
        const auto d = static_cast<std::size_t>(side / 2);
        if (side != no_side && position[d] != (side % 2 == 1 ? domain.around()[d] - 1 : 0)) return {};
        return Region{along(side, problem.box * position, 0), along(side, extent(), 1)};
    }
};

// The arrays that a problem reads.
std::vector<FileArray> arrays_of(const ProblemOptions& problem, const Domain& domain) {
    std::vector<FileArray> arrays;
    if (problem.rhs == Rhs::file) arrays.push_back({problem, domain});
    for (int side = 0; side < 2 * static_cast<int>(domain.dimensions()); ++side) {
        const auto& [low, high] = domain.boundaries()[static_cast<std::size_t>(side / 2)];
        if (problem.data == BoundaryData::file && (side % 2 == 1 ? high : low) == Boundary::dirichlet)
            arrays.push_back({problem, domain, side});
    }
    return arrays;
}

void check_finite(const std::vector<double>& values, const Region& part) {
    const auto wrong = std::ranges::find_if_not(values, [](double v) { return std::isfinite(v); });
    if (wrong == values.end()) return;
    const auto n = static_cast<int>(wrong - values.begin());
    const auto [x, y, z] = part.size;
    throw NumpyFileError(fmt::format("has {} at [{}, {}, {}]; give finite numbers alone", *wrong,
                                     part.lo[0] + n % x, part.lo[1] + n / x % y, part.lo[2] + n / x / y));
}

}  // namespace

std::vector<std::pair<std::string, std::string>> faults_of_files(const ProblemOptions& problem,
                                                                 const Domain& domain, int first, int step) {
    std::vector<std::pair<std::string, std::string>> faults;
    for (const FileArray& array : arrays_of(problem, domain)) try {
            NumpyFile file = array.open();
            for (int box = first; step > 0 && box < domain.count(); box += step)
                if (const auto part = array.part(box)) check_finite(file.read(*part), *part);
        } catch (const NumpyFileError& error) {
            faults.emplace_back(array.key(),
                                (array.side == no_side ? "" : array.file() + ": ") + error.what());
        }
    return faults;
}

std::string remark_on_conversion(const std::string& key, const std::string& file) {
    return fmt::format("{} = \"{}\": its values are float32 and are converted to float64", key, file);
}

std::vector<std::string> remarks_on_files(const ProblemOptions& problem, const Domain& domain) {
    std::vector<std::string> remarks;
    for (const FileArray& array : arrays_of(problem, domain)) try {
            if (array.open().is_single()) remarks.push_back(remark_on_conversion(array.key(), array.file()));
        } catch (const NumpyFileError& error) {
            throw std::runtime_error(array.file() + ": " + error.what());
        }
    return remarks;
}

FileValues::FileValues(const ProblemOptions& problem, const Layout& finest) : finest_(finest) {
    for (const FileArray& array : arrays_of(problem, finest_.domain())) try {
            NumpyFile file = array.open();
            for (const int box : finest.local())
                if (const auto part = array.part(box)) values_[array.side][box] = file.read(*part);
        } catch (const NumpyFileError& error) {
            throw std::runtime_error(array.file() + ": " + error.what());
        }
}

double FileValues::at(const Index& cell, int side) const {
    const int width = finest_.width();
    const int box = finest_.domain().box_at({cell[0] / width, cell[1] / width, cell[2] / width}).value();
    const auto [x, y, z] = along(side, cell + -finest_.first_cell(box), 0);
    const Index n = along(side, finest_.extent(), 1);
    const std::size_t row =
        static_cast<std::size_t>(z) * static_cast<std::size_t>(n[1]) + static_cast<std::size_t>(y);
    return values_.at(side).at(box)[row * static_cast<std::size_t>(n[0]) + static_cast<std::size_t>(x)];
}

}  // namespace keel
