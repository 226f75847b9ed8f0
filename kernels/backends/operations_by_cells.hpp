#pragma once

// Operations cell by cell and one pass after the other. Other backends compute the same by rows or in one
// pass.

#include <type_traits>

#include "kernels/backends/half_sweeps.hpp"
#include "kernels/backends/operations_on.hpp"
#include "kernels/check.hpp"

namespace keel {

// Half sweeps, and the residual that follows them, in either precision. Base: as of HalfSweepsOn.
template <class Base, class Real = double>
class UnfusedHalfSweeps : public HalfSweepsOn<Base, Real> {
  public:
    using HalfSweepsOn<Base, Real>::HalfSweepsOn;

    Work smooth(Field u, const Stencil& L, Field f, const HalfSweeps& sweeps, const PassEnd& end) override {
        check(!end.restricted || end.norm == nullptr, "a pass ends with the restricted residual or its norm");
        const bool ends = end.restricted || end.norm != nullptr;
        Work work = this->relax_one_by_one(ends ? 1 : 0, u, L, f, sweeps);
        if (end.norm != nullptr) *end.norm = 0;
        if (!ends || L.part == Part::interior) return work;
        const Stencil unsolved = L.on(Part::all).of(sweeps.unsolved());
        return work += end.restricted ? this->restrict_residual(*end.restricted, unsolved, u, f)
                                      : this->residual_norm(unsolved, u, f, *end.norm);
    }
};

// All operations that other backends fuse into one pass over memory. Base: OperationsOn, or a class derived
// from it.
template <class Base>
class UnfusedOperations : public UnfusedHalfSweeps<Base> {
  public:
    using UnfusedHalfSweeps<Base>::UnfusedHalfSweeps;

    Work gram(std::span<const Field> x, std::span<const Field> y, GramAccuracy accuracy,
              std::span<double> sums) override {
        if (accuracy == GramAccuracy::doubled) return this->accurate_gram(x, y, sums);
        this->check_gram(x, y, sums);
        this->for_pairs(x, y, [&](std::size_t terms, const InnerProducts& body) {
            this->sum_by_box(terms, body, sums.data());
            sums = sums.subspan(terms * this->windows().size());
        });
        return this->gram_work(x.size(), y.size());
    }
    Work powers(std::span<const BasisVectors> bases, const ScaledStencil& A,
                std::span<const ThreeTerms> recurrences, GramEnd*) override {
        this->check_powers(bases, A, recurrences.size());
        return this->of_kind(A, [&](auto D, auto scaling) {
            const auto make = [&](const BasisVectors& basis, std::size_t n, Field next) {
                const auto body = this->template next_vector<D, scaling>(next, basis, A, recurrences[n], n);
                this->backend().for_each_cell(this->cells_for(next), body);
            };
            return this->power_by_power(bases, A, recurrences, make);
        });
    }
};

// Transfers between levels, in either precision. Base: CycleOperationsOn, or a class derived from it.
template <class Base, class Real = double>
class TransfersByCells : public Base {
  public:
    using Base::Base;

    Work restrict_residual(Field coarse, const Stencil& L, Field u, Field f) override {
        return this->in_dimensions([&](auto D) {
            return this->template with_residual<D>(L, u, f, [&](const auto& residual) {
                using Fine = std::decay_t<decltype(residual)>;
                return this->on(this->coarser(coarse, L.part),
                                RestrictResidual<D, Real, Fine>{this->view_of(coarse), residual});
            });
        });
    }
    Work interpolate_add(Field fine, Field coarse, Interpolation interpolation,
                         std::optional<Colour> colour) override {
        const Cells cells = this->of_colour(colour);
        return this->with_interpolation(fine, coarse, interpolation, [&](const auto& body) {
            using Body = std::decay_t<decltype(body)>;
            if (colour)
                this->backend().for_each_cell(cells, OneColour<Body>{body});
            else
                this->backend().for_each_cell(cells, body);
            return this->template work_of_interpolation<Body>(cells);
        });
    }
};

template <class Backend>
using OperationsByCells = UnfusedOperations<TransfersByCells<OperationsOn<Backend>>>;

}  // namespace keel
