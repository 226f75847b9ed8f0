#include "miniapp/setup/problem/file_values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>

#include "miniapp/files/numpy_file.hpp"

namespace keel {
namespace {

// Numbers of cells without the direction across the side, `beyond` behind the others.
Index along(const std::optional<DomainSide>& side, const Index& cells, int beyond) {
    if (!side) return cells;
    Index rest{beyond, beyond, beyond};
    std::size_t n = 0;
    for (std::size_t d = 0; d < 3; ++d)
        if (d != side->direction) rest[n++] = cells[d];
    return rest;
}

Index cells_of_box(const ProblemOptions& problem) {
    return in_each_direction(problem.box, static_cast<std::size_t>(problem.dimensions), 1);
}

// The part of the array that a box has; nothing where it is not at the array's side.
std::optional<Region> part_of_box(const FileArray& array, const ProblemOptions& problem, const Domain& domain,
                                  const Index& position) {
    if (array.side) {
        const auto [d, high] = *array.side;
        if (position[d] != (high ? domain.around()[d] - 1 : 0)) return {};
    }
    return Region{along(array.side, problem.box * position, 0), along(array.side, cells_of_box(problem), 1)};
}

}  // namespace

std::vector<FileArray> arrays_of(const ProblemOptions& problem, const Domain& domain) {
    const Index cells = cells_of_box(problem) * domain.around();
    std::vector<FileArray> arrays;
    if (problem.rhs == Rhs::file) arrays.push_back({problem.rhs_file, {}, cells, domain.dimensions()});
    if (problem.data != BoundaryData::file) return arrays;
    for (std::size_t d = 0; d < domain.dimensions(); ++d)
        for (const bool high : {false, true}) {
            const Sides<Boundary>& sides = domain.boundaries()[d];
            if ((high ? sides.high : sides.low) != Boundary::dirichlet) continue;
            const DomainSide side{d, high};
            arrays.push_back({file_of_side(problem.data_file, d, high), side, along(side, cells, 1),
                              domain.dimensions() - 1});
        }
    return arrays;
}

double bytes_of_arrays(const ProblemOptions& problem, const Domain& domain) {
    double values = 0;
    for (const FileArray& array : arrays_of(problem, domain))
        values +=
            array.side ? static_cast<double>(product(array.shape)) : domain.count() * problem.box_cells();
    return sizeof(double) * values;
}

std::vector<FileFault> faults_of_arrays(const ProblemOptions& problem, const Domain& domain, int first,
                                        int step) {
    std::vector<FileFault> faults;
    for (const FileArray& array : arrays_of(problem, domain)) try {
            const NumpyFile file(array.file, array.shape, array.axes);
            const auto look = [&](const Index& at, std::span<const double> run) {
                const auto wrong = std::ranges::find_if_not(run, [](double v) { return std::isfinite(v); });
                if (wrong == run.end()) return;
                Index place = at;
                place[file.fast_axis()] += static_cast<int>(wrong - run.begin());
                throw NumpyFileError(fmt::format(
                    "has {} at [{}]; give finite numbers alone", *wrong,
                    fmt::join(place.begin(), place.begin() + static_cast<long>(array.axes), ", ")));
            };
            for (int box = first; step > 0 && box < domain.count(); box += step)
                if (const auto part = part_of_box(array, problem, domain, domain.position(box)))
                    file.read(*part, look);
        } catch (const NumpyFileError& error) {
            const std::string of_side = array.side ? array.file + ": " : "";  // the key names the pattern
            faults.push_back({array.key(), of_side + error.what()});
        }
    return faults;
}

FileValues::FileValues(const ProblemOptions& problem, const Layout& finest) : finest_(finest) {
    for (const FileArray& array : arrays_of(problem, finest.domain())) try {
            const NumpyFile file(array.file, array.shape, array.axes);
            for (const int box : finest.local())
                if (const auto part = part_of_box(array, problem, finest.domain(), finest.position(box)))
                    values_[array.side][box] = file.values(*part);
        } catch (const NumpyFileError& error) {
            throw std::runtime_error(fmt::format("{}: {}: {}", array.key(), array.file, error.what()));
        }
}

double FileValues::at(const Index& cell, const std::optional<DomainSide>& side) const {
    const int width = finest_.width();
    const int box = finest_.domain().box_at({cell[0] / width, cell[1] / width, cell[2] / width}).value();
    const Index at = along(side, cell + -finest_.first_cell(box), 0);
    const Index n = along(side, finest_.extent(), 1);
    const std::size_t place = static_cast<std::size_t>(at[0]) +
                              static_cast<std::size_t>(n[0]) * static_cast<std::size_t>(at[1] + n[1] * at[2]);
    return values_.at(side).at(box)[place];
}

}  // namespace keel
