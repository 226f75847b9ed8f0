// No Krylov method allocates in its loop: further iterations cost no further call of operator new, which this
// file replaces for the whole executable by one that counts.

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <limits>
#include <new>

#include "solvers/krylov/methods.hpp"
#include "solvers/multigrid/multigrid.hpp"
#include "tests/solvers/golden_problem.hpp"

namespace {
std::atomic<long> allocations{0};

void* counted(std::size_t bytes) {
    ++allocations;
    if (void* const memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
    throw std::bad_alloc();
}
void* counted(std::size_t bytes, std::align_val_t alignment) {
    ++allocations;
    const auto a = static_cast<std::size_t>(alignment);
    if (void* const memory = std::aligned_alloc(a, (bytes + a - 1) / a * a)) return memory;
    throw std::bad_alloc();
}
}  // namespace

void* operator new(std::size_t bytes) {
    return counted(bytes);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return counted(bytes, alignment);
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    ++allocations;
    return std::malloc(bytes == 0 ? 1 : bytes);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
    std::free(memory);
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}

using namespace keel;
using namespace keel::test;

TEST_CASE("further iterations of a bottom solver allocate nothing") {
    const Problem problem{.boxes = {2, 2, 2}, .width = 4, .beta = "smooth10", .rhs = "hash"};
    Setup setup(problem, {.bottom_box = 4, .bottom_ghosts = 4});
    // Kokkos and the runtimes of devices allocate for a launch, which is not the method's doing.
    if (setup.backend->name() != "openmp") return;
    Level& level = setup.finest();
    setup.set(level.f, [&](const Index& cell) { return problem.f(cell); });
    for (const Method& row : methods())
        for (const auto& [scaling, powers] : {std::pair{Scaling::none, Powers::paired},
                                              {Scaling::jacobi, Powers::sequential},
                                              {Scaling::jacobi, Powers::fused_matrix_powers}}) {
            if (!row.is_krylov()) continue;
            INFO(row.name << ", powers " << static_cast<int>(powers));
            std::array<long, 3> counted_new{};
            std::array<int, 3> iterations{};
            for (std::size_t n = 0; n < 3; ++n) {
                BottomOptions options;
                options.solver = row.name;
                options.scaling = scaling;
                options.powers = powers;
                options.s = 2;
                options.tolerance = 1e-30;
                options.max_iterations = n == 2 ? 16 : 10;
                options.max_restarts = 0;
                options.spectrum = SpectrumFrom::given;  // Chebyshev's iteration needs a lower end above zero
                options.spectrum_lowest = 0.01;
                Multigrid bottom(setup.hierarchy, {}, options);
                bottom.solve_bottom();  // buffers that grow at first use have grown
                // The least of three: room for sums in flight may grow later, as messages come.
                counted_new[n] = std::numeric_limits<long>::max();
                for (int solve = 0; solve < 3; ++solve) {
                    const long before = allocations;
                    iterations[n] = bottom.solve_bottom().iterations;
                    counted_new[n] = std::min(counted_new[n], allocations - before);
                }
            }
            CHECK(iterations == std::array{10, 10, 16});
            CHECK(counted_new[0] == counted_new[1]);
            CHECK(counted_new[2] == counted_new[1]);
        }
    CHECK(allocations > 0);  // the replaced operator is the one in use
}
