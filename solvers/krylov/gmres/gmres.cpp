// Restarted GMRES: Saad and Schultz, SIAM J. Sci. Stat. Comput. 7 (1986), preconditioned from the right, and
// flexible where M varies, as by the rounding of single precision (Saad, Iterative Methods for Sparse Linear
// Systems, 2nd ed., Alg. 6.9, 9.5 and 9.6, whose step numbers are in the margin). A need not be symmetric.
// The residual b - A x of the iterates never grows, and is that without M.
//
// Per iteration: 1 application (1 exchange), and the all-reduces of the form of Arnoldi's relation
// (forms.cpp). The delayed form has 1 all-reduce of 2k + 2 words for column k, and one more for each restart.
// Its residual is known an iteration late: a solve of k iterations costs k + 1 applications. Vectors: the
// m + 1 columns of V besides x and r; with M one more, and m where M varies. About 8k flops per cell for
// column k.
// Weakness: memory and flops grow with m = bottom.restart, and a restart forgets the space.

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "solvers/krylov/gmres/arnoldi.hpp"
#include "solvers/krylov/methods.hpp"

namespace keel {
namespace {

// min |norm e_1 - H y|, a column of H at a time, by rotations that make H a triangle.
class LeastSquares {
  public:
    explicit LeastSquares(std::size_t most) : R_(most, std::vector<double>(most + 1)) {
        rotations_.reserve(most);
        for (std::vector<double>* const small : {&g_, &y_, &rest_}) small->reserve(most + 1);
    }
    void begin(double norm) {
        rotations_.clear();
        g_.assign(1, norm);
    }
    std::size_t size() const { return rotations_.size(); }
    // Forgets columns of H but the first k.
    void rewind(std::size_t k) {
        while (size() > k) {
            const auto [c, s] = rotations_.back();
            QR::rotate(g_[size() - 1], g_[size()], c, -s);
            rotations_.pop_back();
            g_.pop_back();
        }
    }

    // Takes the next column of H. The norm of what the least squares leave.
    double add(std::span<const double> column) {
        const std::size_t k = size();
        std::vector<double>& h = R_[k];
        std::ranges::copy(column, h.begin());
        for (std::size_t i = 0; i < k; ++i)
            QR::rotate(h[i], h[i + 1], rotations_[i].first, rotations_[i].second);
        const double length = std::hypot(h[k], h[k + 1]);
        // A column that depends on those before it takes nothing from the residual.
        rotations_.push_back(length == 0 ? std::pair(0.0, 1.0) : std::pair(h[k] / length, h[k + 1] / length));
        h[k] = length;
        g_.push_back(0.0);
        QR::rotate(g_[k], g_[k + 1], rotations_[k].first, rotations_[k].second);
        return std::abs(g_[k + 1]);
    }
    std::span<const double> y() {
        y_.assign(g_.begin(), g_.end() - 1);
        for (std::size_t k = size(); k-- > 0;) {
            y_[k] = R_[k][k] == 0 ? 0.0 : y_[k] / R_[k][k];
            for (std::size_t i = 0; i < k; ++i) y_[i] -= R_[k][i] * y_[k];
        }
        return y_;
    }
    // norm e_1 - H y
    std::span<const double> rest() {
        rest_.assign(g_.size(), 0.0);
        rest_.back() = g_.back();
        for (std::size_t k = size(); k-- > 0;)
            QR::rotate(rest_[k], rest_[k + 1], rotations_[k].first, -rotations_[k].second);
        return rest_;
    }

  private:
    std::vector<std::vector<double>> R_;  // columns
    std::vector<std::pair<double, double>> rotations_;
    std::vector<double> g_, y_, rest_;
};

class Gmres : public MethodOfSystem {
  public:
    Gmres(const MethodSetup& setup, std::unique_ptr<Arnoldi> relation)
        : MethodOfSystem(setup), V(std::move(relation)), H(static_cast<std::size_t>(setup.options.restart)) {}

