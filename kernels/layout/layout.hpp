#pragma once

// How one level is cut into equal boxes, cubes or, in two dimensions, squares, and which rank owns each of
// them.

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "kernels/layout/box.hpp"
#include "kernels/layout/domain.hpp"
#include "kernels/names.hpp"

namespace keel {

enum class Placement { curve, lexicographic, round_robin, scattered };
constexpr auto names_of(Placement) {
    return std::array{"curve", "lexicographic", "round_robin", "scattered"};
}

// Box counts per direction whose product is `boxes`, as close to a cube as the factors of `boxes` allow, or
// to a square in two dimensions, the largest count first.
Index most_cubic(int boxes, std::size_t dimensions = 3);

// The owner of every box of a domain, by their numbers. Every rank gets floor or ceil(boxes / ranks) boxes.
// `curve` walks the boxes in Morton order.
std::vector<int> place(const Domain& domain, int ranks, Placement placement);
inline std::vector<int> place(const Index& boxes, int ranks, Placement placement) {  // a grid of boxes
    return place(Domain(boxes, {}), ranks, placement);
}

// One level as `rank` sees it. Cheap to copy: the owners are shared between levels and copies.
class Layout {
  public:
    // width: cells per box edge; owners: one per box.
    Layout(const Domain& domain, int width, std::vector<int> owners, int rank);
    // All boxes, `boxes` per direction.
    Layout(Index boxes, int width, Boundaries boundaries, std::vector<int> owners, int rank)
        : Layout(Domain(boxes, boundaries), width, std::move(owners), rank) {}

    Layout coarsened() const;  // the same boxes at half the width

    const Domain& domain() const { return domain_; }
    const Index& boxes() const { return domain_.around(); }  // per direction, of the box around the domain
    std::size_t dimensions() const { return domain_.dimensions(); }
    int width() const { return width_; }
    Index extent() const { return in_each_direction(width_, dimensions(), 1); }  // cells of a box
    Region box_cells() const { return {{}, extent()}; }
    Region box_faces(std::size_t direction) const {  // also those that are lower ones of the cells beyond
        Region faces = box_cells();
        faces.size[direction] += 1;
        return faces;
    }
    Index layers(int n) const { return in_each_direction(n, dimensions(), 0); }  // n layers around a box
    Index cells() const { return extent() * boxes(); }  // per direction, of the box around the domain
    std::size_t cell_count() const;                     // of the domain
    const Boundaries& boundaries() const { return domain_.boundaries(); }
    // Whether cells next to each other are of different colours across periodic boundaries, too.
    bool colours_alternate() const;
    double spacing() const;  // h: the longest side of the box around the domain has length 1
    int rank() const { return rank_; }

    int box_count() const { return domain_.count(); }
    int owner(int box) const { return (*owners_)[static_cast<std::size_t>(box)]; }
    Index position(int box) const { return domain_.position(box); }
    Index first_cell(int box) const { return width_ * position(box); }
    // The box at position(box) + offset, wrapped where periodic; nothing beyond a boundary.
    std::optional<int> neighbour(int box, const Index& offset) const {
        return domain_.neighbour(box, offset);
    }
    // The boundary on the face between cells index-1 and index in a direction, if the domain has only one of
    // the two cells; it has at least one.
    std::optional<Boundary> boundary_at(std::size_t direction, const Index& face) const;

    std::span<const int> local() const { return *local_; }  // this rank's boxes, ascending
    int local_count() const { return static_cast<int>(local_->size()); }
    int local_index(int box) const;  // position in local() of a box that this rank owns
    std::size_t local_cells() const;

  private:
    Domain domain_;
    int width_;
    std::shared_ptr<const std::vector<int>> owners_;
    std::shared_ptr<const std::vector<int>> local_;
    int rank_;
};

}  // namespace keel
