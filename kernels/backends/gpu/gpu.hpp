#pragma once

// The backend for GPUs, one source for CUDA, HIP and the emulation; included by one file of each (cuda/,
// hip/, gpu_emulated/), which says how it is called.

#include <algorithm>

#include "kernels/backends/gpu/device.hpp"
#include "kernels/backends/gpu/kept_ghosts.hpp"
#include "kernels/backends/gpu/s_step.hpp"
#include "kernels/backends/gpu/verbs.hpp"
#include "kernels/backends/only_cycles.hpp"
#include "kernels/backends/operations_by_cells.hpp"

namespace keel {
namespace {

// Messages leave through buffers of their own, and pass by the kernels on a stream of their own; half sweeps
// keep ghosts where a rank has all boxes. In either precision; Base: as of HalfSweepsOn, with all transfers.
template <class Base, class Real = double>
class OnGpu : public Base {
  public:
    using Base::Base;

    Buffer make_buffer(std::size_t values, Wire wire) override {
        Real* const data = this->backend().allocate(values);
        return {data, wire == Wire::direct ? data : this->backend().allocate_pinned(values), values,
                precision_of<Real>};
    }

    // Kernels launched before the pack of an exchange are done when it is unpacked, for the pack was waited
    // for; those launched since then do not touch ghosts. Messages are forwarded behind the unpacking of the
    // exchange before, which used the same buffers.
    Work copy_blocks(const CopyEnd& to, Items<BlockCopy> copies, const CopyEnd& from,
                     std::optional<Colour> colour) override {
        const bool sent = std::holds_alternative<Packed>(to);
        const bool received = std::holds_alternative<Packed>(from);
        if (!sent && !received) return Base::copy_blocks(to, copies, from, colour);
        const Packed* const message = this->message_of(to, from);
        const bool staged = message && message->buffer.wire != message->buffer.data;
        const std::size_t bytes =
            staged ? copies.values * message->fields * bytes_of_value(message->buffer.precision) : 0;
        if (staged)
            check_at_least(message->buffer.values * sizeof(Real), bytes, "a message fits into its buffer");
        Work work;
        if (!received) device().transfer_follows_compute();
        device().on_transfer([&] {
            if (bytes > 0 && received)
                device().copy(message->buffer.data, message->buffer.wire, bytes, GPU(MemcpyHostToDevice));
            work = Base::copy_blocks(to, copies, from, colour);
            if (bytes > 0 && sent)
                device().copy(message->buffer.wire, message->buffer.data, bytes, GPU(MemcpyDeviceToHost));
            if (sent) device().wait_for_current();
        });
        if (!sent) device().compute_follows_transfer();
        return work;
    }

    bool keep_ghosts(Items<BlockCopy> ghosts) override {
        if (this->cells() <= most_relaxed_in_block) {
            relaxed_level_ = kept_level(ghosts);
        } else {
            const auto of_faces = ghosts_of_faces(this->shape(), this->backend().list(ghosts));
            if (!of_faces) return false;
            ghosts_of_blocks_ = this->backend().keep(std::span<const GhostsOfBlock>(*of_faces));
        }
        kept_ghosts_ = ghosts;
        const Index extent = this->shape().extent;
        std::size_t faces = 0;
        for (std::size_t d = 0; d < this->layout().dimensions(); ++d)
            faces += 2 * product(extent) / static_cast<std::size_t>(extent[d]);
        none_outside_ = ghosts.cells == faces * static_cast<std::size_t>(this->shape().blocks);
        return true;
    }
    Work smooth(Field u, const Stencil& L, Field f, const HalfSweeps& sweeps, const PassEnd& end) override {
        if (sweeps.ghosts == Ghosts::current || sweeps.count() == 0)
            return Base::smooth(u, L, f, sweeps, end);
        check(ghosts_of_blocks_ != nullptr || relaxed_level_.cells > 0, "ghosts are kept where they can be");
        return this->in_dimensions([&](auto D) {
            return this->template with_relaxation<D>(sweeps.relaxation, [&](const auto& relaxed) {
                using Body = decltype(relaxed(std::declval<Relax<D, Real, Face>>()));
                if (ghosts_of_blocks_ == nullptr)
                    relax_in_block<D>(u, L, f, sweeps);
                else
                    relax_and_copy<D>(u, L, f, sweeps, relaxed);
                const auto half_sweeps = static_cast<std::size_t>(sweeps.count());
                const bool copies_first =
                    ghosts_of_blocks_ != nullptr ? sweeps.guess == Guess::any : sweeps.guess != Guess::zero;
                const std::size_t copies = half_sweeps + (copies_first ? 1 : 0);
                Work done = this->work(Body::cost, half_sweeps * this->cells() / 2);
                return done += this->work({0, 1, 1}, copies * kept_ghosts_.cells / 2);
            });
        });
    }

