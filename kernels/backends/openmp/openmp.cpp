#include "kernels/backends/openmp/openmp.hpp"

#include <omp.h>

#include <functional>
#include <new>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/backends/host_copy.hpp"
#include "kernels/backends/only_cycles.hpp"
#include "kernels/backends/openmp/gram.hpp"
#include "kernels/backends/openmp/half_sweep_stage.hpp"
#include "kernels/backends/openmp/large_pages.hpp"
#include "kernels/backends/openmp/leg_ends.hpp"
#include "kernels/backends/openmp/power_stage.hpp"
#include "kernels/backends/openmp/sums_of_row.hpp"
#include "kernels/backends/openmp/wavefront.hpp"
#include "kernels/backends/operations_by_rows.hpp"
#include "kernels/backends/threads.hpp"

namespace keel {
namespace {

// Less work than serial_below is done outside of any parallel region: to enter one takes an allocation and some hundred
// nanoseconds even where its clause says that one thread will do, as much as the cells of a small box.
template <class Real>
class OpenMP {
  public:
    Real* allocate(const Shape& shape) {
        Real* data = reserve(shape.values());
        for_each_value(Field(data, shape), Fill<Real>{0});  // first touch by the thread that computes
        return data;
    }

    Real* allocate(std::size_t values) {
        Real* data = reserve(values);
        std::fill_n(data, values, Real(0));
        return data;
    }

    template <class T>
    const T* keep(std::span<const T> items) {
        auto copy = std::make_shared<std::vector<T>>(items.begin(), items.end());
        lists_.push_back(copy);
        return copy->data();
    }

    template <class Body>
    void for_each_value(Field u, const Body& body) {
        const Index& extent = u.shape().extent;
        const std::ptrdiff_t chunks =
            u.shape().blocks * static_cast<std::ptrdiff_t>(std::max(extent[1], extent[2]));
        const auto total = static_cast<std::ptrdiff_t>(u.shape().values());
        const std::ptrdiff_t chunk = chunks > 0 ? (total + chunks - 1) / chunks : 0;
        Real* const data = u.data<Real>();
        if (u.shape().values() < serial_below) return each_value(body, data, data + total);
#pragma omp parallel for schedule(static)
        for (std::ptrdiff_t c = 0; c < chunks; ++c)
            each_value(body, data + c * chunk, data + std::min(total, (c + 1) * chunk));
    }

    // Consecutive rows go to one thread. The copy of `row` is the thread's own, so that the compiler can keep what it
    // captured in registers.
    template <class Row>
    void for_each_row(const Cells& cells, Row row, std::size_t weight = 1) {
        if (weight * cells.count() < serial_below) {
            for (int q = 0; q < cells.boxes; ++q) take_rows(row, cells, all_rows(cells, q));
            return;
        }
        const int all = shares(cells);
#pragma omp parallel for schedule(static) firstprivate(row)
        for (int n = 0; n < all; ++n) take_rows(row, cells, share(cells, n));
    }

    template <class Body>
    void for_each_cell(const Cells& cells, const Body& body, std::size_t weight = 1) {
        for_each_row(cells, Row<Body>{body, cells}, weight);
    }

    template <class Body>
    void sum_over_cells(const Cells& cells, std::size_t count, const Body& body, double* sums) {
        partial_.resize(std::max(partial_.size(), sums_of_slices(cells)));
        double* const partial = partial_.data();
        const int all = slices(cells);
        if (cells.count() < serial_below) {
            for (int q = 0; q < cells.boxes; ++q)
                for (int s = 0; s < all; ++s) sum_slice(body, count, cells, q, s, partial);
        } else {
#pragma omp parallel for collapse(2) schedule(static)
            for (int q = 0; q < cells.boxes; ++q)
                for (int s = 0; s < all; ++s) sum_slice(body, count, cells, q, s, partial);
        }
        add_slices(partial, count, cells, sums);
    }

    template <class Body>
    double max_over_cells(const Cells& cells, Body body) {
        const int n0 = cells.extent[0], n1 = cells.extent[1],
                  n2 = cells.extent[2];  // as in rows.hpp, for Clang
        std::int64_t largest = 0;
        if (cells.count() < serial_below) {
            for (int q = 0; q < cells.boxes; ++q)
                for (int k = 0; k < n2; ++k)
                    for (int j = 0; j < n1; ++j) largest = std::max(largest, most_in_row(body, n0, q, j, k));
            return magnitude(largest);
        }
#pragma omp parallel for collapse(3) schedule(static) reduction(max : largest)
        for (int q = 0; q < cells.boxes; ++q)
            for (int k = 0; k < n2; ++k)
                for (int j = 0; j < n1; ++j) largest = std::max(largest, most_in_row(body, n0, q, j, k));
        return magnitude(largest);
    }

