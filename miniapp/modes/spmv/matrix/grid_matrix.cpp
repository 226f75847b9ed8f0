#include "miniapp/modes/spmv/matrix/matrix_source.hpp"

#include <memory>

#include "kernels/bodies/stencil.hpp"
#include "miniapp/setup/problem/problem.hpp"

namespace keel {
namespace {

Layout layout_of(const GridOperator& grid) {
    // The owners of the boxes play no part.
    return {grid.domain, grid.problem.box, std::vector<int>(static_cast<std::size_t>(grid.domain.count()), 0),
            0};
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
        double faces = 0;
        for (std::size_t d = 0; d < finest_.dimensions(); ++d) {
            Index upper = at;
            upper[d] += 1;
            here.faces[d] = {formulas_.face[d](at), formulas_.face[d](upper)};
            faces = faces + here.faces[d].low + here.faces[d].high;
        }
        // As CompleteDiagonal and StencilView have it, to the last bit.
        here.diagonal = 1 / inverse_of_diagonal(formulas_.a_alpha(at) + faces, faces);
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