    Work restrict_residual(Field coarse, const Stencil& L, Field u, Field f) override {
        if (L.part != Part::all || L.colour) return Base::restrict_residual(coarse, L, u, f);
        const Cells cells = this->coarser(coarse);
        return this->in_dimensions([&](auto D) {
            using Body = RestrictResidual<D, Real, Residual<D, Real, Face>>;
            const Body body{this->view_of(coarse), this->template residual_body<D>(L, u, f)};
            if (cells.count() > 0) device().launch(RestrictResidualPairs<D, Real, Body>(cells, body));
            return this->work(body.cost, cells.count());
        });
    }

    // The half sweeps that follow find the ghosts of what was corrected (Guess::with_ghosts).
    Work interpolate_add(Field fine, Field coarse, Interpolation interpolation,
                         std::optional<Colour> colour) override {
        if (ghosts_of_blocks_ == nullptr) return Base::interpolate_add(fine, coarse, interpolation, colour);
        const Cells cells = this->of_colour(colour);
        return this->with_interpolation(fine, coarse, interpolation, [&](const auto& body) {
            using Body = std::decay_t<decltype(body)>;
            this->backend().for_each_cell(cells,
                                          KeepGhosts<Body>{body, ghosts_of_blocks_, this->shape().extent});
            Work done = this->template work_of_interpolation<Body>(cells);
            return done += this->work({0, 1, 1}, kept_ghosts_.cells / static_cast<std::size_t>(cells.step()));
        });
    }

  protected:
    Device& device() { return this->backend().device(); }
    LevelOfBlock kept_level(Items<BlockCopy> ghosts) {
        const std::vector<CellPlace> inside = cells_of(this->shape());
        const std::vector<GhostCopy> outside = ghosts_of(this->backend().list(ghosts));
        return {this->backend().keep(std::span<const CellPlace>(inside)),
                this->backend().keep(std::span<const GhostCopy>(outside)),
                static_cast<std::int64_t>(inside.size()), static_cast<std::int64_t>(outside.size())};
    }

  private:
    using Face = typename Base::Face;

    template <int D>
    void relax_in_block(Field u, const Stencil& L, Field f, const HalfSweeps& sweeps) {
        if (sweeps.guess == Guess::zero && !none_outside_) this->fill(u, 0.0);
        device().launch(RelaxInBlock<D, Real, Face>{.level = relaxed_level_,
                                                    .L = StencilView<D, Real, Face>(L),
                                                    .u = this->view_of(u).origin,
                                                    .f = this->view_of(f).origin,
                                                    .parity = this->all().parity,
                                                    .relaxation = sweeps.relaxation,
                                                    .half_sweeps = sweeps.count(),
                                                    .first = static_cast<int>(sweeps.colours.front()),
                                                    .from_zero = sweeps.guess == Guess::zero ? 1 : 0,
                                                    .threads = threads_for(this->cells())});
    }
    // From zeros the first half sweep reads no u, and the second one none but that of the first, unless they
    // are over-relaxed. Ghosts outside the domain may hold what linear interpolation has left there.
    template <int D, class Relaxed>
    void relax_and_copy(Field u, const Stencil& L, Field f, const HalfSweeps& sweeps,
                        const Relaxed& relaxed) {
        const bool from_zero = sweeps.guess == Guess::zero;
        if (sweeps.guess == Guess::any)
            copy_blocks(std::span(&u, 1), kept_ghosts_, std::span(&u, 1), sweeps.read());
        else if (from_zero && (sweeps.relaxation != 1.0 || sweeps.count() == 1 || !none_outside_))
            this->fill(u, 0.0);
        const auto body =
            relaxed(Relax<D, Real, Face>{this->view_of(u), StencilView<D, Real, Face>(L), this->view_of(f)});
        using Body = std::decay_t<decltype(body)>;
        const Index extent = this->shape().extent;
        for (int n = 0; n < sweeps.count(); ++n) {
            const Cells half = this->of_colour(sweeps.colours[static_cast<std::size_t>(n)]);
            if (from_zero && n == 0)
                this->backend().for_each_cell(
                    half, KeepGhosts<FromZero<Body>>{FromZero<Body>{body}, ghosts_of_blocks_, extent});
            else
                this->backend().for_each_cell(half, KeepGhosts<Body>{body, ghosts_of_blocks_, extent});
        }
    }

    Items<BlockCopy> kept_ghosts_;
    bool none_outside_ = false;                        // whether each ghost is of a face on this rank
    const GhostsOfBlock* ghosts_of_blocks_ = nullptr;  // by threads of half sweeps
    LevelOfBlock relaxed_level_{};                     // by one block of threads
};

template <class Face>
using CyclesOnGpu = OnGpu<
    UnfusedHalfSweeps<TransfersByCells<CycleOperationsOn<Gpu<float>, float, OnlyCycles, Face>, float>, float>,
    float>;

class GpuOperations : public OnGpu<OperationsByCells<Gpu<double>>> {
  public:
    using OnGpu::OnGpu;

