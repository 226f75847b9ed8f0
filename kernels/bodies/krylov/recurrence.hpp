#pragma once

// Polynomial bases of Krylov spaces as a system is asked for them; which there are:
// solvers/krylov/s_step/basis.hpp.

#include <array>
#include <cstddef>
#include <span>

namespace keel {

// A rho_i(A) = gamma rho_{i+1}(A) + theta rho_i(A) + sigma rho_{i-1}(A), rho_0 = 1
struct Relation {
    double gamma = 1;
    double theta = 0;
    double sigma = 0;

    // rho_{i+1} = c[0] A rho_i + c[1] rho_i + c[2] rho_{i-1}
    constexpr std::array<double, 3> next() const {
        const double scale = 1 / gamma;
        return {scale, -scale * theta, -scale * sigma};
    }
    friend constexpr bool operator==(const Relation&, const Relation&) = default;
};

// The relations of i = 0 .. degree-1.
using Recurrence = std::span<const Relation>;

inline constexpr std::size_t most_bases = 2;  // at once

// The outer steps of an s-step method on pairs of bases (pair_space.hpp): s = first, twice that, ..., last,
// which stays.
struct OuterSteps {
    Recurrence relations;  // for every s, one recurrence after the other
    int first, last;
    int degree_per_s;  // the longer basis has
    int at_once;       // both bases, or one after the other
};

}  // namespace keel

namespace keel::bodies {

// next = v_{i+1}, where it holds A v_i.
template <class System>
constexpr void recur(System& A, typename System::Vector next, std::span<const typename System::Vector> v,
                     std::size_t i, const Relation& relation) {
    const auto [a, b, c] = relation.next();
    if (c != 0.0)
        A.combine(next, {a, b, c}, {next, v[i], v[i - 1]});
    else if (a != 1.0 || b != 0.0)
        A.axpby(next, a, next, b, v[i]);
}

// Makes v_1, v_2, ... of each basis from v_0, with one exchange for a power of every basis.
template <class System, class Vector = typename System::Vector>
constexpr void powers(System& A, std::span<const std::span<const Vector>> bases, Recurrence recurrence) {
    std::array<Vector, most_bases> from{};
    std::array<Vector, most_bases> to{};
    for (std::size_t i = 0;; ++i) {
        std::size_t count = 0;
        for (const auto& v : bases) {
            if (i + 1 >= v.size()) continue;
            from[count] = v[i];
            to[count++] = v[i + 1];
        }
        if (count == 0) return;
        A.apply(std::span<const Vector>(to.data(), count), std::span<const Vector>(from.data(), count));
        for (const auto& v : bases)
            if (i + 1 < v.size()) recur(A, v[i + 1], v, i, recurrence[i]);
    }
}

}  // namespace keel::bodies
