#pragma once

// Half sweeps in one pass over memory, with the residual that follows them, in either precision.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/backends/half_sweeps.hpp"
#include "kernels/backends/openmp/wavefront.hpp"
#include "kernels/backends/rows/rows.hpp"
#include "kernels/backends/rows/transfer_rows.hpp"
#include "kernels/check.hpp"

namespace keel {

// --- The stages of a wavefront of half sweeps

// In the first half sweep from zeros, a cell of the other colour (FromZero).
template <class HalfSweep>
struct StillZero {
    HalfSweep half_sweep;

    static constexpr bool repeatable = true;
    auto& cell(int q, int i, int j, int k) const { return half_sweep.cell(q, i, j, k); }
    void operator()(int q, int i, int j, int k) const { cell(q, i, j, k) = 0; }
};

// A half sweep of the cells of one colour by rows; the first one of a pass may start from zeros.
template <class HalfSweep>
struct HalfSweepStage {
    struct OfRow {
        HalfSweep half_sweep;
        Cells cells;
        bool from_zero;

        // The cost of a cell of the colour; from zeros also of a cell of the other colour.
        Cost cost() const { return from_zero ? Cost{1, 2, 2} : HalfSweep::cost; }
        void operator()(int low, int high, int q, int j, int k) const {
            const int first = cells.first(low, q, j, k);
            if (!from_zero) return every_other_in_row(half_sweep, first, high, q, j, k);
            every_other_in_row(FromZero<HalfSweep>{half_sweep}, first, high, q, j, k);
            every_other_in_row(StillZero<HalfSweep>{half_sweep}, first == low ? low + 1 : low, high, q, j, k);
        }
    };

    Cells cells;
    OfRow body;
};

// --- The end of a pass: the residual in rows that are relaxed for good, restricted or its norm

// The restricted residual. A coarse row is made when the last of its fine rows is there, by the sums that
// restrict a row alone.
template <int D, class Row>
class RestrictedResidual final : public EndOfPass {
  public:
    RestrictedResidual(const Row& row, const Cells& coarse) : row_(row), coarse_(coarse) {}

    void take_rows(int q, int from, int to, int k) const override {
        const int plane = D == 2 ? k : k >> 1;
        if (k < 0 || plane >= coarse_.extent[2] || (D == 3 && (k & 1) == 0)) return;
        for (int j = std::max(0, from) >> 1; j < std::min(coarse_.extent[1], to >> 1); ++j)
            take_row(row_, coarse_, q, j, plane);
    }

  private:
    Row row_;
    Cells coarse_;
};

// The norm of the residual, as a maximum of bits (rows.hpp). Any thread may raise it.
template <class Residual>
class LargestResidual final : public EndOfPass {
  public:
    LargestResidual(const Residual& residual, const Cells& cells) : residual_(residual), cells_(cells) {}

    double norm() const { return magnitude(largest_); }

    void take_rows(int q, int from, int to, int k) const override {
        if (k < 0 || k >= cells_.extent[2]) return;
        std::int64_t most = 0;
        const auto look = [&](int low, int high, int box, int j, int plane) {
            const int first = cells_.first(low, box, j, plane);
            most = std::max(most, most_of_every_other(residual_, first, high, box, j, plane));
            if (cells_.colour == Cells::every)
                most = std::max(most, most_of_every_other(residual_, low + 1, high, box, j, plane));
        };
        for (int j = std::max(0, from); j < std::min(cells_.extent[1], to); ++j)
            take_row(look, cells_, q, j, k);
        std::int64_t seen = largest_.load(std::memory_order_relaxed);
        while (seen < most && !largest_.compare_exchange_weak(seen, most, std::memory_order_relaxed)) {
        }
    }

  private:
    Residual residual_;
    Cells cells_;  // cells that count
    mutable std::atomic<std::int64_t> largest_ = 0;
};

// Base: as of HalfSweepsOn.
template <class Base, class Real = double>
class FusedHalfSweeps : public HalfSweepsOn<Base, Real> {
  public:
    using HalfSweepsOn<Base, Real>::HalfSweepsOn;

