// Nanoseconds that a cell takes of four half sweeps on one rank, by themselves and in legs, with all coefficients alike:
//     legs WIDTH X Y Z REPEATS [single]      boxes of WIDTH^3 side by side in blocks, X x Y x Z of them; medians of so many
// It is part of no build. From the root of the sources:
//     g++ -std=c++20 -O3 -DNDEBUG -march=native -fopenmp -I. results/speed/legs.cpp kernels/backends/openmp/openmp.cpp kernels/layout/*.cpp -o legs

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "kernels/backends/openmp/openmp.hpp"
#include "kernels/operations.hpp"

using namespace keel;

int main(int argc, char** argv) {
    if (argc < 6) return 2;
    const int width = std::atoi(argv[1]);
    const Index boxes{std::atoi(argv[2]), std::atoi(argv[3]), std::atoi(argv[4])};
    const int repeats = std::atoi(argv[5]);
    const bool single = argc > 6 && std::string(argv[6]) == "single";
    const int ghosts = std::min(5, width);

    const auto backend = make_openmp_backend();
    const Layout layout(boxes, width, Boundaries{}, std::vector<int>(product(boxes), 0), 0);
    const auto make = [&](const Layout& level) {
        return single ? backend->make_cycle_operations(level, ghosts, Storage::blocks)
                      : backend->make_operations(level, ghosts, Storage::blocks);
    };
    const auto x = make(layout), coarser = make(layout.coarsened());
    const auto filled = [&](double value) {
        const Field field = x->make_field();
        x->fill(field, value);
        return field;
    };
    const Field u = filled(0.5), f = filled(1.0), coarse = coarser->make_field();
    const Stencil L{filled(0.9), filled(1.1), filled(1.0), filled(1 / 7.0)};
    const std::vector<Colour> colours{Colour::red, Colour::black, Colour::red, Colour::black};
    const HalfSweeps leg{colours};

    const auto tell = [&](const char* what, const auto& run) {
        std::vector<double> seconds;
        for (int n = 0; n < repeats; ++n) {
            const auto begin = std::chrono::steady_clock::now();
            run();
            seconds.push_back(
                std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
        }
        std::ranges::sort(seconds);
        std::printf("%8.2f  %s\n",
                    1e9 * seconds[seconds.size() / 2] / static_cast<double>(layout.local_cells()), what);
    };
    std::printf("%dx%dx%d, ns a cell\n", width * boxes[0], width * boxes[1], width * boxes[2]);
    tell("a pass for each half sweep", [&] {
        for (const Colour colour : colours) x->relax(u, L, f, colour, 1.0);
    });
    tell("fused", [&] { x->relax(u, L, f, leg); });
    tell("fused, with the restricted residual", [&] { x->relax_and_restrict(coarse, u, L, f, leg); });
    if (!single)
        tell("fused, with the norm of the residual", [&] {
            double norm = 0;
            x->relax_and_measure(norm, u, L, f, leg);
        });
    tell("that residual restricted alone", [&] { x->restrict_residual(coarse, L.of(leg.unsolved()), u, f); });
    tell("interpolation", [&] { x->interpolate_add(u, coarse, Interpolation::constant, {}); });
    tell("interpolation to one colour",
         [&] { x->interpolate_add(u, coarse, Interpolation::constant, leg.read()); });
}
