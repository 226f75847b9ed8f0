#pragma once

// The verbs of a GPU (cycle_operations_on.hpp): memory of fields and lists, loops as launches, sums and
// maxima with one copy to the host, set-up through memory that host and device share.

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "kernels/backends/gpu/device.hpp"
#include "kernels/backends/gpu/kernels.hpp"
#include "kernels/backends/threads.hpp"
#include "kernels/bodies/vector.hpp"
#include "kernels/layout/storage.hpp"
#include "kernels/operations.hpp"

namespace keel {
namespace {

// Rows of a box's region, from row `first` on, to or from values in memory that host and device share.
template <class Real>
struct MoveRows {
    ViewOf<Real> u;
    Window box;
    Region region;
    int first;
    bool to_host;
    double* values;  // x fastest

    constexpr int j(int row) const { return (first + row) % region.size[1]; }
    constexpr int k(int row) const { return (first + row) / region.size[1]; }
    constexpr double& staged(int i, int row) const { return values[row * region.size[0] + i]; }
    constexpr void operator()(int, int i, int row, int) const {
        const Index at = box.at + region.lo + Index{i, j(row), k(row)};
        Real& cell = u(box.block, at[0], at[1], at[2]);
        if (to_host)
            staged(i, row) = cell;
        else
            cell = static_cast<Real>(staged(i, row));
    }
};

// A body that has one value a cell, as one of several results.
template <class Body>
struct OneValue {
    Body body;

    constexpr double operator()(std::size_t, int q, int i, int j, int k) const { return body(q, i, j, k); }
};

// The verbs, for fields of either precision.
template <class Real>
class Gpu {
  public:
    explicit Gpu(std::shared_ptr<Device> device) : device_(std::move(device)) {}

    template <class Value = Real>
    Value* allocate(const Shape& shape) {
        return static_cast<Value*>(reserve(shape.values() * sizeof(Value)));
    }
    Real* allocate(std::size_t values) { return static_cast<Real*>(reserve(values * sizeof(Real))); }
    Real* allocate_pinned(std::size_t values) {
        memory_.push_back(device_->allocate_pinned(values * sizeof(Real)));
        return static_cast<Real*>(memory_.back().get());
    }

    template <class T>
    const T* keep(std::span<const T> items) {
        void* const place = reserve(items.size_bytes());
        device_->copy_now(place, items.data(), items.size_bytes(), GPU(MemcpyHostToDevice));
        return static_cast<const T*>(place);
    }

    template <class Body>
    void for_each_value(Field u, const Body& body) {
        if (u.shape().values() == 0) return;
        device_->launch(
            ForEachValue<Real, Body>{u.data<Real>(), static_cast<std::int64_t>(u.shape().values()), body});
    }

    template <class Body>
    void for_each_cell(const Cells& cells, const Body& body, std::size_t /*weight*/ = 1) const {
        if (cells.count() == 0) return;
        const Index inside = cells.extent + -(2 * cells.margin);
        if (cells.part == Part::shell && std::min({inside[0], inside[1], inside[2]}) > 0)
            device_->launch(ForEachShellCell<Body>(cells, body));
        else
            device_->launch(ForEachCell<Body>(cells, body));
    }

    // One small copy to the host for all sums.
    template <class Body>
    void sum_over_cells(const Cells& cells, std::size_t count, const Body& body, double* sums) {
        if (cells.boxes == 0) return;
        const Chunks chunks = Chunks::of(cells.extent);
        sum_parts(
            count * static_cast<std::size_t>(cells.boxes), chunks.count,
            [&](double* partial) { sum_chunks(cells, chunks, count, body, partial); }, sums);
    }
    // The same of sums that launch(partial) makes for each chunk.
    template <class Launch>
    void sum_parts(std::size_t count, int chunks, const Launch& launch, double* sums) {
        std::ranges::copy(joined<Sum>(count, chunks, launch), sums);
    }

    template <class Body>
    double max_over_cells(const Cells& cells, const Body& body) {
        if (cells.boxes == 0) return 0.0;
        const Chunks chunks = Chunks::of(cells.extent, 2048);
        return std::ranges::max(
            joined<Largest>(static_cast<std::size_t>(cells.boxes), chunks.count, [&](double* partial) {
                device_->launch(JoinCells<Largest, 1, OneValue<Body>>{cells, chunks, {body}, 1, partial});
            }));
    }

    template <class T, class Body>
    void for_each_item(const Items<T>& items, std::size_t fields, const Body& body) {
        if (items.count == 0) return;
        device_->launch(ForEachItem<T, Body>{items, fields, body});
    }

