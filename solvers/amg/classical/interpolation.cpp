#include "solvers/amg/classical/interpolation.hpp"

#include <algorithm>
#include <cmath>

#include "solvers/amg/options.hpp"

namespace keel {

GlobalRows interpolate_directly(const PartRows& A, const Dependence& strong, const CoarseRows& coarse,
                                double truncation) {
    GlobalRows P;
    for (std::size_t r = 0; r < A.rows.rows(); ++r) {
        if (coarse.number[r] != is_fine) {
            P.columns.push_back(static_cast<std::int64_t>(coarse.number[r]));
            P.values.push_back(1.0);
            end_row(P);
            continue;
        }
        const auto number_of = [&](std::size_t e) {
            return strong.on[e] ? coarse.number[static_cast<std::size_t>(A.places[e])] : is_fine;
        };
        // Sums of negative and of positive entries, of the row and of those that are interpolated from.
        double diagonal = 0;
        double negative = 0, positive = 0, negative_of_C = 0, positive_of_C = 0;
        for (auto [e, end] = entries_of(A.rows, r); e < end; ++e) {
            const double value = A.rows.values[e];
            if (static_cast<std::size_t>(A.places[e]) == r) {
                diagonal += value;
                continue;
            }
            (value < 0 ? negative : positive) += value;
            if (number_of(e) != is_fine) (value < 0 ? negative_of_C : positive_of_C) += value;
        }
        const double alpha = negative_of_C != 0 ? negative / negative_of_C : 0;
        const double beta = positive_of_C != 0 ? positive / positive_of_C : 0;
        if (positive_of_C == 0) diagonal += positive;
        for (auto [e, end] = entries_of(A.rows, r); e < end; ++e) {
            const double number = number_of(e);
            if (number == is_fine) continue;
            const double value = A.rows.values[e];
            P.columns.push_back(static_cast<std::int64_t>(number));
            P.values.push_back(-(value < 0 ? alpha : beta) * value / diagonal);
        }
        end_truncated_row(P, truncation);
    }
    return P;
}

void end_truncated_row(GlobalRows& P, double truncation) {
    if (truncation == 0) return end_row(P);
    const auto begin = static_cast<std::size_t>(P.first.back());
    const std::size_t end = P.values.size();
    double largest = 0;
    double sum = 0;
    for (std::size_t e = begin; e < end; ++e) {
        largest = std::max(largest, std::abs(P.values[e]));
        sum += P.values[e];
    }
    std::size_t kept = begin;
    double sum_of_kept = 0;
    for (std::size_t e = begin; e < end; ++e) {
        if (std::abs(P.values[e]) < truncation * (1 - slack) * largest) continue;
        P.columns[kept] = P.columns[e];
        P.values[kept++] = P.values[e];
        sum_of_kept += P.values[e];
    }
    P.columns.resize(kept);
    P.values.resize(kept);
    if (sum_of_kept != 0)
        for (std::size_t e = begin; e < kept; ++e) P.values[e] *= sum / sum_of_kept;
    end_row(P);
}

}  // namespace keel
