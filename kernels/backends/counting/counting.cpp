#include "kernels/backends/counting/counting.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "kernels/backends/only_cycles.hpp"
#include "kernels/backends/openmp/operations_in_one_pass.hpp"

namespace keel {
namespace {

// Addresses in the half of an x86 processor's and of an ARM processor's address space that programs do not
// have, each given once. Bit 55 tells the halves apart where the processor ignores the highest byte.
class MadeUpAddresses {
  public:
    std::uintptr_t take(std::size_t bytes) {
        constexpr std::uintptr_t line = 64;
        const std::uintptr_t address = next_;
        next_ += (bytes + line) / line * line;
        return address;
    }

  private:
    std::uintptr_t next_ = (std::uintptr_t{1} << 62) + (std::uintptr_t{1} << 55);
};

// The verbs: memory is counted, and nothing is computed.
template <class Real>
class Counting {
  public:
    Counting(CountedMemory& memory, MadeUpAddresses& addresses) : memory_(&memory), addresses_(&addresses) {}

    template <class Value = Real>
    Value* allocate(const Shape& shape) {
        memory_->cells += product(shape.extent) * static_cast<std::size_t>(shape.blocks) * sizeof(Value);
        return reserve<Value>(shape.values(), memory_->fields);
    }
    Real* allocate(std::size_t values) { return reserve<Real>(values, memory_->buffers); }
    template <class T>
    const T* keep(std::span<const T> items) {
        memory_->lists += items.size_bytes();
        return reinterpret_cast<const T*>(addresses_->take(items.size_bytes()));
    }

    template <class Body>
    void for_each_value(Field, const Body&) {}
    template <class Row>
    void for_each_row(const Cells&, const Row&, std::size_t = 1) {}
    template <class Body>
    void for_each_cell(const Cells&, const Body&, std::size_t = 1) {}
    template <class Body>
    void sum_over_cells(const Cells& cells, std::size_t count, const Body&, double* sums) {
        std::fill_n(sums, count * static_cast<std::size_t>(cells.boxes), 0.0);
    }
    template <class Body>
    double max_over_cells(const Cells&, const Body&) {
        return 0;
    }
    template <class T, class Body>
    void for_each_item(const Items<T>&, std::size_t, const Body&) {}
    template <class Stage>
    void run_in_one_pass(std::span<const Stage>, const EndOfPass*, std::ptrdiff_t, int) {}
    void gram(std::span<const Field>, std::span<const Field>, const Index&, std::span<const Window>,
              std::span<double> sums) {
        std::ranges::fill(sums, 0.0);
    }
    template <class HostFormula>
    void assign(Field, std::span<const Window>, const Region&, const HostFormula&) {}
    std::vector<double> read(Field, std::span<const Window> boxes, const Region& region) const {
        return std::vector<double>(boxes.size() * region.cells());
    }
    void wait() const {}

  private:
    template <class Value>
    Value* reserve(std::size_t values, std::size_t& counted) {
        const std::size_t bytes = values * sizeof(Value);
        counted += bytes;
        return reinterpret_cast<Value*>(addresses_->take(bytes));
    }

    CountedMemory* memory_;
    MadeUpAddresses* addresses_;
};

template <class Face>
using Cycles =
    FusedHalfSweeps<TransfersByRows<CycleOperationsOn<Counting<float>, float, OnlyCycles, Face>, float>,
                    float>;

class CountingBackend : public Backend {
  public:
    CountingBackend(CountedMemory& memory, int threads) : memory_(memory), threads_(threads) {}

    std::string name() const override { return "counting"; }
    std::string description() const override { return "nothing is computed"; }
    int threads() const override { return threads_; }
    std::unique_ptr<Operations> make_operations(const Layout& layout, int ghosts,
                                                Storage storage) const override {
        return std::make_unique<OperationsInOnePass<Counting<double>>>(
            layout, ghosts, arrange(layout, storage, threads_), Counting<double>(memory_, addresses_));
    }
    std::unique_ptr<Operations> make_cycle_operations(const Layout& layout, int ghosts, Storage storage,
                                                      Precision faces) const override {
        const auto make = [&]<class Made>(std::type_identity<Made>) -> std::unique_ptr<Operations> {
            return std::make_unique<Made>(layout, ghosts, arrange(layout, storage, threads_),
                                          Counting<float>(memory_, addresses_));
        };
        if (faces == Precision::fp16) return make(std::type_identity<Cycles<Half>>());
        return make(std::type_identity<Cycles<float>>());
    }

  private:
    CountedMemory& memory_;
    int threads_;
    mutable MadeUpAddresses addresses_;
};

}  // namespace

std::unique_ptr<Backend> make_counting_backend(CountedMemory& memory, int threads) {
    return std::make_unique<CountingBackend>(memory, threads);
}

}  // namespace keel
