#pragma once

// Windows of columns, by all methods that keep a QR factorisation: filled, and their oldest columns replaced.

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "kernels/names.hpp"
#include "solvers/multigrid/level.hpp"
#include "solvers/orthogonalise/orthogonalisers.hpp"
#include "solvers/systems/grid_system.hpp"

namespace keel {

// A phase fills an empty window; or replaces the oldest column; or does that and solves the least-squares
// problem, as an iteration of Anderson acceleration does.
enum class WindowPhase { start_up, recycled, iteration };
constexpr auto names_of(WindowPhase) {
    return std::array{"start_up", "recycled", "iteration"};
}

// The cost of a phase by the method's row.
QRCost window_cost(const Orthogonaliser& row, WindowPhase phase, long depth);

class Windows {
  public:
    // Columns of noise on the cells of a level, which must outlive this object.
    Windows(Level& level, int depth);

    // One phase after the other by a method; `run` is to call its action `times` times. Collective.
    using Run = std::function<void(WindowPhase phase, long times, const std::function<void()>& action)>;
    void all_phases(const Orthogonaliser& method, const Run& run);

    // |X - Q R e_j| / |X| of the worst column after the phases of the last method. Collective.
    double misfit();

  private:
    // Vectors that one method has made are given to the next, since the methods take turns.
    class SharedVectors : public GridSystem {
      public:
        using GridSystem::GridSystem;
        Vector make_vector() override {
            if (next_ == made_.size()) made_.push_back(GridSystem::make_vector());
            return made_[next_++];
        }
        void take_back() { next_ = 0; }

      private:
        std::vector<Vector> made_;
        std::size_t next_ = 0;
    };

    Level& level_;
    GridSystem own_;
    SharedVectors shared_;
    std::vector<Field> x_;
    Field f_;
    std::unique_ptr<QR> qr_;
    std::size_t next_ = 0;  // the column to replace, the oldest one
};

}  // namespace keel
