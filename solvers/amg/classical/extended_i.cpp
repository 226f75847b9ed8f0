#include <algorithm>
#include <unordered_map>

#include "solvers/amg/classical/interpolation.hpp"

namespace keel {
namespace {

double sign(double value) {
    return value > 0 ? 1.0 : value < 0 ? -1.0 : 0.0;
}

// An entry of the row of a neighbour, and whether the neighbour depends on it. Places are those of the matrix' columns, and behind
// them of columns that only rows of ghosts have.
struct FarEntry {
    std::size_t place;
    double value;
    bool strong;
};

// The rows of F rows, own ones and those of ghosts, whatever the rank that has them.
class FarRows {
  public:
    FarRows(const PartRows& A, const Dependence& strong, const CoarseRows& coarse, GhostValues& ghosts)
        : A_(A), strong_(strong), number_(coarse.number) {
        // Of every entry that an F row has, the value, and behind it a code for the rest.
        GlobalRows values, codes;
        for (std::size_t r = 0; r < A.rows.rows(); ++r) {
            for (auto [e, end] = entries_of(A.rows, r); e < end && coarse.number[r] == is_fine; ++e) {
                values.columns.push_back(A.rows.columns[e]);
                values.values.push_back(A.rows.values[e]);
                codes.columns.push_back(A.rows.columns[e]);
                codes.values.push_back(2 * (number_[place(e)] + 1) + (strong.on[e] ? 1 : 0));
            }
            end_row(values);
            end_row(codes);
        }
        of_ghosts_ = ghosts.rows(values);
        const GlobalRows told = ghosts.rows(codes);

        for (std::size_t c = 0; c < A.own_columns(); ++c)
            columns_.push_back(A.first() + static_cast<std::int64_t>(c));
        for (const Item& ghost : A.ghosts) columns_.push_back(ghost.name);
        std::unordered_map<std::int64_t, std::size_t> beyond;  // places of columns of other ranks
        for (std::size_t n = A.own_columns(); n < columns_.size(); ++n) beyond.emplace(columns_[n], n);
        for (std::size_t e = 0; e < of_ghosts_.columns.size(); ++e) {
            const std::int64_t column = of_ghosts_.columns[e];
            const auto code = static_cast<std::int64_t>(told.values[e]);
            strong_of_ghosts_.push_back(code % 2 != 0);
            if (A.columns.owns(A.rank, column)) {
                places_.push_back(static_cast<std::size_t>(column - A.first()));
                continue;
            }
            const auto [found, is_new] = beyond.emplace(column, columns_.size());
            places_.push_back(found->second);
            if (!is_new) continue;
            columns_.push_back(column);
            number_.push_back(static_cast<double>(code / 2 - 1));
        }
        for (std::size_t k = 0; k < A.rows.rows() + A.ghosts.size(); ++k) {
            double& diagonal = signs_.emplace_back(0.0);
            for_each_entry(k, [&](const FarEntry& l) {
                if (l.place == k) diagonal = sign(l.value);
            });
        }
    }

    template <class Visit>
    void for_each_entry(std::size_t k, const Visit& visit) const {
        const std::size_t rows = A_.rows.rows();
        if (k < rows) {
            for (auto [e, end] = entries_of(A_.rows, k); e < end; ++e)
                visit(FarEntry{place(e), A_.rows.values[e], strong_.on[e] != 0});
            return;
        }
        for (auto [e, end] = entries_of(of_ghosts_, k - rows); e < end; ++e)
            visit(FarEntry{places_[e], of_ghosts_.values[e], strong_of_ghosts_[e] != 0});
    }
    double sign_of_diagonal(std::size_t k) const { return signs_[k]; }
    std::size_t places() const { return columns_.size(); }
    std::int64_t column(std::size_t place) const { return columns_[place]; }
    double number(std::size_t place) const { return number_[place]; }  // in the next level

  private:
    std::size_t place(std::size_t e) const { return static_cast<std::size_t>(A_.places[e]); }

    const PartRows& A_;
    const Dependence& strong_;
    GlobalRows of_ghosts_;
    std::vector<std::size_t> places_;     // of the entries of these
    std::vector<char> strong_of_ghosts_;  // and whether they are strong
    std::vector<std::int64_t> columns_;   // by place
    std::vector<double> number_;
    std::vector<double> signs_;  // of the diagonals of own rows and of ghosts
};

// What a row is interpolated from, by places, and the weights so far.
class Weights {
  public:
    explicit Weights(std::size_t places) : at_(places, none) {}

