#include "miniapp/modes/spmv/matrix/matrix_source.hpp"

#include <array>
#include <memory>

#include "kernels/bodies/stencil.hpp"
#include "kernels/check.hpp"
#include "miniapp/setup/problem/problem.hpp"

namespace keel {
namespace {

Layout layout_of(const GridOperator& grid) {
    // The owners of the boxes play no part.
    return {grid.domain, grid.problem.box, std::vector<int>(static_cast<std::size_t>(grid.domain.count()), 0),
            0};
}

// The fields of a level of one cell, for the body that completes its diagonal.
template <int D>
double completed_diagonal(double a_alpha, const std::array<Sides<double>, 3>& faces) {
    constexpr Shape shape = Shape::of(1, {1, 1, 1}, 1, D);
    std::array<std::array<double, shape.values()>, 4> values{};
    const auto field = [&](std::size_t n) { return Field(values[n].data(), shape); };
    const Stencil L{field(0), field(1), field(2), field(3)};
    for (std::size_t d = 0; d < D; ++d) {
        const View c = L.faces(d).view();
        c(0, 0, 0, 0) = faces[d].low;
        c(0, d == 0, d == 1, d == 2) = faces[d].high;
    }
    L.inverse_diagonal.view()(0, 0, 0, 0) = a_alpha;
    const StencilView<D> completed(L);
    CompleteDiagonal<D>{completed}(0, 0, 0, 0);
    return completed.diagonal(0, 0, 0, 0);
}

class OperatorRows {
  public:
    explicit OperatorRows(const GridOperator& grid)
        : finest_(layout_of(grid)),
          problem_(grid.problem, finest_),
          formulas_(problem_.operator_formulas()),
          cells_of_box_(static_cast<std::int64_t>(finest_.box_cells().cells())),
          rows_{grid.domain, finest_.extent(), [this](int box) { return box * cells_of_box_; }} {}
    OperatorRows(const OperatorRows&) = delete;  // formulas see the problem

    std::vector<MatrixEntry> operator()(std::int64_t row) const {
        const auto box = static_cast<int>(row / cells_of_box_);
        const auto n = static_cast<int>(row % cells_of_box_);
        const Index extent = finest_.extent();
        const Index cell{n % extent[0], n / extent[0] % extent[1], n / extent[0] / extent[1]};
        const Index at = finest_.first_cell(box) + cell;
        CellCoefficients here;
        for (std::size_t d = 0; d < finest_.dimensions(); ++d) {
            Index upper = at;
            upper[d] += 1;
            here.faces[d] = {formulas_.face[d](at), formulas_.face[d](upper)};
        }
        const double a_alpha = formulas_.a_alpha(at);
        here.diagonal = finest_.dimensions() == 2 ? completed_diagonal<2>(a_alpha, here.faces)
                                                  : completed_diagonal<3>(a_alpha, here.faces);
        return entries_of_cell(rows_, box, cell, here);
    }

  private:
    Layout finest_;
    Problem problem_;
    OperatorFormulas formulas_;
    std::int64_t cells_of_box_;
    CellRows rows_;
};

}  // namespace

Generator grid_operator(const GridOperator& grid) {
    const Domain& domain = grid.domain;
    const double width = grid.problem.box;
    const auto dimensions = static_cast<double>(domain.dimensions());
    const double face = domain.dimensions() == 2 ? width : width * width;  // in cells
    const double boxes = domain.count();
    const double inside = boxes * dimensions * (width - 1) * face;  // faces between cells of a box
    const double between = static_cast<double>(faces_of(domain).interior) * face;
    const double cells = boxes * face * width;
    // Its size alone, which may be too much for a memory, makes no list of boxes.
    return {static_cast<std::int64_t>(cells), cells + 2 * (inside + between),
            [grid, made = std::shared_ptr<const OperatorRows>()](std::int64_t row) mutable {
                if (!made) made = std::make_shared<const OperatorRows>(grid);
                return (*made)(row);
            }};
}

bool is_singular(const MatrixChoice& matrix) {
    return matrix.grid && is_singular(matrix.grid->problem, matrix.grid->domain.has_dirichlet());
}

}  // namespace keel
