// QR factorisations that are kept while columns come and go: against an independent program, their definition
// and their rows.

#include <catch2/catch.hpp>
#include <cmath>

#include "solvers/orthogonalise/orthogonalisers.hpp"
#include "tests/solvers/golden_file.hpp"
#include "tests/solvers/nonlinear/row_space.hpp"

using namespace keel;
using namespace keel::test;

namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

struct Case {
    std::int64_t rows;
    std::size_t most;
    int columns;  // given one after the other
    std::function<double(int c, std::int64_t r)> value;
};

Case well_conditioned() {
    return {40, 6, 9, [](int c, std::int64_t r) {
                return std::sin(1 + 0.7 * (c + 1) * static_cast<double>(r)) +
                       0.01 * std::cos(3.1 * static_cast<double>(r));
            }};
}

Case ill_conditioned() {
    return {64, 5, 8, [](int c, std::int64_t r) {
                return std::pow(0.1, c) / (static_cast<double>(r) / 64 + 1 + 0.5 * c);
            }};
}

// The factorisation of the last columns of a case.
struct Factored {
    Case chosen;
    RowSpace space;
    Field f;
    std::unique_ptr<QR> qr;

    Factored(Case given, const Orthogonaliser& row)
        : chosen(std::move(given)),
          space(chosen.rows),
          f(space.make([](std::int64_t r) { return std::cos(0.3 * static_cast<double>(r)); })),
          qr(row.make(space.system, chosen.most)) {
        for (int c = 0; c < chosen.columns; ++c) CHECK(qr->append(column(c), f));
        REQUIRE(qr->columns() == chosen.most);
    }
    Field column(int c) {
        return space.make([&, c](std::int64_t r) { return chosen.value(c, r); });
    }
    // |(QR - X) e_j| / |X e_j| of the worst column.
    double misfit() {
        double worst = 0;
        for (std::size_t j = 0; j < qr->columns(); ++j) {
            const Field x = column(chosen.columns - static_cast<int>(qr->columns()) + static_cast<int>(j));
            const double norm = space.system.norm(x);
            for (std::size_t i = 0; i <= j; ++i) space.system.axpby(x, 1, x, -qr->r(i, j), qr->basis()[i]);
            worst = std::max(worst, space.system.norm(x) / norm);
        }
        return worst;
    }
    // |Q'Q - I|, Frobenius
    double skewness() {
        double sum = 0;
        for (std::size_t i = 0; i < qr->columns(); ++i)
            for (std::size_t j = 0; j < qr->columns(); ++j)
                sum += std::pow(space.system.dot(qr->basis()[i], qr->basis()[j]) - (i == j ? 1 : 0), 2);
        return std::sqrt(sum);
    }
    double gamma_error(const std::vector<double>& want) {
        const auto gamma = qr->least_squares(f);
        double worst = 0;
        for (std::size_t i = 0; i < want.size(); ++i)
            worst = std::max(worst, std::abs(gamma[i] - want[i]) / std::abs(want[i]));
        return worst;
    }
};

QRCost spent(LinearSystem& system, const std::function<void()>& action) {
    const Counts before = system.counts();
    action();
    const Counts counts = system.counts() - before;
    return {counts.reductions, counts.words, 0};
}

QRCost without_bytes(QRCost cost) {
    cost.bytes = 0;
    return cost;
}

}  // namespace

TEST_CASE("R and the least-squares solution are those of an independent program [golden]", "[golden]") {
    const auto rows = golden("anderson_2d.json").at("qr");
    for (const Orthogonaliser& row : orthogonalisers()) {
        CAPTURE(row.name);
        Factored factored(well_conditioned(), row);
        for (const auto& want : rows) {  // all of which are the same to rounding
            for (std::size_t i = 0; i < 6; ++i)
                for (std::size_t j = i; j < 6; ++j)
                    CHECK(std::abs(factored.qr->r(i, j) - want.at("R")[i][j].get<double>()) < 1e-13);
            CHECK(factored.gamma_error(want.at("gamma")) < 1e-12);
        }
        CHECK(factored.misfit() < 1e-14);
        CHECK(factored.skewness() < 1e-14);
    }
}

TEST_CASE("an ill-conditioned factorisation is one still, and as orthogonal as its method promises [golden]",
          "[golden]") {
    const auto want = golden("anderson_2d.json").at("qr_ill").at("gamma_lstsq");
    for (const Orthogonaliser& row : orthogonalisers()) {
        CAPTURE(row.name);
        Factored factored(ill_conditioned(), row);
        CHECK(factored.misfit() < 1e-13);
        CHECK(factored.skewness() < (row.name == "cgs2" ? 1e-13 : 1e-5));
        CHECK(factored.gamma_error(want) < 1e-5);
    }
}