    void add(std::size_t place) {
        if (at_[place] != none) return;
        at_[place] = static_cast<std::int32_t>(places_.size());
        places_.push_back(place);
        values_.push_back(0.0);
    }
    double* find(std::size_t place) {
        return at_[place] == none ? nullptr : &values_[static_cast<std::size_t>(at_[place])];
    }
    bool empty() const { return places_.empty(); }
    // The places by ascending columns.
    const std::vector<std::size_t>& sorted(const FarRows& far) {
        std::ranges::sort(places_, {}, [&](std::size_t place) { return far.column(place); });
        return places_;
    }
    void clear() {
        for (const std::size_t place : places_) at_[place] = none;
        places_.clear();
        values_.clear();
    }

  private:
    static constexpr std::int32_t none = -1;

    std::vector<std::int32_t> at_;
    std::vector<std::size_t> places_;
    std::vector<double> values_;
};

}  // namespace

// w_ij = -1/d_i (a_ij + SUM_{k in F_i} a_ik abar_kj / b_ik) over j in C^_i = C_i + all C_k, where
// d_i = a_ii + SUM_{weak m not in C^_i} a_im + SUM_{k in F_i} a_ik abar_ki / b_ik, b_ik = SUM_{l in C^_i + {i}} abar_kl;
// abar_kl is a_kl where its sign is not that of a_kk, else 0; where b_ik = 0, a_ik goes to d_i.
GlobalRows interpolate_extended_i(const PartRows& A, const Dependence& strong, const CoarseRows& coarse,
                                  GhostValues& ghosts) {
    const FarRows far(A, strong, coarse, ghosts);
    GlobalRows P;
    Weights weights(far.places());                  // over C^_i
    std::vector<std::pair<std::size_t, double>> F;  // strong F neighbours, and a_ik
    for (std::size_t r = 0; r < A.rows.rows(); ++r) {
        if (coarse.number[r] != is_fine) {
            P.columns.push_back(static_cast<std::int64_t>(coarse.number[r]));
            P.values.push_back(1.0);
            end_row(P);
            continue;
        }
        F.clear();
        for (auto [e, end] = entries_of(A.rows, r); e < end; ++e) {
            if (!strong.on[e]) continue;
            const auto k = static_cast<std::size_t>(A.places[e]);
            if (coarse.number[k] != is_fine) {
                weights.add(k);
                continue;
            }
            F.emplace_back(k, A.rows.values[e]);
            far.for_each_entry(k, [&](const FarEntry& l) {
                if (l.strong && far.number(l.place) != is_fine) weights.add(l.place);
            });
        }
        if (weights.empty()) {
            end_row(P);
            continue;
        }
        double d = 0;
        for (auto [e, end] = entries_of(A.rows, r); e < end; ++e) {
            const auto k = static_cast<std::size_t>(A.places[e]);
            if (double* const weight = weights.find(k))
                *weight = A.rows.values[e];
            else if (k == r || !strong.on[e])
                d += A.rows.values[e];
        }
        for (const auto& neighbour : F) {
            const std::size_t k = neighbour.first;
            const double a_ik = neighbour.second;
            const auto for_each_bar = [&](const auto& visit) {
                far.for_each_entry(k, [&](const FarEntry& l) {
                    if (sign(l.value) == far.sign_of_diagonal(k)) return;
                    if (l.place == r)
                        visit(l.value, d);
                    else if (double* const weight = weights.find(l.place))
                        visit(l.value, *weight);
                });
            };
            double b = 0;
            for_each_bar([&](double abar, double&) { b += abar; });
            if (b == 0)
                d += a_ik;
            else
                for_each_bar([&](double abar, double& to) { to += a_ik * abar / b; });
        }
        for (const std::size_t place : weights.sorted(far)) {
            P.columns.push_back(static_cast<std::int64_t>(far.number(place)));
            P.values.push_back(-*weights.find(place) / d);
        }
        weights.clear();
        end_row(P);
    }
    return P;
}

}  // namespace keel
