#include <algorithm>
#include <map>

#include "solvers/amg/classical/interpolation.hpp"

namespace keel {
namespace {

double sign(double value) {
    return value > 0 ? 1.0 : value < 0 ? -1.0 : 0.0;
}

// An entry of the row of a neighbour: its column in the matrix and in the next level, whether the neighbour depends on it.
struct FarEntry {
    std::int64_t column;
    double value;
    double number;
    bool strong;
};

// The rows of F rows, own ones and those of ghosts, whatever the rank that has them.
class FarRows {
  public:
    FarRows(const PartRows& A, const Dependence& strong, const CoarseRows& coarse, GhostValues& ghosts)
        : A_(A), strong_(strong), coarse_(coarse) {
        // Of every entry that an F row has, the value, and behind it a code for the rest.
        GlobalRows values, codes;
        for (std::size_t r = 0; r < A.rows.rows(); ++r) {
            for (auto [e, end] = entries_of(A.rows, r); e < end && coarse.number[r] == is_fine; ++e) {
                values.columns.push_back(A.rows.columns[e]);
                values.values.push_back(A.rows.values[e]);
                codes.columns.push_back(A.rows.columns[e]);
                codes.values.push_back(2 * (number(e) + 1) + (strong.on[e] ? 1 : 0));
            }
            end_row(values);
            end_row(codes);
        }
        values_ = ghosts.rows(values);
        codes_ = ghosts.rows(codes);
    }

    template <class Visit>
    void for_each_entry(std::size_t place, const Visit& visit) const {
        const std::size_t rows = A_.rows.rows();
        if (place < rows) {
            for (auto [e, end] = entries_of(A_.rows, place); e < end; ++e)
                visit(FarEntry{A_.rows.columns[e], A_.rows.values[e], number(e), strong_.on[e] != 0});
            return;
        }
        for (auto [e, end] = entries_of(values_, place - rows); e < end; ++e) {
            const auto code = static_cast<std::int64_t>(codes_.values[e]);
            visit(FarEntry{values_.columns[e], values_.values[e], static_cast<double>(code / 2 - 1),
                           code % 2 != 0});
        }
    }

  private:
    double number(std::size_t e) const { return coarse_.number[static_cast<std::size_t>(A_.places[e])]; }

    const PartRows& A_;
    const Dependence& strong_;
    const CoarseRows& coarse_;
    GlobalRows values_, codes_;
};

}  // namespace

// w_ij = -1/d_i (a_ij + SUM_{k in F_i} a_ik abar_kj / b_ik) over j in C^_i = C_i + all C_k, where
// d_i = a_ii + SUM_{weak m not in C^_i} a_im + SUM_{k in F_i} a_ik abar_ki / b_ik, b_ik = SUM_{l in C^_i + {i}} abar_kl;
// abar_kl is a_kl where its sign is not that of a_kk, else 0; where b_ik = 0, a_ik goes to d_i.
GlobalRows interpolate_extended_i(const PartRows& A, const Dependence& strong, const CoarseRows& coarse,
                                  GhostValues& ghosts) {
    const FarRows far(A, strong, coarse, ghosts);
    GlobalRows P;
    struct Weight {
        double number;
        double value = 0;
    };
    for (std::size_t r = 0; r < A.rows.rows(); ++r) {
        if (coarse.number[r] != is_fine) {
            P.columns.push_back(static_cast<std::int64_t>(coarse.number[r]));
            P.values.push_back(1.0);
            end_row(P);
            continue;
        }
        const std::int64_t row = A.first() + static_cast<std::int64_t>(r);
        std::map<std::int64_t, Weight> weights;         // by columns of C^_i
        std::vector<std::pair<std::size_t, double>> F;  // strong F neighbours, and a_ik
        for (auto [e, end] = entries_of(A.rows, r); e < end; ++e) {
            if (!strong.on[e]) continue;
            const auto k = static_cast<std::size_t>(A.places[e]);
            if (coarse.number[k] != is_fine) {
                weights[A.rows.columns[e]].number = coarse.number[k];
                continue;
            }
            F.emplace_back(k, A.rows.values[e]);
            far.for_each_entry(k, [&](const FarEntry& l) {
                if (l.strong && l.number != is_fine) weights[l.column].number = l.number;
            });
        }
        if (weights.empty()) {
            end_row(P);
            continue;
        }
        double d = 0;
        for (auto [e, end] = entries_of(A.rows, r); e < end; ++e) {
            const auto k = static_cast<std::size_t>(A.places[e]);
            if (const auto found = weights.find(A.rows.columns[e]); found != weights.end())
                found->second.value = A.rows.values[e];
            else if (k == r || !strong.on[e])
                d += A.rows.values[e];
        }
        for (const auto& neighbour : F) {
            const std::size_t k = neighbour.first;
            const double a_ik = neighbour.second;
            double sign_of_diagonal = 0;
            const std::int64_t row_k = k < A.rows.rows() ? A.first() + static_cast<std::int64_t>(k)
                                                         : A.ghosts[k - A.rows.rows()].name;
            far.for_each_entry(k, [&](const FarEntry& l) {
                if (l.column == row_k) sign_of_diagonal = sign(l.value);
            });
            const auto for_each_bar = [&](const auto& visit) {
                far.for_each_entry(k, [&](const FarEntry& l) {
                    if (sign(l.value) == sign_of_diagonal) return;
                    const auto found = weights.find(l.column);
                    if (l.column == row)
                        visit(l.value, d);
                    else if (found != weights.end())
                        visit(l.value, found->second.value);
                });
            };
            double b = 0;
            for_each_bar([&](double abar, double&) { b += abar; });
            if (b == 0)
                d += a_ik;
            else
                for_each_bar([&](double abar, double& to) { to += a_ik * abar / b; });
        }
        for (const auto& [column, weight] : weights) {
            P.columns.push_back(static_cast<std::int64_t>(weight.number));
            P.values.push_back(-weight.value / d);
        }
        end_row(P);
    }
    return P;
}

}  // namespace keel