    template <class T, class Body>
    void for_each_item(const Items<T>& items, std::size_t fields, Body body) {
        const T* const list = items.data;
        if (items.cells * fields < serial_below) {
            for (std::size_t t = 0; t < items.count; ++t)
                for (std::size_t field = 0; field < fields; ++field) walk_item(body, list[t], field);
            return;
        }
#pragma omp parallel for schedule(dynamic)
        for (std::size_t t = 0; t < items.count; ++t) {
            for (std::size_t field = 0; field < fields; ++field) walk_item(body, list[t], field);
        }
    }

    template <class HostFormula>
    void assign(Field u, std::span<const Window> boxes, const Region& region, const HostFormula& formula) {
        assign_on_host(u.view<Real>(), boxes, region, formula,
                       [this](const Cells& cells, const auto& body) { this->for_each_cell(cells, body); });
    }
    std::vector<double> read(Field u, std::span<const Window> boxes, const Region& region) const {
        return read_on_host(u.view<Real>(), boxes, region);
    }
    void wait() const {}

  private:
    struct Free {
        void operator()(Real* p) const { ::operator delete[](p, std::align_val_t{64}); }
    };

    Real* reserve(std::size_t values) {
        const std::size_t skipped = stagger<Real>(blocks_.size());
        const std::size_t bytes = (values + skipped) * sizeof(Real);
        auto* raw = static_cast<Real*>(::operator new[](bytes, std::align_val_t{64}));
        prefer_large_pages(raw, bytes);
        blocks_.emplace_back(raw);
        return raw + skipped;
    }

    std::vector<std::unique_ptr<Real[], Free>> blocks_;
    std::vector<std::shared_ptr<void>> lists_;
    std::vector<double> partial_;
};

// Half sweeps in one pass over memory, and in the same one what a leg of a cycle ends with, in either precision.
template <class Base, class Real = double>
class FusedHalfSweeps : public Base {
  public:
    using Base::Base;
    using Base::relax;

    Work relax(Field u, const Stencil& L, Field f, const HalfSweeps& sweeps) override {
        if (sweeps.count() == 0)
            return sweeps.guess == Guess::zero && L.part != Part::shell ? this->fill(u, 0.0) : Work{};
        return this->in_dimensions([&](auto D) { return pass<D>(0, u, L, f, sweeps, NothingCloses{}); });
    }
    Work relax_and_restrict(Field coarse, Field u, const Stencil& L, Field f,
                            const HalfSweeps& sweeps) override {
        Cells cells = this->coarser(coarse, L.part);
        Cells fine = end_of(L, sweeps);
        for (std::size_t d = 0; d < 3; ++d) {
            cells.margin[d] = (fine.margin[d] + 1) / 2;
            fine.margin[d] = 2 * cells.margin[d];
        }
        return this->in_dimensions([&](auto D) {
            const RestrictRow<D, Real> row{this->view_of(coarse), this->template residual_body<D>(L, u, f),
                                           fine};
            Work work = pass<D>(1, u, L, f, sweeps, RestrictedResidual<D, Real>{row, cells});
            return work += this->work({row.cost().flops, 0, 1}, cells.count());
        });
    }

