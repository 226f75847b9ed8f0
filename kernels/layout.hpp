#pragma once

// How one level is cut into equal cubic boxes, and which rank owns each of them.

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kernels/box.hpp"
#include "kernels/names.hpp"

namespace keel {

enum class Boundary { periodic, dirichlet, neumann };
constexpr auto names_of(Boundary) {
    return std::array{Named<Boundary>{Boundary::periodic, "periodic"},
                      Named<Boundary>{Boundary::dirichlet, "dirichlet"},
                      Named<Boundary>{Boundary::neumann, "neumann"}};
}

enum class Placement { curve, lexicographic, round_robin, scattered };
constexpr auto names_of(Placement) {
    return std::array{Named<Placement>{Placement::curve, "curve"},
                      Named<Placement>{Placement::lexicographic, "lexicographic"},
                      Named<Placement>{Placement::round_robin, "round_robin"},
                      Named<Placement>{Placement::scattered, "scattered"}};
}

using Boundaries = std::array<Boundary, 3>;

// Box counts per direction whose product is `boxes`, as close to a cube as the factors of `boxes` allow,
// the largest count first.
Index most_cubic(int boxes);

// The owner of every box of a grid of `boxes`, lexicographic order (x fastest). Every rank gets
// floor or ceil(boxes / ranks) boxes. `curve` walks the boxes in Morton order.
std::vector<int> place(Index boxes, int ranks, Placement placement);

// One level as `rank` sees it. Cheap to copy: the owners are shared between levels and copies.
class Layout {
  public:
    // boxes: per direction; width: cells per box edge; owners: one per box, lexicographic.
    Layout(Index boxes, int width, Boundaries boundaries, std::vector<int> owners, int rank);

    Layout coarsened() const;  // the same boxes at half the width

    Index boxes() const { return boxes_; }
    int width() const { return width_; }
    Index cells() const { return width_ * boxes_; }  // of the whole level, per direction
    std::size_t cell_count() const { return product(cells()); }
    const Boundaries& boundaries() const { return boundaries_; }
    double spacing() const;  // h: the longest side of the domain has length 1
    int rank() const { return rank_; }

    int box_count() const { return static_cast<int>(owners_->size()); }
    int owner(int box) const { return (*owners_)[static_cast<std::size_t>(box)]; }
    Index position(int box) const;  // of a box among the boxes
    Index first_cell(int box) const { return width_ * position(box); }
    // The box at position(box) + offset, wrapped where periodic; nothing beyond a physical boundary.
    std::optional<int> neighbour(int box, Index offset) const;

    std::span<const int> local() const { return *local_; }  // this rank's boxes, ascending
    int local_count() const { return static_cast<int>(local_->size()); }
    int local_index(int box) const;  // position in local() of a box that this rank owns
    std::size_t local_cells() const;

  private:
    Index boxes_;
    int width_;
    Boundaries boundaries_;
    std::shared_ptr<const std::vector<int>> owners_;
    std::shared_ptr<const std::vector<int>> local_;
    int rank_;
};

}  // namespace keel