    void adopt(const Spectrum& spectrum) override { V->adopt(spectrum); }
    std::optional<double> orthogonality() override { return V->orthogonality(); }

    Outcome iterate(const Run& run, Report& report) override {
        const int last = report.iterations + run.limit;
        norm = std::sqrt(run.rr);
        for (;;) {
            const auto end = cycle(run, last, report);
            if (!end) V->form(run.r, H.rest());  // r = b - A x
            V->correct(run.x, H.y());            // 12
            if (end) return *end;
        }
    }

  private:
    // The iterations until a restart, or how they ended before.
    std::optional<Outcome> cycle(const Run& run, int last, Report& report) {
        V->begin(run.r, norm);  // 1
        H.begin(norm);
        const auto most = static_cast<std::size_t>(std::min(options.restart, last - report.iterations));
        std::optional<Outcome> end;
        for (std::size_t step = 0; !end && H.size() < most; ++step) {  // 2
            const std::size_t before = H.size();
            H.rewind(V->settled());
            if (step < most)
                V->extend();  // 3 to 9
            else
                V->conclude();
            add_columns(before);
            while (!end && H.size() < std::min(V->known(), most)) end = iteration(run, report);
        }
        if (const std::size_t before = H.size(); V->settled() < before) {
            H.rewind(V->settled());
            V->conclude();
            add_columns(before);
            report.residuals.back() = norm / run.scale;
            if (end == Outcome::converged && norm > run.target) end.reset();
        }
        if (!end && report.iterations == last) return Outcome::iteration_limit;
        return end;
    }

    void add_columns(std::size_t size) {
        while (H.size() < size) norm = H.add(V->column(H.size()));
    }
    std::optional<Outcome> iteration(const Run& run, Report& report) {
        add_columns(H.size() + 1);
        ++report.iterations;
        report.residuals.push_back(norm / run.scale);
        if (norm <= run.target) return Outcome::converged;
        if (!std::isfinite(norm) || unusable(V->column(H.size() - 1).back())) return report.breakdown("h");
        return {};
    }

    std::unique_ptr<Arnoldi> V;
    LeastSquares H;
    double norm = 0;  // |b - A x|
};

std::unique_ptr<KrylovMethod> by_form(const MethodSetup& setup) {
    return gmres_on(setup, make_arnoldi(setup));
}

Quantity in_restart(const std::string& text, double (*of_cycle)(const BottomOptions&)) {
    return {text, [of_cycle](const BottomOptions& options) { return of_cycle(options) / options.restart; }};
}

}  // namespace

std::unique_ptr<KrylovMethod> gmres_on(const MethodSetup& setup, std::unique_ptr<Arnoldi> V) {
    return std::make_unique<Gmres>(setup, std::move(V));
}

Method gmres() {
    return {
        .name = "gmres",
        .source = "Saad and Schultz 1986; Bielich et al. 2022",
        .use = "any matrix, any preconditioner; |r| never grows",
        .scaling = DiagonalScaling::right,
        .exchanges = 1,
        .reductions = in_restart("1 + 1/m", [](const auto& o) { return cost_of_arnoldi(o).reductions; }),
        .words = in_restart("m + 2 + 1/m", [](const auto& o) { return cost_of_arnoldi(o).words; }),
        .vectors = {"m + 1", [](const BottomOptions& o) { return cost_of_arnoldi(o).vectors; }},
        .applications = 1,
        // Besides, a restart corrects x and forms r.
        .flops = in_restart("4m + 12 + 6/m",
                            [](const auto& o) { return cost_of_arnoldi(o).flops + 4.0 * o.restart + 2; }),
        .keys = {"restart", "orthogonalisation"},
        .preconditioning = Preconditioning::own,
        .preconditioned_vectors = 1,
        .flexible = true,
        .make = by_form,
        .make_preconditioned = by_form,
    };
}

}  // namespace keel
