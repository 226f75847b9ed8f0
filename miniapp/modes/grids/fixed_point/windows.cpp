#include "miniapp/modes/grids/fixed_point/windows.hpp"

#include <cmath>

#include "kernels/hash.hpp"

namespace keel {
namespace {

double noise(std::uint64_t column, const Index& cell) {
    const auto at = [&](std::size_t d) { return static_cast<std::uint64_t>(cell[d]); };
    const std::uint64_t bits = scramble(scramble(scramble(scramble(column + 1) + at(0)) + at(1)) + at(2));
    return static_cast<double>(bits >> 11) * 0x1.0p-52 - 1.0;
}

Field noise_on(Level& level, std::uint64_t column) {
    const Field x = level.operations.make_field();
    level.plain->assign(x, level.layout.box_cells(), [=](const Index& cell) { return noise(column, cell); });
    return x;
}

template <class System>
System system_of(Level& level) {
    return System(level.operations, *level.ghosts, *level.reduction, level.L, DiagonalScaling::none);
}

}  // namespace

QRCost window_cost(const Orthogonaliser& row, WindowPhase phase, long depth) {
    if (phase == WindowPhase::recycled) return row.append(depth, depth);
    if (phase == WindowPhase::iteration) return row.iteration(depth, depth);
    QRCost sum;
    for (long k = 0; k < depth; ++k) sum += row.append(k, depth);
    return sum;
}

Windows::Windows(Level& level, int depth)
    : level_(level), own_(system_of<GridSystem>(level)), shared_(system_of<SharedVectors>(level)) {
    for (int n = 0; n < depth; ++n) x_.push_back(noise_on(level, static_cast<std::uint64_t>(n)));
    f_ = noise_on(level, x_.size());
}

void Windows::all_phases(const Orthogonaliser& method, const Run& run) {
    shared_.take_back();
    qr_ = method.make(shared_, x_.size());
    next_ = 0;
    const auto append = [&] {
        qr_->append(x_[next_], f_);
        next_ = (next_ + 1) % x_.size();
    };
    const auto fill = [&] {
        for (std::size_t c = 0; c < x_.size(); ++c) append();
    };
    const auto iterate = [&] {
        append();
        qr_->least_squares(f_);
    };
    const auto all = static_cast<long>(x_.size());
    run(WindowPhase::start_up, 1, fill);
    run(WindowPhase::recycled, all, append);
    run(WindowPhase::iteration, all, iterate);
}

double Windows::misfit() {
    const std::size_t kept = qr_->columns();
    if (kept < x_.size()) return HUGE_VAL;
    double worst = 0;
    for (std::size_t j = 0; j < kept; ++j) {
        const Field column = x_[(next_ + j) % x_.size()];
        std::vector<double> c{1.0};
        std::vector<Field> terms{column};
        for (std::size_t i = 0; i <= j; ++i) {
            c.push_back(-qr_->r(i, j));
            terms.push_back(qr_->basis()[i]);
        }
        own_.combine(level_.r, c, terms);
        worst = std::max(worst, own_.norm(level_.r) / own_.norm(column));
    }
    return worst;
}

}  // namespace keel
