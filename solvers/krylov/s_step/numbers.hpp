#pragma once

// Numbers that the rows of s-step methods share. They are those once telescoping has reached s; the longer
// of a pair of bases has degree m = degree_per_s * s.

#include <optional>
#include <string>
#include <vector>

#include "solvers/krylov/methods.hpp"

namespace keel {

using FormulaInS = double (*)(double s);

Quantity in_s(const std::string& text, FormulaInS formula);
Quantity per_outer_step(const std::string& text, FormulaInS formula);  // divided by s

// Per iteration, where one exchange is for several powers of a basis of this degree; else nothing.
std::optional<double> exchanges_of_powers(const BottomOptions& options, int degree);
// Flops of the recurrences of `bases` bases with `powers` powers in all, besides the applications.
double recurrence_flops(Basis basis, int powers, int bases);

// Paired, one per power of A on the longer of the two bases; sequential, one per application; matrix powers,
// one for each `depth` powers. `m`: the degree's text.
Quantity exchanges_of_pairs(const std::string& paired, const std::string& sequential, const std::string& m,
                            int degree_per_s);
// Beside the applications: the Gram matrix of the 2m + 1 vectors with themselves and `others`, three
// combinations of them, and the recurrences of the basis. The text is that of the monomial one.
Quantity flops_of_pairs(const std::string& text, int degree_per_s, int others);
// Per iteration the words of the Gram matrices, of which the formula is that of an outer step in simple
// precision.
Quantity words_of_pairs(const std::string& text, FormulaInS formula);
// A vector of each basis, unless one basis is made after the other.
Quantity vectors_of_pairs();

// The keys of every such method, and `others`.
std::vector<std::string> keys_of_pairs(std::vector<std::string> others = {});
Independent independent_pairs(int degree_per_s);  // the 2m + 1 vectors

}  // namespace keel
