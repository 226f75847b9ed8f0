#include "solvers/krylov/s_step/numbers.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/bodies/accurate_sums.hpp"
#include "kernels/operations.hpp"

namespace keel {
namespace {

double words_of_number(const BottomOptions& options) {
    return options.gram_precision == GramPrecision::twofold ? 2 : 1;
}

}  // namespace

Quantity in_s(const std::string& text, FormulaInS formula) {
    return {text, [formula](const BottomOptions& o) { return formula(o.s); }};
}

Quantity per_outer_step(const std::string& text, FormulaInS formula) {
    return {text, [formula](const BottomOptions& o) { return formula(o.s) / o.s; }};
}

std::optional<double> exchanges_of_powers(const BottomOptions& options, int degree) {
    if (!exchanges_for_several(options.powers)) return {};
    const int depth = options.powers_depth > 0 ? options.powers_depth : degree;
    return std::ceil(1.0 * degree / depth) / options.s;
}

double recurrence_flops(Basis basis, int powers, int bases) {
    return basis == Basis::newton ? 3 * powers : basis == Basis::chebyshev ? 5 * powers - 2 * bases : 0;
}

Quantity exchanges_of_pairs(const std::string& paired, const std::string& sequential, const std::string& m,
                            int degree_per_s) {
    return {paired + "; sequential " + sequential + "; matrix_powers ceil(" + m + "/depth)/s",
            [degree_per_s](const BottomOptions& o) {
                const double in_turns = 2 * degree_per_s - 1.0 / o.s;
                return exchanges_of_powers(o, degree_per_s * o.s)
                    .value_or(o.powers == Powers::paired ? degree_per_s : in_turns);
            }};
}

Quantity flops_of_pairs(const std::string& text, int degree_per_s, int others) {
    return {"about " + text, [degree_per_s, others](const BottomOptions& o) {
                const int degree = degree_per_s * o.s;
                const auto n = static_cast<std::size_t>(2 * degree + 1);
                const double product =
                    o.gram_precision == GramPrecision::twofold ? accurate_product_flops : 2;
                const double gram =
                    product * static_cast<double>(gram_pairs(n, static_cast<std::size_t>(others)));
                const int powers = 2 * degree - 1;
                return (gram + 2 * combine_flops(n) + combine_flops(n + 1) +
                        recurrence_flops(o.basis, powers, std::min(2, powers))) /
                       o.s;
            }};
}

Quantity words_of_pairs(const std::string& text, FormulaInS formula) {
    return {text + "; double_double twice",
            [formula](const BottomOptions& o) { return words_of_number(o) * formula(o.s) / o.s; }};
}

Quantity vectors_of_pairs() {
    return {"", [](const BottomOptions& o) { return o.powers == Powers::paired ? 2 : 1; }};
}

std::vector<std::string> keys_of_pairs(std::vector<std::string> others) {
    others.insert(others.end(), {"s", "basis", "telescoping", "gram_precision", "powers", "powers_depth"});
    return others;
}

Independent independent_pairs(int degree_per_s) {
    return {.key = "s", .value = &BottomOptions::s, .per_unit = 2 * degree_per_s, .more = 1, .lowered = true};
}

}  // namespace keel