    Work combine_all(std::span<const Combination> combinations) override {
        const bool fits = std::ranges::all_of(combinations, [](const Combination& one) {
            return one.x.size() <= most_vectors && one.y.layers() == 0;
        });
        const bool many = combinations.size() > 1 || combinations[0].x.size() > max_terms;
        if (!fits || !many || combinations.size() > Combinations::most)
            return OnGpu::combine_all(combinations);
        Combinations body{combinations[0].y.view(), {}, {}, {}, {}, 0};
        for (const auto& [y, c, x] : combinations) {
            check_equal(c.size(), x.size(), "combine wants one coefficient per field");
            const int m = body.count++;
            body.y[m] = y.view().origin;
            body.terms[m] = static_cast<int>(x.size());
            for (std::size_t n = 0; n < x.size(); ++n) {
                body.c[m][n] = c[n];
                body.x[m][n] = x[n].view().origin;
            }
        }
        backend().for_each_cell(all(), body);
        return work_of_combinations(combinations);
    }
    Work powers(std::span<const BasisVectors> bases, const ScaledStencil& A,
                std::span<const ThreeTerms> recurrences, GramEnd* end) override {
        std::vector<Field> v;
        for (const BasisVectors& basis : bases) v.insert(v.end(), basis.v.begin(), basis.v.end());
        const bool small = cells() > 0 && Chunks::of(shape().extent).count == 1;
        if (!small || recurrences.size() > most_degree || v.size() > most_vectors)
            return OnGpu::powers(bases, A, recurrences, end);
        check_powers(bases, A, recurrences.size());
        const bool grams =
            end != nullptr && v.size() + end->y.size() <= most_vectors && shape().extent == layout().extent();
        GramOfBoxes gram = gram_of(v, grams ? end->y : std::span<const Field>());
        gram.extent = shape().extent;
        gram.boxes = shape().blocks;
        gram.chunks.count = 1;
        if (!grams) gram.x = 0;
        return of_kind(A, [&](auto D, auto scaling) {
            PowersOfBoxes<D, scaling> kernel{StencilView<D>(A.L), {}, {}, {}, gram, {}, 0, 0};
            if (scaling != DiagonalScaling::none) kernel.s = A.s.view().origin;
            for (const ThreeTerms& c : recurrences) kernel.c[kernel.count++] = c;
            for (const BasisVectors& basis : bases) {
                kernel.lengths[kernel.bases] = static_cast<int>(basis.v.size());
                if (!(basis.before == Field())) kernel.before[kernel.bases] = basis.before.view().origin;
                ++kernel.bases;
            }
            const auto launch = [&](double* partial) {
                kernel.gram.partial = partial;
                device().launch(kernel);
            };
            if (grams)
                backend().sum_parts(end->sums.size(), 1, launch, end->sums.data());
            else
                launch(nullptr);
            Work work = power_by_power(bases, A, recurrences, [](const BasisVectors&, std::size_t, Field) {});
            if (grams) work += gram_work(v.size(), end->y.size());
            if (end != nullptr) end->made = grams;
            return work;
        });
    }
    Work gram(std::span<const Field> x, std::span<const Field> y, GramAccuracy accuracy,
              std::span<double> sums) override {
        if (accuracy == GramAccuracy::doubled || x.empty() || x.size() + y.size() > most_vectors)
            return OnGpu::gram(x, y, accuracy, sums);
        check_gram(x, y, sums);
        if (cells() == 0) return {};
        GramOfBoxes kernel = gram_of(x, y);
        const auto launch = [&](double* partial) {
            kernel.partial = partial;
            device().launch(kernel);
        };
        backend().sum_parts(sums.size(), kernel.chunks.count, launch, sums.data());
        return gram_work(x.size(), y.size());
    }

