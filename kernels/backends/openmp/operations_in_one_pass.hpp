#pragma once

// Operations of the OpenMP backend. Beside the verbs of operations_by_rows.hpp they use
//   run_in_one_pass(stages, end of the pass or null, bytes of rows, dimensions)   (wavefront.hpp)
//   gram(x, y, extent of a box, windows, sums)                                    (gram.hpp)
// The counting backend has other verbs, which compute nothing, and so the same work.

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/backends/openmp/fused_half_sweeps.hpp"
#include "kernels/backends/operations_on.hpp"
#include "kernels/backends/rows/operations_by_rows.hpp"

namespace keel {

// Several combinations of vectors in one walk over rows: the sums of a row, pass by pass. Rows are cut, so
// that a pass finds in the first-level cache what the pass before has read.
struct SumsOfRow {
    struct Pass {
        std::size_t terms;
        Combine<max_terms> body;
    };
    std::span<const Pass> passes;

    void operator()(int low, int high, int q, int j, int k) const {
        constexpr int some = 256;
        for (int first = low; first < high; first += some)
            for (const Pass& pass : passes) add(pass, first, std::min(high, first + some), q, j, k);
    }

  private:
    template <std::size_t N = max_terms>
    static void add(const Pass& pass, int low, int high, int q, int j, int k) {
        if constexpr (N > 1) {
            if (pass.terms < N) return add<N - 1>(pass, low, high, q, j, k);
        }
        Combine<N> body{pass.body.y, {}, {}};
        std::copy_n(pass.body.c.begin(), N, body.c.begin());
        std::copy_n(pass.body.x.begin(), N, body.x.begin());
        each_in_row(body, low, high, q, j, k);
    }
};

// A stage of a wavefront over powers of the operator: the next vectors of one basis, or of two.
template <int D, DiagonalScaling scaling>
struct PowerStage {
    struct VectorsOfRow {
        NextVectors<D, scaling, 2> vectors;
        bool both;

        void operator()(int low, int high, int q, int j, int k) const {
            if (both)
                each_in_row(vectors, low, high, q, j, k);
            else
                each_in_row(vectors.first(), low, high, q, j, k);
        }
    };

    Cells cells;
    VectorsOfRow body;
};

// One pass over memory also for several combinations, for powers of the operator, of two bases at once so
// that coefficients are read once, and for Gram matrices.
template <class Verbs>
class OperationsInOnePass : public FusedHalfSweeps<TransfersByRows<OperationsOn<Verbs>>> {
    using Base = FusedHalfSweeps<TransfersByRows<OperationsOn<Verbs>>>;

  public:
    using Base::Base;

    Work combine_all(std::span<const Combination> combinations) override {
        if (combinations.size() == 1) return Base::combine_all(combinations);
        passes_.clear();
        for (std::size_t m = 0; m < combinations.size(); ++m) {
            const Field y = combinations[m].y;
            check(y.layers() == 0, "several combinations are for cells alone");
            this->in_passes_of_terms(combinations[m], [&](auto some_c, auto some_x) {
                SumsOfRow::Pass& pass = passes_.emplace_back();
                pass.terms = some_x.size();
                pass.body.y = y.view();
                for (std::size_t n = 0; n < some_x.size(); ++n) {
                    pass.body.c[n] = some_c[n];
                    pass.body.x[n] = some_x[n].view();
                }
            });
        }
        this->backend().for_each_row(this->all(), SumsOfRow{passes_}, combinations.size());
        return this->work_of_combinations(combinations);
    }

    Work powers(std::span<const BasisVectors> bases, const ScaledStencil& A,
                std::span<const ThreeTerms> recurrences, GramEnd*) override {
        this->check_powers(bases, A, recurrences.size());
        if (recurrences.empty()) return {};
        return this->of_kind(A, [&](auto D, auto scaling) {
            auto& stages = std::get<std::vector<PowerStage<D, scaling>>>(stages_);
            stages.clear();
            for (std::size_t n = 0; n < recurrences.size(); ++n)
                stages.push_back(this->template power_stage<D, scaling>(bases, A, recurrences, n));
            // The planes about one of each vector, and coefficients of A on one plane more than stages on
            // either side.
            const double values = this->coefficients_of(A) * static_cast<double>(stages.size() + 2) +
                                  static_cast<double>(3 * bases.size() * (stages.size() + 1));
            const double bytes_of_rows = static_cast<double>(this->shape().row) * sizeof(double) * values;
            this->backend().run_in_one_pass(std::span(std::as_const(stages)), nullptr,
                                            static_cast<std::ptrdiff_t>(bytes_of_rows), D);
            return work_of_powers(bases, A, recurrences);
        });
    }

    Work gram(std::span<const Field> x, std::span<const Field> y, GramAccuracy accuracy,
              std::span<double> sums) override {
        if (accuracy == GramAccuracy::doubled) return this->accurate_gram(x, y, sums);
        this->check_gram(x, y, sums);
        if (!x.empty()) this->backend().gram(x, y, this->layout().extent(), this->windows(), sums);
        return this->gram_work(x.size(), y.size());
    }

  private:
    // The stage that makes the n-th vectors after the first ones.
    template <int D, DiagonalScaling scaling>
    PowerStage<D, scaling> power_stage(std::span<const BasisVectors> bases, const ScaledStencil& A,
                                       std::span<const ThreeTerms> recurrences, std::size_t n) const {
        const BasisVectors* made[most_bases];
        std::size_t count = 0;
        for (const BasisVectors& basis : bases)
            if (n + 1 < basis.v.size()) made[count++] = &basis;
        check(count > 0, "no more recurrences than the longest basis has vectors to be made");
        const auto body = [&](const BasisVectors& basis) {
            return this->template next_vector<D, scaling>(
                this->made_by(recurrences.size(), n, basis.v[n + 1]), basis, A, recurrences[n], n);
        };
        const Cells cells = this->cells_for(this->made_by(recurrences.size(), n, made[0]->v[n + 1]));
        return {cells, {together(body(*made[0]), body(*made[count - 1])), count == 2}};
    }

    // The pass reads A, the first vectors and those before them once, on the cells of the first stage.
    Work work_of_powers(std::span<const BasisVectors> bases, const ScaledStencil& A,
                        std::span<const ThreeTerms> recurrences) const {
        Work work;
        for (std::size_t n = 0; n < recurrences.size(); ++n) {
            double reads = n == 0 ? this->coefficients_of(A) : 0.0;
            double made = 0;
            for (const BasisVectors& basis : bases) {
                if (n + 1 >= basis.v.size()) continue;
                made += 1;
                if (n == 0) reads += recurrences[0][2] != 0.0 ? 2 : 1;
            }
            const double flops =
                made * next_vector_flops(this->layout().dimensions(), A.scaling, recurrences[n]);
            work += Cost{flops, reads, made} *
                    this->cells_for(this->made_by(recurrences.size(), n, bases[0].v[0])).count();
        }
        return work;
    }

    std::tuple<
        std::vector<PowerStage<2, DiagonalScaling::none>>, std::vector<PowerStage<2, DiagonalScaling::right>>,
        std::vector<PowerStage<2, DiagonalScaling::symmetric>>,
        std::vector<PowerStage<3, DiagonalScaling::none>>, std::vector<PowerStage<3, DiagonalScaling::right>>,
        std::vector<PowerStage<3, DiagonalScaling::symmetric>>>
        stages_;  // stages of `powers`
    std::vector<SumsOfRow::Pass> passes_;
};

}  // namespace keel
