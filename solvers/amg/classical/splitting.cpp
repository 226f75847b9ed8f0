#include "solvers/amg/classical/splitting.hpp"

#include <algorithm>

#include "solvers/amg/classical/first_pass.hpp"

namespace keel {
namespace {

// States as doubles, which travel.
constexpr double undecided_row = 0;
constexpr double fine_row = 1;
constexpr double coarse_row = 2;

}  // namespace

CoarseRows split(const Communicator& comm, const PartRows& A, const Dependence& strong, GhostValues& ghosts,
                 CoarseningRule rule) {
    const std::size_t rows = A.rows.rows();
    const auto row_at = [&](std::size_t place) {
        return place < rows ? A.first() + static_cast<std::int64_t>(place) : A.ghosts[place - rows].name;
    };
    std::vector<double> keys(rows);
    for (std::size_t r = 0; r < rows; ++r)
        keys[r] = strong.dependents[r] + static_cast<double>(random_bits(row_at(r))) * 0x1p-53;
    keys = ghosts.complete(std::move(keys));
    const auto goes_before = [&](std::size_t a, std::size_t b) {
        return keys[a] != keys[b] ? keys[a] > keys[b] : row_at(a) < row_at(b);
    };
    // Whether a strong neighbour, either way, is such.
    const auto has_neighbour = [&](std::size_t r, const auto& is_such) {
        for (auto [e, end] = entries_of(A.rows, r); e < end; ++e)
            if (strong.either(e) && is_such(static_cast<std::size_t>(A.places[e]))) return true;
        return false;
    };

    std::vector<double> state(rows, undecided_row);
    for (std::size_t r = 0; r < rows; ++r)
        if (!has_neighbour(r, [](std::size_t) { return true; })) state[r] = fine_row;
    const auto decide = [&](double decision, const auto& is_ripe) {
        const std::vector<double> all = ghosts.complete(state);
        for (std::size_t r = 0; r < rows; ++r)
            if (state[r] == undecided_row && is_ripe(all, r)) state[r] = decision;
    };
    const auto beside_coarse = [&](const std::vector<double>& all, std::size_t r) {
        return has_neighbour(r, [&](std::size_t c) { return all[c] == coarse_row; });
    };
    if (rule == CoarseningRule::hmis) {
        for (const std::size_t r : first_pass(A, strong))
            if (!has_neighbour(r, [&](std::size_t c) { return c >= rows; })) state[r] = coarse_row;
        decide(fine_row, beside_coarse);
    }
    CoarseRows found;
    while (comm.sum(static_cast<double>(std::ranges::count(state, undecided_row))) > 0) {
        ++found.rounds;
        decide(coarse_row, [&](const std::vector<double>& all, std::size_t r) {
            return !has_neighbour(
                r, [&](std::size_t c) { return all[c] == undecided_row && goes_before(c, r); });
        });
        decide(fine_row, beside_coarse);
    }

    for (std::size_t r = 0; r < rows; ++r)
        if (state[r] == coarse_row) found.roots.push_back(row_at(r));
    const auto mine = static_cast<std::int64_t>(found.roots.size());
    found.partition = partition_of(comm.all_gather({&mine, 1}));
    found.first = found.partition.first(A.rank);
    std::vector<double> number(rows, is_fine);
    for (std::size_t n = 0; n < found.roots.size(); ++n)
        number[static_cast<std::size_t>(found.roots[n] - A.first())] =
            static_cast<double>(found.first) + static_cast<double>(n);
    found.number = ghosts.complete(std::move(number));
    return found;
}

}  // namespace keel