    Work smooth(Field u, const Stencil& L, Field f, const HalfSweeps& sweeps, const PassEnd& end) override {
        check(!end.restricted || end.norm == nullptr, "a pass ends with the restricted residual or its norm");
        if (end.restricted) return smooth_and_restrict(*end.restricted, u, L, f, sweeps);
        if (end.norm != nullptr) return smooth_and_measure(*end.norm, u, L, f, sweeps);
        if (sweeps.count() == 0 || (sweeps.count() == 1 && sweeps.guess != Guess::zero))
            return this->relax_one_by_one(0, u, L, f, sweeps);
        return this->in_dimensions([&](auto D) { return pass<D>(0, u, L, f, sweeps, nullptr); });
    }

  private:
    using Face = typename Base::Face;

    Work smooth_and_restrict(Field coarse, Field u, const Stencil& L, Field f, const HalfSweeps& sweeps) {
        Cells cells = this->coarser(coarse, L.part);
        Cells fine = cells_of_end(L, sweeps);
        for (std::size_t d = 0; d < 3; ++d) {
            cells.margin[d] = (fine.margin[d] + 1) / 2;
            fine.margin[d] = 2 * cells.margin[d];
        }
        return this->in_dimensions([&](auto D) {
            using Row = RestrictRow<D, Real, Face>;
            const Row row{this->view_of(coarse), this->template residual_body<D>(L, u, f), fine};
            const RestrictedResidual<D, Row> end(row, cells);
            Work work = pass<D>(1, u, L, f, sweeps, &end);
            return work += this->work({row.cost().flops, 0, 1}, cells.count());
        });
    }
    Work smooth_and_measure(double& norm, Field u, const Stencil& L, Field f, const HalfSweeps& sweeps) {
        return this->in_dimensions([&](auto D) {
            const auto residual = this->template residual_body<D>(L, u, f);
            const Cells cells = cells_of_end(L, sweeps);
            const LargestResidual end(residual, cells);
            Work work = pass<D>(1, u, L, f, sweeps, &end);
            norm = end.norm();
            return work += this->work({residual.cost.flops / cells.step(), 0, 0}, cells.count());
        });
    }

    // The cells whose residual a pass ends with. In the interior these are the cells that are relaxed for
    // good, with all their neighbours.
    Cells cells_of_end(const Stencil& L, const HalfSweeps& sweeps) const {
        Cells cells = this->coloured(L.of(sweeps.unsolved()));
        cells.part = L.part;
        cells.margin = this->margin_of_sweeps(1, sweeps);
        return cells;
    }
    // `last`: ghost layers of the last half sweep.
    template <int D>
    Work pass(int last, Field u, const Stencil& L, Field f, const HalfSweeps& sweeps, const EndOfPass* end) {
        check(sweeps.count() > 0, "a pass that ends with a residual has half sweeps");
        return this->template with_relaxation<D>(sweeps.relaxation, [&](const auto& relaxed) {
            using Body = Relax<D, Real, Face>;
            using Stage = HalfSweepStage<std::decay_t<decltype(relaxed(std::declval<Body>()))>>;
            const bool from_zero = sweeps.guess == Guess::zero;
            std::vector<Stage> stages;
            for (int n = 0; n < sweeps.count(); ++n) {
                const auto [cells, body] = this->template half_sweep<D>(n, last, u, L, f, sweeps, relaxed);
                stages.push_back({cells, {body, cells, from_zero && n == 0}});
            }
            // u, f, 1/D and three fields of faces; a plane more than half sweeps on either side.
            const auto row = static_cast<std::size_t>(this->shape().row) * 3 * (sizeof(Real) + sizeof(Face));
            const std::size_t bytes_of_rows = row * (sweeps.colours.size() + 2);
            this->backend().run_in_one_pass(std::span<const Stage>(stages), end,
                                            static_cast<std::ptrdiff_t>(bytes_of_rows), D);
            // A pass from zeros does not read u.
            Cost cost{0, StencilView<D, Real, Face>::faces_read + (from_zero ? 2 : 3), 1};
            if (stages.size() == 1 && end == nullptr) {
                const Cost of_colour = stages.front().body.cost();
                cost = {0, of_colour.reads / 2, of_colour.writes / 2};
            }
            Work work = this->work(cost, stages.front().cells.count());
            for (const Stage& stage : stages)
                work.flops += stage.body.cost().flops * static_cast<double>(stage.cells.count() / 2);
            return work;
        });
    }
};

}  // namespace keel
