#pragma once

// The domain of a problem: equal boxes in a box around them. All of that, or a union of some of them; what
// bounds it is of one kind on each side of the box around it, and of one kind wherever a neighbour is missing
// inside that.

#include <memory>
#include <optional>
#include <vector>

#include "kernels/layout/box.hpp"
#include "kernels/names.hpp"

namespace keel {

enum class Boundary { periodic, dirichlet, neumann };
constexpr auto names_of(Boundary) {
    return std::array{"periodic", "dirichlet", "neumann"};
}

// By direction and side; periodic on both sides or on none.
using Boundaries = std::array<Sides<Boundary>, 3>;

class Domain {
  public:
    // All boxes, `around` per direction; in two dimensions they are squares, one layer of them.
    Domain(Index around, Boundaries boundaries, int dimensions = 3);
    // Only the boxes `present`, by their lexicographic numbers (x fastest) in ascending order. The boundary
    // to a missing neighbour in the box around them, wrapped where that is periodic, is `outside`.
    Domain(Index around, Boundaries boundaries, std::vector<int> present, Boundary outside,
           int dimensions = 3);

    const Index& around() const { return around_; }  // boxes, per direction
    // The directions d < dimensions() are those that there are.
    std::size_t dimensions() const { return dimensions_; }
    const Boundaries& boundaries() const { return boundaries_; }
    bool whole() const { return !present_; }  // no box is missing
    // Boxes are numbered in lexicographic order, those that are missing left out.
    int count() const { return count_; }
    Index position(int box) const;
    // The box there, wrapped where periodic; nothing beyond a boundary.
    std::optional<int> box_at(Index position) const;
    std::optional<int> neighbour(int box, const Index& offset) const {
        return box_at(position(box) + offset);
    }
    bool has_dirichlet() const;  // any face of its boundary
    // The boundary of a box at this position towards a side where no box is.
    Boundary kind(const Index& position, std::size_t direction, bool high) const;

  private:
    Index around_;
    Boundaries boundaries_;
    std::size_t dimensions_;
    Boundary outside_ = Boundary::dirichlet;
    std::shared_ptr<const std::vector<int>> present_;  // null: all
    int count_ = 0;
};

// The faces of boxes by what is on them.
struct BoxFaces {
    long interior = 0;   // between two boxes, counted once
    long outer = 0;      // on the box around the domain
    long missing = 0;    // inside it, towards boxes that are missing
    long dirichlet = 0;  // of the outer and the missing ones
    long neumann = 0;
};
BoxFaces faces_of(const Domain& domain);

// Boxes that hang together by their faces.
struct Component {
    int first = 0;  // its box with the lowest number
    int boxes = 0;
    bool dirichlet = false;  // any of its faces is a Dirichlet one
};
// In the order of their first boxes.
std::vector<Component> components_of(const Domain& domain);

}  // namespace keel
