#include "solvers/krylov/bottom_methods.hpp"

#include <cmath>
#include <stdexcept>

#include "kernels/vector.hpp"

namespace keel {

namespace {

// A number of the methods with a pipeline of depth l.
Quantity in_depth(const std::string& text, int (*formula)(int l)) {
    return {text, [formula](const BottomOptions& o) { return formula(o.depth); }};
}

// --- The numbers of s-step methods, once telescoping has reached s.
using FormulaInS = double (*)(double s);

Quantity in_s(const std::string& text, FormulaInS formula) {
    return {text, [formula](const BottomOptions& o) { return formula(o.s); }};
}
Quantity per_outer_step(const std::string& text, FormulaInS formula) {
    return {text, [formula](const BottomOptions& o) { return formula(o.s) / o.s; }};
}
// Paired, one per power of A on the longer of the two bases, whose degree is m; sequential, one per application; matrix
// powers, one for each `depth` powers.
Quantity exchanges_of_pairs(const std::string& paired, const std::string& sequential, const std::string& m,
                            int degree_per_s) {
    return {paired + "; sequential " + sequential + "; matrix_powers ceil(" + m + "/depth)/s",
            [degree_per_s](const BottomOptions& o) {
                const int degree = degree_per_s * o.s;
                const int depth = o.powers_depth > 0 ? o.powers_depth : degree;
                if (o.powers == Powers::matrix_powers) return std::ceil(1.0 * degree / depth) / o.s;
                return o.powers == Powers::paired ? degree_per_s : 2 * degree_per_s - 1.0 / o.s;
            }};
}
// Beside the applications: the Gram matrix of the n = 2 degree + 1 vectors with themselves and `others`, three
// combinations of them, and the recurrences of the basis. The text is that of the monomial one.
Quantity flops_of_pairs(const std::string& text, int degree_per_s, int others) {
    return {"about " + text, [degree_per_s, others](const BottomOptions& o) {
                const int degree = degree_per_s * o.s;
                const auto n = static_cast<std::size_t>(2 * degree + 1);
                const double gram =
                    2.0 * static_cast<double>(gram_pairs(n, static_cast<std::size_t>(others)));
                const int first = std::min(2, 2 * degree - 1);  // applications to the first vector of a basis
                const double recurrences = o.basis == Basis::newton      ? 3 * (2 * degree - 1)
                                           : o.basis == Basis::chebyshev ? 5 * (2 * degree - 1) - 2 * first
                                                                         : 0;
                return (gram + 2 * combine_flops(n) + combine_flops(n + 1) + recurrences) / o.s;
            }};
}
double pair_or_one(const BottomOptions& options) {
    return options.powers == Powers::paired ? 2 : 1;
}

// --- The numbers of enlarged methods with t columns.
using FormulaInT = double (*)(double t);

Quantity in_t(const std::string& text, FormulaInT formula) {
    return {text, [formula](const BottomOptions& o) { return formula(o.block); }};
}
Quantity by_variant(const Quantity& orthodir, const Quantity& orthomin) {
    return {orthodir.text() + "; orthomin " + orthomin.text(), [=](const BottomOptions& o) {
                return (o.variant == Enlarged::orthodir ? orthodir : orthomin).of(o);
            }};
}
// The flops of `count` combinations of n vectors ...
double combinations(double count, double n) {
    return count * combine_flops(static_cast<std::size_t>(n));
}
// ... and of t combinations of others + 1, others + 2, ..., others + t vectors.
double triangle(double t, double others) {
    double flops = 0;
    for (double n = 1; n <= t; ++n) flops += combinations(1, others + n);
    return flops;
}
double columns(double t) {
    return t;
}
double flops_of_orthodir(double t) {
    return 2 * (t + 1) * (t + 1) + combinations(2, t + 1) + triangle(t, 2 * t);
}
double flops_of_orthomin(double t) {
    return 2 * (3 * t * t + t + 1) + combinations(2 * t + 2, t + 1) + 2 * triangle(t, 0);
}
double flops_of_sre_cg(double t) {
    return 5 * t * t + 3 * t + 2 + combinations(2 * t, 2 * t + 1) + 2 * triangle(t, 0) +
           combinations(2, t + 1);
}

}  // namespace

const std::vector<BottomMethod>& bottom_methods() {
    static const std::vector<BottomMethod> methods{
        {"bicgstab", "van der Vorst 1992; Williams et al. 2014, Alg. 1", DiagonalScaling::right, 2, 6, 6, 5,
         2, 29, "the papers' baseline: every inner product waits for its own all-reduce"},
        {"bicgstab_fused", "the same recurrences, inner products fused", DiagonalScaling::right, 2, 2, 6, 5,
         2, 29, "the default to compare with: a third of the all-reduces at no cost"},
        {"cg", "Hestenes and Stiefel 1952; Saad, Alg. 6.18", DiagonalScaling::symmetric, 1, 2, 2, 2, 1, 13,
         "the operator is symmetric: half the work of BiCGStab per iteration"},
        {"ca_bicgstab", "Williams et al. 2014, Alg. 2, corrected", DiagonalScaling::right,
         exchanges_of_pairs("2", "4 - 1/s", "2s", 2), per_outer_step("1/s", [](double) { return 1.0; }),
         per_outer_step("(4s+1)(2s+2)/s", [](double s) { return (4 * s + 1) * (2 * s + 2); }),
         in_s("4s + 2", [](double s) { return 4 * s + 2; }),
         in_s("4 - 1/s", [](double s) { return 4 - 1 / s; }), flops_of_pairs("(16s^2+44s+9)/s", 2, 1),
         "all-reduces are the bottleneck: one every s iterations; beyond s = 4 with basis newton or "
         "chebyshev",
         Quantity("", pair_or_one)},
        {"ca_cg", "Toledo 1995; Hoemmen 2010", DiagonalScaling::symmetric,
         exchanges_of_pairs("1", "2 - 1/s", "s", 1), per_outer_step("1/s", [](double) { return 1.0; }),
         per_outer_step("(2s+1)(s+1)/s", [](double s) { return (2 * s + 1) * (s + 1); }),
         in_s("2s + 1", [](double s) { return 2 * s + 1; }),
         in_s("2 - 1/s", [](double s) { return 2 - 1 / s; }), flops_of_pairs("(4s^2+18s+7)/s", 1, 0),
         "as ca_bicgstab for half the work; stands twice the s", Quantity("", pair_or_one)},
        {"pipelined_cg", "Ghysels and Vanroose 2014, p-CG", DiagonalScaling::symmetric, 1, 1, 2, 5, 1, 22,
         "cg, its one all-reduce hidden behind the application of the operator; loose tolerances"},
        {"deep_pipelined_cg", "Cools, Cornelis and Vanroose 2019, Alg. 1", DiagonalScaling::symmetric, 1, 1,
         in_depth("l + 1", [](int l) { return l + 1; }),
         in_depth("2l + max(3, l)", [](int l) { return 2 * l + std::max(3, l); }), 1,
         in_depth("7l + 13", [](int l) { return 7 * l + 13; }),
         "l = bottom.depth all-reduces on their way, each hidden behind l applications; wants scaling = "
         "jacobi"},
        {"pipelined_bicgstab", "Cools and Vanroose 2017", DiagonalScaling::right, 2, 2, 7, 8, 2, 48,
         "bicgstab, each all-reduce hidden behind an application; bottom.replace_every for tight tolerances"},
        {"enlarged_cg", "Grigori and Tissot 2019; Lockhart 2023, Alg. 4.1, all-reduces fused",
         DiagonalScaling::symmetric, 1, by_variant(1, 2),
         by_variant(in_t("(t+1)^2", [](double t) { return (t + 1) * (t + 1); }),
                    in_t("3t^2 + t + 1", [](double t) { return 3 * t * t + t + 1; })),
         by_variant(in_t("4t", [](double t) { return 4 * t; }), in_t("3t", [](double t) { return 3 * t; })),
         in_t("t", columns),
         by_variant(in_t("about 7t^2 + 8t + 4", flops_of_orthodir),
                    in_t("12t^2 + 8t + 4", flops_of_orthomin)),
         "t directions at a time: fewer iterations for t times the work; variant orthomin where scaling = "
         "none",
         in_t("", columns)},
        {"sre_cg", "Grigori, Moufawad and Nataf 2016", DiagonalScaling::symmetric, 1, 4,
         in_t("(5t^2+3t)/2 + 1", [](double t) { return (5 * t * t + 3 * t) / 2 + 1; }),
         in_t("6t", [](double t) { return 6 * t; }), in_t("t", columns),
         in_t("about 15t^2 + 9t + 4", flops_of_sre_cg), "the iterates of enlarged_cg, to compare with",
         in_t("", columns)},
        {"smooth", "relaxation with multigrid.smoother", DiagonalScaling::none, 2, 0, 0, 0, 0, 13,
         "no all-reduce at all; only for bottom grids of a few cells"},
    };
    return methods;
}

std::vector<std::string> bottom_names() {
    std::vector<std::string> names;
    for (const BottomMethod& method : bottom_methods()) names.push_back(method.name);
    return names;
}

const BottomMethod& bottom_method(const std::string& name) {
    for (const BottomMethod& method : bottom_methods())
        if (method.name == name) return method;
    throw std::invalid_argument("unknown bottom solver " + name);
}

}  // namespace keel