    // Set-up: kernels read what the host's threads write into pinned memory, some rows of a box at a time.
    template <class HostFormula>
    void assign(Field u, std::span<const Window> boxes, const Region& region, const HostFormula& formula) {
        const Index& low = region.lo;
        const int n0 = region.size[0];
        if constexpr (!device_computes) return;  // there are no formulas either
        for_staged_rows(u, boxes, region, [&](int q, const Cells& rows, MoveRows<Real> body) {
            const int of_task = divided_up(cells_of_task, n0);
            on_all_threads(divided_up(rows.extent[1], of_task), [&](int task) {
                const int end = std::min(rows.extent[1], (task + 1) * of_task);
                for (int row = task * of_task; row < end; ++row)
                    for (int i = 0; i < n0; ++i)
                        body.staged(i, row) =
                            formula(q, low[0] + i, low[1] + body.j(row), low[2] + body.k(row));
            });
            body.to_host = false;
            for_each_cell(rows, body);
            device_->wait();
        });
    }
    std::vector<double> read(Field u, std::span<const Window> boxes, const Region& region) const {
        std::vector<double> values;
        values.reserve(boxes.size() * region.cells());
        for_staged_rows(u, boxes, region, [&](int, const Cells& rows, const MoveRows<Real>& body) {
            for_each_cell(rows, body);
            device_->wait();
            values.insert(values.end(), body.values, body.values + rows.count());
        });
        return values;
    }

    // A copy of a list that is kept.
    template <class T>
    std::vector<T> list(const Items<T>& items) const {
        std::vector<T> copy(items.count);
        device_->copy_now(copy.data(), items.data, items.count * sizeof(T), GPU(MemcpyDeviceToHost));
        return copy;
    }

    void wait() const { device_->wait(); }
    Device& device() const { return *device_; }

  private:
    static constexpr int staged_values = 4096 * threads_per_block;
    static constexpr int cells_of_task = 4096;  // least values of a formula for one thread

    // Calls action(q, rows, body) for the rows of the region of box q, some at a time: body moves them to or
    // from the staging memory.
    template <class Action>
    void for_staged_rows(Field u, std::span<const Window> boxes, const Region& region,
                         const Action& action) const {
        const auto [n0, n1, n2] = region.size;
        if (region.cells() == 0) return;
        const int all = n1 * n2;
        const int at_once = std::clamp(staged_values / n0, 1, all);
        double* const values = device_->staging(static_cast<std::size_t>(at_once * n0));
        for (std::size_t q = 0; q < boxes.size(); ++q)
            for (int first = 0; first < all; first += at_once)
                action(static_cast<int>(q), every_cell(1, {n0, std::min(at_once, all - first), 1}),
                       MoveRows<Real>{u.view<Real>(), boxes[q], region, first, true, values});
    }

    // A kernel for the least power of two of sums, so that they stay in registers.
    template <std::size_t N = max_terms, class Body>
    void sum_chunks(const Cells& cells, const Chunks& chunks, std::size_t count, const Body& body,
                    double* partial) {
        if constexpr (N > 1) {
            if (count <= N / 2) return sum_chunks<N / 2>(cells, chunks, count, body, partial);
        }
        device_->launch(JoinCells<Sum, N, Body>{cells, chunks, body, static_cast<int>(count), partial});
    }

    // Results, on the host until the next ones, of parts that launch(partial) makes for each chunk.
    template <class Join, class Launch>
    std::span<const double> joined(std::size_t count, int chunks, const Launch& launch) {
        reserve_results(count * static_cast<std::size_t>(chunks + 1));
        double* const partial = results_ + count;
        double* const total = chunks == 1 ? partial : results_;
        launch(partial);
        if (chunks > 1) device_->launch(JoinChunks<Join>{partial, total, static_cast<int>(count), chunks});
        device_->copy(on_host_, total, count * sizeof(double), GPU(MemcpyDeviceToHost));
        device_->wait_for_current();
        return {on_host_, count};
    }

    void* reserve(std::size_t bytes) {
        memory_.push_back(device_->allocate(bytes));
        return memory_.back().get();
    }
    void reserve_results(std::size_t values) {
        if (values <= room_) return;
        results_ = allocate(values);
        on_host_ = allocate_pinned(values);
        room_ = values;
    }

    std::shared_ptr<Device> device_;
    std::vector<Memory> memory_;
    Real* results_ = nullptr;  // results of reductions, of doubles alone, on the device
    Real* on_host_ = nullptr;
    std::size_t room_ = 0;
};

}  // namespace
}  // namespace keel
