#include "solvers/orthogonalise/orthogonalisers.hpp"

#include <stdexcept>

namespace keel {

// The rows, each at the end of its method's file.
Orthogonaliser dcgs2_fused(), mgs(), icwy(), icwy_rotated(), cgs2(), dcgs2(), icwy_fused();

const std::vector<Orthogonaliser>& orthogonalisers() {
    static const std::vector<Orthogonaliser> all{dcgs2_fused(), mgs(),   icwy(),      icwy_rotated(),
                                                 cgs2(),        dcgs2(), icwy_fused()};
    return all;
}

std::vector<std::string> orthogonaliser_names() {
    std::vector<std::string> names;
    for (const Orthogonaliser& row : orthogonalisers()) names.push_back(row.name);
    return names;
}

const Orthogonaliser& orthogonaliser_named(std::string_view name) {
    for (const Orthogonaliser& row : orthogonalisers())
        if (row.name == name) return row;
    throw std::invalid_argument("unknown orthogonalisation " + std::string(name));
}

QRCost Orthogonaliser::append(long k, long most) const {
    if (k < most) return add(k);
    return replace ? replace(k) : drop(k) + add(k - 1);
}

QRCost Orthogonaliser::iteration(long k, long most) const {
    return append(k, most) + project(k < most ? k + 1 : most);
}

QRCost rotations(long k) {
    return {0, 0, 48 * (k - 1)};
}

QRCost projection(long k) {
    return {1, k, 8 * (k + 1)};
}

}  // namespace keel