  protected:
    // The cells whose residual a leg ends with: of a part those that it has relaxed for good, with all their neighbours.
    Cells end_of(const Stencil& L, const HalfSweeps& sweeps) const {
        Cells cells = this->coloured(L.of(sweeps.unsolved()));
        cells.part = L.part;
        cells.margin = this->margin_of_sweeps(1, sweeps);
        return cells;
    }
    template <class Sweeps>
    static auto stages_of(const Sweeps& sweeps, bool from_zero) {
        std::vector<HalfSweepStage<std::decay_t<decltype(sweeps.front().body)>>> stages;
        for (const auto& [cells, body] : sweeps)
            stages.push_back({cells, {body, cells, from_zero && stages.empty()}});
        return stages;
    }
    // `last`: ghost layers of the last half sweep.
    template <int D, class Closing>
    Work pass(int last, Field u, const Stencil& L, Field f, const HalfSweeps& sweeps,
              const Closing& closing) {
        check(sweeps.count() > 0, "a leg that ends in its pass has half sweeps");
        return this->template with_relaxation<D>(sweeps.relaxation, [&](const auto& relaxed) {
            const bool from_zero = sweeps.guess == Guess::zero;
            const auto stages =
                stages_of(this->template half_sweeps<D>(last, u, L, f, sweeps, relaxed), from_zero);
            // u, f, 1/D and three fields of faces; a plane more than half sweeps on either side.
            constexpr std::size_t fields = 6;
            const auto row = static_cast<std::size_t>(this->shape().row) * sizeof(Real);
            const std::size_t bytes_of_rows = row * fields * (sweeps.colours.size() + 2);
            Wavefront(std::span(stages), static_cast<std::ptrdiff_t>(bytes_of_rows), D, closing).run();
            Cost cost{0, from_zero ? D + 2.0 : D + 3.0, 1};  // not u
            if (stages.size() == 1 && std::is_same_v<Closing, NothingCloses>) {
                const Cost of_colour = stages.front().body.cost();
                cost = {0, of_colour.reads / 2, of_colour.writes / 2};
            }
            Work work = this->work(cost, stages.front().cells.count());
            for (const auto& stage : stages)
                work.flops += stage.body.cost().flops * static_cast<double>(stage.cells.count() / 2);
            return work;
        });
    }
};

// And combinations, powers of the operator, both of two bases for one look at the coefficients, and Gram matrices.
class OpenMPOperations : public FusedHalfSweeps<TransfersByRows<OperationsOn<OpenMP<double>>>> {
  public:
    using FusedHalfSweeps::FusedHalfSweeps;

    Work combine_all(std::span<const Combination> combinations) override {
        passes_.clear();
        Work work;
        std::size_t reads = 0;
        for (std::size_t m = 0; m < combinations.size(); ++m) {
            const Field y = combinations[m].y;
            const auto& x = combinations[m].x;
            check(y.layers() == 0, "several combinations are for cells alone");
            in_passes_of_terms(y, combinations[m].c, x, [&](auto some_c, auto some_x) {
                SumsOfRow::Pass& pass = passes_.emplace_back();
                pass.terms = some_x.size();
                pass.body.y = y.view();
                for (std::size_t n = 0; n < some_x.size(); ++n) {
                    pass.body.c[n] = some_c[n];
                    pass.body.x[n] = some_x[n].view();
                }
            });
            work.flops += combine_flops(x.size()) * static_cast<double>(cells());
            for (std::size_t n = 0; n < x.size(); ++n) reads += is_new(combinations, m, n) ? 1 : 0;
        }
        backend().for_each_row(all(), SumsOfRow{passes_}, combinations.size());
        return work +=
               Cost{0, static_cast<double>(reads), static_cast<double>(combinations.size())} * cells();
    }

    Work relax_and_measure(double& norm, Field u, const Stencil& L, Field f,
                           const HalfSweeps& sweeps) override {
        std::atomic<std::int64_t> largest = 0;
        return in_dimensions([&](auto D) {
            const Residual<D> residual = residual_body<D>(L, u, f);
            const Cells cells = end_of(L, sweeps);
            Work work = pass<D>(1, u, L, f, sweeps, LargestResidual<Residual<D>>{residual, cells, &largest});
            norm = magnitude(largest);
            return work += Cost{residual.cost.flops / cells.step(), 0, 0} * cells.count();
        });
    }

    Work powers(std::span<const BasisVectors> bases, const ScaledStencil& A,
                std::span<const ThreeTerms> recurrences) override {
        check_powers(bases, A, recurrences.size());
        if (recurrences.empty()) return {};
        return of_kind(A, [&](auto D, auto scaling) {
            auto& stages = std::get<std::vector<PowerStage<D, scaling>>>(stages_);
            stages.clear();
            for (std::size_t n = 0; n < recurrences.size(); ++n)
                stages.push_back(power_stage<D, scaling>(bases, A, recurrences, n));
            // Of each vector the planes about one, and of A's coefficients one plane more than stages on either side.
            const double values = coefficients_of(A) * static_cast<double>(stages.size() + 2) +
                                  static_cast<double>(3 * bases.size() * (stages.size() + 1));
            const double bytes_of_rows = shape().row * sizeof(double) * values;
            Wavefront(std::span(std::as_const(stages)), static_cast<std::ptrdiff_t>(bytes_of_rows), D).run();
            return work_of_powers(bases, A, recurrences);
        });
    }

    Work gram(std::span<const Field> x, std::span<const Field> y, std::span<double> sums) override {
        check_gram(x, y, sums);
        const bool serial = cells() * (x.size() + y.size()) < serial_below;
        if (!x.empty())
            tiles_.run(x, y, layout().extent(), windows(), serial ? 1 : omp_get_max_threads(), sums);
        return gram_work(x.size(), y.size());
    }