TEST_CASE("what least squares leaves is orthogonal to all columns, also where one was dropped apart") {
    for (const Orthogonaliser& row : orthogonalisers()) {
        CAPTURE(row.name);
        Factored factored(well_conditioned(), row);
        LinearSystem& A = factored.space.system;
        for (int drops = 0; drops < 2; ++drops) {
            factored.qr->drop_oldest();
            CHECK(factored.misfit() < 1e-14);
            CHECK(factored.skewness() < 1e-13);
        }
        // A fused method rotates Q'f with the columns; another column makes all of it anew.
        for (int more = 0; more < 2; ++more) {
            const auto gamma = factored.qr->least_squares(factored.f);
            const auto k = static_cast<int>(gamma.size());
            const Field rest = factored.space.make([](std::int64_t) { return 0.0; });
            A.copy(rest, factored.f);
            for (int j = 0; j < k; ++j)
                A.axpby(rest, 1, rest, -gamma[static_cast<std::size_t>(j)],
                        factored.column(factored.chosen.columns - k + j));
            for (int j = 0; j < k; ++j)
                CHECK(std::abs(A.dot(rest, factored.column(factored.chosen.columns - k + j))) < 1e-12);
            CHECK(factored.qr->append(factored.column(factored.chosen.columns++), factored.f));
        }
    }
}

TEST_CASE("all-reduces and words of every call are those of the method's row") {
    for (const Orthogonaliser& row : orthogonalisers()) {
        const auto most = static_cast<std::size_t>(GENERATE(1, 2, 5));
        CAPTURE(row.name, most);
        const Case given = well_conditioned();
        RowSpace space(given.rows);
        const auto qr = row.make(space.system, most);
        const Field f = space.make([](std::int64_t r) { return 1.0 + static_cast<double>(r); });
        for (int c = 0; c < 8; ++c) {
            const Field x = space.make([&](std::int64_t r) { return given.value(c, r); });
            const auto k = static_cast<long>(qr->columns());
            CHECK(spent(space.system, [&] { qr->append(x, f); }) ==
                  without_bytes(row.append(k, static_cast<long>(most))));
            CHECK(spent(space.system, [&] { qr->least_squares(f); }) ==
                  without_bytes(row.project(static_cast<long>(qr->columns()))));
            if (c != 6) continue;
            const auto left = static_cast<long>(qr->columns());
            CHECK(spent(space.system, [&] { qr->drop_oldest(); }) == without_bytes(row.drop(left)));
        }
    }
}

TEST_CASE("a start-up and a recycled column cost what is known of each method") {
    struct Known {
        const char* name;
        QRCost start_up, recycled, iteration;  // for m = 10 columns
    };
    const auto of = [](long reductions, long words) { return QRCost{reductions, words, 0}; };
    for (const auto& [name, start_up, recycled, iteration] : {
             Known{"mgs", of(55, 55), of(10, 10), of(11, 20)},
             Known{"icwy", of(19, 91), of(3, 18 + 36), of(4, 28 + 36)},
             Known{"cgs2", of(28, 100), of(3, 19), of(4, 29)},
             Known{"dcgs2", of(19, 91), of(2, 18), of(3, 28)},
             Known{"icwy_rotated", of(19, 91), of(2, 20), of(3, 30)},
             Known{"dcgs2_fused", of(20, 156), of(2, 32), of(2, 32)},
             Known{"icwy_fused", of(20, 156), of(2, 32), of(2, 32)},
         }) {
        CAPTURE(name);
        const Orthogonaliser& row = orthogonaliser_named(name);
        QRCost sum;
        for (long k = 0; k < 10; ++k) sum += row.append(k, 10);
        CHECK(without_bytes(sum) == start_up);
        CHECK(without_bytes(row.append(10, 10)) == recycled);
        CHECK(without_bytes(row.iteration(10, 10)) == iteration);
    }
    CHECK_THROWS_AS(orthogonaliser_named("qr"), std::invalid_argument);
}

TEST_CASE("a column of which nothing is left, or that is no number, is not taken") {
    for (const Orthogonaliser& row : orthogonalisers()) {
        CAPTURE(row.name);
        RowSpace space(12);
        const auto qr = row.make(space.system, 3);
        const Field f = space.make([](std::int64_t r) { return std::cos(static_cast<double>(r)); });
        const Field zero = space.make([](std::int64_t) { return 0.0; });
        const Field x = space.make([](std::int64_t r) { return static_cast<double>(r); });
        CHECK_FALSE(qr->append(zero, f));
        CHECK(qr->columns() == 0);
        CHECK(qr->least_squares(f).empty());
        CHECK(qr->append(x, f));
        CHECK_FALSE(qr->append(zero, f));
        CHECK(qr->columns() == 1);
        const auto gamma = qr->least_squares(f);
        CHECK(gamma[0] == Approx(space.system.dot(x, f) / space.system.dot(x, x)));
        CHECK_FALSE(qr->append(space.make([](std::int64_t r) { return r == 5 ? no_number : 1.0; }), f));
        CHECK(qr->columns() == 1);
        CHECK(qr->condition() == 1.0);
    }
}

TEST_CASE("the condition of a triangle is the quotient of its singular values") {
    SmallMatrix R(3);
    R(0, 0) = 1;
    R(0, 1) = 1;
    R(1, 1) = 1;
    R(2, 2) = no_number;
    R(1, 0) = 77;  // below the diagonal nothing counts
    const double golden_ratio = (1 + std::sqrt(5.0)) / 2;
    CHECK(condition_of(R, 2) == Approx(golden_ratio * golden_ratio));
    CHECK(std::isinf(condition_of(R, 3)));
    R(1, 1) = 0;
    CHECK(std::isinf(condition_of(R, 2)));
}
