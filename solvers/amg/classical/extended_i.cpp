#include "solvers/amg/classical/extended_i.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "solvers/amg/options.hpp"

namespace keel {
namespace {

double sign(double value) {
    return value > 0 ? 1.0 : value < 0 ? -1.0 : 0.0;
}

// An entry of an F row as other ranks get it: a C column by its number in the next level, and whether it is
// strong; or an F column. It is sent in place of a column number; a double holds all its bits.
struct Code {
    std::int64_t name;
    bool is_coarse;
    bool is_strong;

    static Code of(std::int64_t word) { return {word / 4, word % 2 != 0, word / 2 % 2 != 0}; }
    std::int64_t word() const { return 4 * name + (is_strong ? 2 : 0) + (is_coarse ? 1 : 0); }
};

// The rows abar of F rows k, own rows first and then ghosts, through which other rows are interpolated.
class Through {
  public:
    struct Bar {
        std::int32_t place;  // the C column's, among all that occur
        bool is_strong;
        double value;
    };

    Through(const PartRows& A, const Dependence& strong, const CoarseRows& coarse, GhostValues& ghosts)
        : A_(A),
          diagonals_(diagonal_of(A)),
          told_(told(strong, coarse, ghosts)),
          columns_(columns_of(coarse)),
          own_(A.rows),
          of_ghosts_(told_.fine) {
        for (const double number : coarse.numbers)
            places_.push_back(number == is_fine ? none : columns_.place(static_cast<std::int64_t>(number)));
        for (std::size_t r = 0; r < A.rows.rows(); ++r) {
            for (auto [e, end] = entries_of(A.rows, r); e < end && coarse.numbers[r] == is_fine; ++e)
                if (const std::int32_t c = place(e); c != none && is_bar(r, e))
                    bars_.push_back({c, strong.on[e] != 0, A.rows.values[e]});
            first_.push_back(bars_.size());
        }
        for (std::size_t n = 0; n < told_.coarse.rows(); ++n) {
            for (auto [e, end] = entries_of(told_.coarse, n); e < end; ++e)
                bars_.push_back({columns_.place(told_.coarse.columns[e]), told_.is_strong[e] != 0,
                                 told_.coarse.values[e]});
            first_.push_back(bars_.size());
        }
    }

    const CompactColumns& columns() const { return columns_; }
    static constexpr std::int32_t none = -1;
    // The place of the column of entry e of own rows; none if it is F.
    std::int32_t place(std::size_t e) const { return places_[static_cast<std::size_t>(A_.places[e])]; }
    // The entries of row k by ascending columns.
    std::span<const Bar> bars(std::size_t k) const {
        return std::span(bars_).subspan(first_[k], first_[k + 1] - first_[k]);
    }
    // abar_ki of an own row; rows ascend.
    double back(std::size_t k, std::size_t i) {
        const std::int64_t row = A_.first() + static_cast<std::int64_t>(i);
        const std::size_t rows = A_.rows.rows();
        const std::int64_t found = k < rows ? own_.entry(k, row) : of_ghosts_.entry(k - rows, row);
        if (found == AscendingSearch::none) return 0;
        const auto e = static_cast<std::size_t>(found);
        if (k >= rows) return told_.fine.values[e];
        return is_bar(k, e) ? A_.rows.values[e] : 0;
    }

  private:
    // The rows of ghosts: C columns by their numbers in the next level, and own F columns.
    struct Told {
        GlobalRows coarse;
        std::vector<char> is_strong;
        GlobalRows fine;
    };

    bool is_bar(std::size_t r, std::size_t e) const { return sign(A_.rows.values[e]) != sign(diagonals_[r]); }

    // A row that others have an entry for has entries for theirs, and these see of its F columns their own
    // alone.
    Told told(const Dependence& strong, const CoarseRows& coarse, GhostValues& ghosts) const {
        GlobalRows codes;
        for (std::size_t r = 0; r < A_.rows.rows(); ++r) {
            const auto [begin, end] = entries_of(A_.rows, r);
            const bool is_seen = coarse.numbers[r] == is_fine && !A_.is_inside(r);
            for (std::size_t e = begin; e < end && is_seen; ++e) {
                const auto c = static_cast<std::size_t>(A_.places[e]);
                const bool is_coarse = coarse.numbers[c] != is_fine;
                if (!is_bar(r, e) || (!is_coarse && c < A_.own_columns())) continue;
                const Code code{is_coarse ? static_cast<std::int64_t>(coarse.numbers[c]) : A_.rows.columns[e],
                                is_coarse, strong.on[e] != 0};
                append(codes, code.word(), A_.rows.values[e]);
            }
            end_row(codes);
        }
        const GlobalRows came = ghosts.rows(codes);
        Told told;
        for (std::size_t n = 0; n < came.rows(); ++n) {
            for (auto [e, end] = entries_of(came, n); e < end; ++e) {
                const Code code = Code::of(came.columns[e]);
                if (!code.is_coarse && !A_.columns.owns(A_.rank, code.name)) continue;
                append(code.is_coarse ? told.coarse : told.fine, code.name, came.values[e]);
                if (code.is_coarse) told.is_strong.push_back(code.is_strong);
            }
            end_row(told.coarse);
            end_row(told.fine);
        }
        return told;
    }
    CompactColumns columns_of(const CoarseRows& coarse) const {
        std::vector<std::int64_t> of_ghosts;
        for (std::size_t c = A_.own_columns(); c < coarse.numbers.size(); ++c)
            if (coarse.numbers[c] != is_fine)
                of_ghosts.push_back(static_cast<std::int64_t>(coarse.numbers[c]));
        return {coarse.partition.first(A_.rank), coarse.roots.size(), {of_ghosts, told_.coarse.columns}};
    }