  private:
    // Whether none before the n-th term of the m-th combination has read or written the same field.
    static bool is_new(std::span<const Combination> combinations, std::size_t m, std::size_t n) {
        const Field field = combinations[m].x[n];
        const auto has = [&](std::span<const Field> fields) {
            return std::find(fields.begin(), fields.end(), field) != fields.end();
        };
        for (std::size_t before = 0; before < m; ++before)
            if (has(combinations[before].x) || combinations[before].y == field) return false;
        return !has(combinations[m].x.first(n));
    }

    // The n-th vectors that follow the first ones.
    template <int D, DiagonalScaling scaling>
    PowerStage<D, scaling> power_stage(std::span<const BasisVectors> bases, const ScaledStencil& A,
                                       std::span<const ThreeTerms> recurrences, std::size_t n) const {
        const BasisVectors* made[most_bases];
        std::size_t count = 0;
        for (const BasisVectors& basis : bases)
            if (n + 1 < basis.v.size()) made[count++] = &basis;
        check(count > 0, "no more recurrences than the longest basis has vectors to be made");
        const auto body = [&](const BasisVectors& basis) {
            return next_vector<D, scaling>(made_by(recurrences.size(), n, basis.v[n + 1]), basis, A,
                                           recurrences[n], n);
        };
        const Cells cells = cells_for(made_by(recurrences.size(), n, made[0]->v[n + 1]));
        return {cells, {together(body(*made[0]), body(*made[count - 1])), count == 2}};
    }

    // What the pass reads once: A, first vectors and those before them, on the cells of the first stage.
    Work work_of_powers(std::span<const BasisVectors> bases, const ScaledStencil& A,
                        std::span<const ThreeTerms> recurrences) const {
        Work work;
        for (std::size_t n = 0; n < recurrences.size(); ++n) {
            double reads = n == 0 ? coefficients_of(A) : 0.0;
            double made = 0;
            for (const BasisVectors& basis : bases) {
                if (n + 1 >= basis.v.size()) continue;
                made += 1;
                if (n == 0) reads += recurrences[0][2] != 0.0 ? 2 : 1;
            }
            const double flops = made * next_vector_flops(layout().dimensions(), A.scaling, recurrences[n]);
            work +=
                Cost{flops, reads, made} * cells_for(made_by(recurrences.size(), n, bases[0].v[0])).count();
        }
        return work;
    }

    std::tuple<
        std::vector<PowerStage<2, DiagonalScaling::none>>, std::vector<PowerStage<2, DiagonalScaling::right>>,
        std::vector<PowerStage<2, DiagonalScaling::symmetric>>,
        std::vector<PowerStage<3, DiagonalScaling::none>>, std::vector<PowerStage<3, DiagonalScaling::right>>,
        std::vector<PowerStage<3, DiagonalScaling::symmetric>>>
        stages_;  // of `powers`
    std::vector<SumsOfRow::Pass> passes_;
    GramTiles tiles_;
};

using OpenMPCycles =
    FusedHalfSweeps<TransfersByRows<CycleOperationsOn<OpenMP<float>, float, OnlyCycles>, float>, float>;

class OpenMPBackend : public Backend {
  public:
    // All regions get as many threads as this one has: OMP_THREAD_LIMIT may leave fewer than OMP_NUM_THREADS
    // asks for, and with OMP_DYNAMIC the number may vary.
    OpenMPBackend() {
        omp_set_dynamic(0);
        omp_set_num_threads(on_every_thread([](int) {}));
    }
    std::string name() const override { return "openmp"; }
    std::string description() const override {
        return "OpenMP, " + std::to_string(threads()) + (threads() == 1 ? " thread" : " threads") +
               " per rank";
    }
    int threads() const override { return omp_get_max_threads(); }
    std::unique_ptr<Operations> make_operations(const Layout& layout, int ghosts,
                                                Storage storage) const override {
        return std::make_unique<OpenMPOperations>(layout, ghosts, arrange(layout, storage, threads()));
    }
    std::unique_ptr<Operations> make_cycle_operations(const Layout& layout, int ghosts,
                                                      Storage storage) const override {
        return std::make_unique<OpenMPCycles>(layout, ghosts, arrange(layout, storage, threads()));
    }
};

}  // namespace

int on_every_thread(const std::function<void(int)>& task) {
    int threads = 1;
#pragma omp parallel
    {
#pragma omp single
        threads = omp_get_num_threads();
        task(omp_get_thread_num());
    }
    return threads;
}

void use_threads(int threads) {
    omp_set_num_threads(threads);
}

std::unique_ptr<Backend> make_openmp_backend() {
    return std::make_unique<OpenMPBackend>();
}

}  // namespace keel