    bool prepare_single_launch(const LaunchNeeds& needs, Items<BlockCopy> ghosts) override {
        if (cells() == 0 || cells() > most_launched_cells) return false;
        if (needs.vectors <= lent_.vectors && needs.values <= lent_.values) return true;
        lent_ = {std::max(needs.vectors, lent_.vectors), std::max(needs.values, lent_.values)};
        double* const vectors = backend().allocate(lent_.vectors * shape().values());
        const std::size_t head = sizeof(LaunchResult) / sizeof(double);
        void* const result = backend().allocate(head + lent_.values);
        memory_ = {KEEL_GPU_PREFIX,
                   kept_level(ghosts),
                   {vectors + shape().origin, static_cast<std::int64_t>(shape().values())},
                   static_cast<LaunchResult*>(result),
                   threads_for(cells())};
        void* const on_host = backend().allocate_pinned(head + values_at_once());
        on_host_ = static_cast<LaunchResult*>(on_host);
        return true;
    }
    Work begin_single_launch(const MakeBlockKernel& make) override {
        const BlockKernel kernel = make(memory_);
        device().launch(kernel);
        if constexpr (!device_computes) {
            device().log().be_silent(true);
            kernel.by_host();
            device().log().be_silent(false);
        }
        waits_before_ = device().waits();
        device().copy(on_host_, memory_.result, sizeof(LaunchResult) + values_at_once() * sizeof(double),
                      GPU(MemcpyDeviceToHost));
        return {};
    }
    Work finish_single_launch(std::vector<double>& values) override {
        if (device().waits() == waits_before_) device().wait_for_current();
        const auto count = static_cast<std::size_t>(on_host_->values);
        const auto* const first = reinterpret_cast<const double*>(on_host_ + 1);
        values.assign(first, first + std::min(count, values_at_once()));
        if (count > values.size()) {
            values.resize(count);
            device().copy_now(values.data(), memory_.result + 1, count * sizeof(double),
                              GPU(MemcpyDeviceToHost));
        }
        return on_host_->cost * cells();
    }

  private:
    // Values of a result that are copied with its head.
    std::size_t values_at_once() const { return std::min<std::size_t>(lent_.values, 256); }
    GramOfBoxes gram_of(std::span<const Field> x, std::span<const Field> y) const {
        const Index extent = layout().extent();
        GramOfBoxes kernel{x[0].view(),
                           kept_windows(),
                           nullptr,
                           {},
                           extent,
                           Chunks::of(extent),
                           static_cast<int>(windows().size()),
                           static_cast<int>(x.size()),
                           static_cast<int>(y.size()),
                           threads_for(std::max(product(extent), gram_pairs(x.size(), y.size())))};
        std::size_t n = 0;
        for (const auto& fields : {x, y})
            for (const Field& field : fields) kernel.v[n++] = field.view().origin;
        return kernel;
    }

    // For single launches.
    LaunchNeeds lent_;
    BlockMemory memory_;
    LaunchResult* on_host_ = nullptr;
    long waits_before_ = 0;  // the device's, when the copy of the last result was begun
};

// Ranges that Nsight and rocprof show beside the kernels. Without such a tool a range is a call that does
// nothing.
class RangeRegions : public Regions {
  public:
    void begin(const char* name) override { push_range(name); }
    void end(const char*) override { pop_range(); }
};

class GpuBackend : public Backend {
  public:
    GpuBackend(std::string name, std::string model, const BackendOptions& options)
        : name_(std::move(name)),
          model_(std::move(model)),
          device_(std::make_shared<Device>(options.device, options.sync)) {}

    std::string name() const override { return name_; }
    std::string description() const override { return model_; }
    std::string device() const override { return device_->describe(); }
    std::size_t free_device_bytes() const override { return device_->free_bytes(); }
    std::size_t device_cache_bytes() const override { return device_->cache_bytes(); }
    double device_bytes_per_second() const override { return device_->bytes_per_second(); }
    DeviceLog* device_log() const override { return &device_->log(); }
    Regions* regions() const override { return has_ranges ? &regions_ : nullptr; }
    int threads() const override { return 1; }
    std::unique_ptr<Operations> make_operations(const Layout& layout, int ghosts,
                                                Storage storage) const override {
        return make<GpuOperations, double>(layout, ghosts, storage);
    }
    std::unique_ptr<Operations> make_cycle_operations(const Layout& layout, int ghosts, Storage storage,
                                                      Precision faces) const override {
        if (faces == Precision::fp16) return make<CyclesOnGpu<Half>, float>(layout, ghosts, storage);
        return make<CyclesOnGpu<float>, float>(layout, ghosts, storage);
    }

  private:
    template <class Made, class Real>
    std::unique_ptr<Operations> make(const Layout& layout, int ghosts, Storage storage) const {
        return std::make_unique<Made>(layout, ghosts, arrange(layout, storage, 1), Gpu<Real>(device_));
    }

    std::string name_;
    std::string model_;
    std::shared_ptr<Device> device_;
    mutable RangeRegions regions_;
};

inline Devices devices_here() {
    int count = 0;
    const auto error = GPU(GetDeviceCount)(&count);
    if (error != GPU(Success)) return {{}, error_text(error, "GetDeviceCount")};
    Devices found{{}, count > 0 ? "" : "no device on this node"};
    for (int device = 0; device < count; ++device) found.addresses.push_back(pci_address(device));
    return found;
}

}  // namespace
}  // namespace keel
