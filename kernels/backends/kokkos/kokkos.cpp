#include <type_traits>

#include "kernels/backends/host_copy.hpp"
#include "kernels/backends/kokkos/by_cells.hpp"
#include "kernels/backends/kokkos/by_rows.hpp"
#include "kernels/backends/operations_by_cells.hpp"
#include "kernels/backends/operations_on.hpp"
#include "kernels/backends/registry.hpp"
#include "kernels/backends/rows/operations_by_rows.hpp"

namespace keel {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Memory = Space::memory_space;
constexpr bool on_host = std::is_same_v<Space, Kokkos::DefaultHostExecutionSpace>;

// Memory that both the host and the kernels can use.
#ifdef KOKKOS_HAS_SHARED_HOST_PINNED_SPACE
using SharedMemory = Kokkos::SharedHostPinnedSpace;
#else
using SharedMemory = Kokkos::HostSpace;
static_assert(on_host, "devices need Kokkos 4");
#endif

// The tests run what devices run on the host, too.
#ifdef KEEL_KOKKOS_BY_CELLS
constexpr bool by_rows = false;
#else
constexpr bool by_rows = on_host;
#endif

auto uninitialised(const char* name) {
    return Kokkos::view_alloc(std::string(name), Kokkos::WithoutInitializing);
}

class KokkosSpace : public std::conditional_t<by_rows, ByRows, ByCells> {
  public:
    double* allocate(const Shape& shape) {
        const std::size_t skipped = stagger(kept_.size());
        double* data = reserve<double, Memory>(shape.values() + skipped) + skipped;
        for_each_value(Field(data, shape), Fill<>{0.0});  // first touch by the thread that computes
        return data;
    }

    // Message buffers, from which the host sends.
    double* allocate(std::size_t values) {
        double* data = reserve<double, SharedMemory>(values);
        std::fill_n(data, values, 0.0);
        return data;
    }

    template <class T>
    const T* keep(std::span<const T> items) {
        T* const copy = reserve<T, Memory>(items.size());
        Kokkos::deep_copy(Unmanaged<T, Memory>(copy, items.size()),
                          Unmanaged<const T, Kokkos::HostSpace>(items.data(), items.size()));
        return copy;
    }

    template <class Body>
    void sum_over_cells(const Cells& cells, std::size_t count, const Body& body, double* sums) {
        if (partial_.size() < sums_of_slices(cells))
            partial_ = View1<double, SharedMemory>(uninitialised("partial sums"), sums_of_slices(cells));
        sum_slices(cells, count, body, partial_.data());
        add_slices(partial_.data(), count, cells, sums);
    }

    template <class HostFormula>
    void assign(Field u, std::span<const Window> boxes, const Region& region, const HostFormula& formula) {
        const Unmanaged<double, Memory> there(u.data(), u.shape().values());
        const auto here = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), there);
        const View view = Field(here.data(), u.shape()).view();
        assign_on_host(view, boxes, region, formula,
                       [](const Cells& cells, const auto& body) { ByRows::for_each_cell(cells, body); });
        Kokkos::deep_copy(there, here);
    }
    std::vector<double> read(Field u, std::span<const Window> boxes, const Region& region) const {
        const Unmanaged<double, Memory> there(u.data(), u.shape().values());
        const auto here = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), there);
        return read_on_host(Field(here.data(), u.shape()).view(), boxes, region);
    }
    void wait() const {}  // every verb returns when its work is done

  private:
    template <class T, class Where>
    using View1 = Kokkos::View<T*, Where>;
    template <class T, class Where>
    using Unmanaged = Kokkos::View<T*, Where, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

    template <class T, class Where>
    T* reserve(std::size_t values) {
        const auto view = std::make_shared<View1<T, Where>>(uninitialised("keel"), values);
        kept_.push_back(view);
        return view->data();
    }

    std::vector<std::shared_ptr<void>> kept_;
    View1<double, SharedMemory> partial_;
};

using KokkosOperations =
    std::conditional_t<by_rows, TransfersByRows<UnfusedOperations<OperationsOn<KokkosSpace>>>,
                       OperationsByCells<KokkosSpace>>;

// Kokkos itself. Its warnings are about the binding of threads, which is the user's choice.
class Runtime {
  public:
    Runtime() {
        char quiet[] = "--kokkos-disable-warnings";
        char* words[] = {quiet, nullptr};
        int count = 1;
        Kokkos::initialize(count, words);
    }
    Runtime(const Runtime&) = delete;
    Runtime& operator=(const Runtime&) = delete;
    ~Runtime() { Kokkos::finalize(); }
};

class KokkosBackend : public Backend {
  public:
    KokkosBackend() { static const Runtime until_the_process_ends; }

    std::string name() const override { return "kokkos"; }
    std::string description() const override {
        const auto version = std::to_string(KOKKOS_VERSION / 10000) + "." +
                             std::to_string(KOKKOS_VERSION / 100 % 100) + "." +
                             std::to_string(KOKKOS_VERSION % 100);
        const std::string space = std::string("Kokkos ") + version + ", " + Space::name();
        if (!on_host) return space;
        return space + ", " + std::to_string(threads()) + (threads() == 1 ? " thread" : " threads") +
               " per rank";
    }
    int threads() const override { return Kokkos::DefaultHostExecutionSpace().concurrency(); }
    std::unique_ptr<Operations> make_operations(const Layout& layout, int ghosts,
                                                Storage storage) const override {
        return std::make_unique<KokkosOperations>(layout, ghosts, arrange(layout, storage, 1));
    }
};

}  // namespace

// Kokkos is initialised when the first backend is made, and finalised when the process ends: it cannot be
// initialised again.
std::unique_ptr<Backend> make_kokkos_backend(const BackendOptions&) {
    return std::make_unique<KokkosBackend>();
}

}  // namespace keel