    const PartRows& A_;
    std::vector<double> diagonals_;
    Told told_;
    CompactColumns columns_;
    AscendingSearch own_, of_ghosts_;
    std::vector<std::int32_t> places_;  // A's columns among the columns of P
    std::vector<std::size_t> first_{0};
    std::vector<Bar> bars_;
};

// Ends the row whose entries were appended, without weights below `truncation` times the largest; what stays
// is scaled to the same sum.
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

// A strong F neighbour k of row i, and a_ik.
struct FineNeighbour {
    std::size_t row;
    double value;
};

// Adds the columns of C^_i to the weights, at 0, and the strong F neighbours of row i to F. Adds the entries
// of their rows to `terms`.
void collect(const PartRows& A, const Dependence& strong, const Through& through, std::size_t i,
             RowSum& weights, std::vector<FineNeighbour>& F, std::size_t& terms) {
    for (auto [e, end] = entries_of(A.rows, i); e < end; ++e) {
        if (!strong.on[e]) continue;
        if (const std::int32_t place = through.place(e); place != Through::none) {
            weights.add(place);
            continue;
        }
        const auto k = static_cast<std::size_t>(A.places[e]);
        F.push_back({k, A.rows.values[e]});
        terms += through.bars(k).size();
        for (const auto& bar : through.bars(k))
            if (bar.is_strong) weights.add(bar.place);
    }
}

// Makes the weights -d_i w_ij of row i, and returns d_i. `next` is the place of the C column at i or after
// it.
double weigh(const PartRows& A, const Dependence& strong, Through& through, std::size_t i, std::int32_t next,
             std::span<const FineNeighbour> F, RowSum& weights) {
    double d = 0;
    for (auto [e, end] = entries_of(A.rows, i); e < end; ++e) {
        const std::int32_t place = through.place(e);
        if (double* const weight = place == Through::none ? nullptr : weights.find(place))
            *weight = A.rows.values[e];
        else if (!strong.on[e])
            d += A.rows.values[e];
    }
    for (const auto& [k, a_ik] : F) {
        const std::span<const Through::Bar> bars = through.bars(k);
        const double back = through.back(k, i);
        double b = 0;  // added up by ascending columns
        std::size_t n = 0;
        for (; n < bars.size() && bars[n].place < next; ++n)
            if (weights.find(bars[n].place)) b += bars[n].value;
        b += back;
        for (; n < bars.size(); ++n)
            if (weights.find(bars[n].place)) b += bars[n].value;
        if (b == 0) {
            d += a_ik;
            continue;
        }
        d += a_ik * back / b;
        for (const auto& bar : bars)
            if (double* const weight = weights.find(bar.place)) *weight += a_ik * bar.value / b;
    }
    return d;
}

}  // namespace

// w_ij = -1/d_i (a_ij + SUM_{k in F_i} a_ik abar_kj / b_ik) over j in C^_i = C_i + all C_k, where
// d_i = a_ii + SUM_{weak m not in C^_i} a_im + SUM_{k in F_i} a_ik abar_ki / b_ik,
// b_ik = SUM_{l in C^_i + {i}} abar_kl;
// abar_kl is a_kl where its sign is not that of a_kk, else 0; where b_ik = 0, a_ik goes to d_i.
GlobalRows interpolate_extended_i(const PartRows& A, const Dependence& strong, const CoarseRows& coarse,
                                  GhostValues& ghosts, double truncation, Work& work) {
    Through through(A, strong, coarse, ghosts);
    GlobalRows P;
    std::size_t terms = 0;
    RowSum weights(through.columns().count());  // over C^_i
    std::vector<FineNeighbour> F;
    auto next = static_cast<std::int32_t>(through.columns().first_own());
    for (std::size_t i = 0; i < A.rows.rows(); ++i) {
        if (coarse.numbers[i] != is_fine) {
            append(P, static_cast<std::int64_t>(coarse.numbers[i]), 1.0);
            end_row(P);
            ++next;
            continue;
        }
        F.clear();
        collect(A, strong, through, i, weights, F, terms);
        if (weights.empty()) {
            end_row(P);
            continue;
        }
        const double d = weigh(A, strong, through, i, next, F, weights);
        weights.finish_sorted([&](std::int32_t place, double weight) {
            append(P, through.columns().column(static_cast<std::size_t>(place)), -weight / d);
        });
        end_truncated_row(P, truncation);
    }
    work += {4 * static_cast<double>(terms),
             RowSum::bytes_of_entry * static_cast<double>(A.places.size() + terms + P.columns.size())};
    return P;
}

}  // namespace keel
