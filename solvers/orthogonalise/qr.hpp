#pragma once

// A thin factorisation X = Q R of the last vectors of a window, kept while a new one comes and the
// oldest goes: Anderson acceleration solves its least-squares problems with it. The methods differ in how
// they make a new column orthogonal, and so in their all-reduces; each is one file, which ends in its row
// (orthogonalisers.hpp).
//
// R and all that is as small is the same on every rank. The oldest column leaves by Givens rotations of R and
// Q, without communication (QRDelete). Each moves two columns and writes them by way of a third: 6 doubles an
// entry, where 4 would do.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "solvers/systems/linear_system.hpp"

namespace keel {

// A small square matrix, by rows.
class SmallMatrix {
  public:
    explicit SmallMatrix(std::size_t n) : n_(n), values_(n * n) {}
    double& operator()(std::size_t i, std::size_t j) { return values_[i * n_ + j]; }
    double operator()(std::size_t i, std::size_t j) const { return values_[i * n_ + j]; }
    std::size_t size() const { return n_; }
    void clear() { values_.assign(values_.size(), 0.0); }

  private:
    std::size_t n_;
    std::vector<double> values_;
};

// |R| |R^-1|, 2-norms, of the leading k rows and columns; +infinity where a value is not finite or the
// diagonal has a zero.
double condition_of(const SmallMatrix& R, std::size_t k);

// (I + L)^-1 y in place, of the strictly lower triangle L of the leading y.size() rows of W.
void solve_unit_lower(const SmallMatrix& W, std::span<double> y);

class QR {
  public:
    using Vector = LinearSystem::Vector;

    // Makes `most` columns, 1 or more, and a vector to rotate with. The system must outlive this object.
    QR(LinearSystem& system, std::size_t most);
    virtual ~QR() = default;

    std::size_t columns() const { return k_; }
    std::size_t most() const { return R_.size(); }
    std::span<const Vector> basis() const { return std::span(Q_).first(k_); }  // the columns of Q
    double r(std::size_t i, std::size_t j) const { return R_(i, j); }
    double condition() const { return condition_of(R_, k_); }
    virtual void clear();

    // Drops the oldest column where there are most(), and takes x for a new one. False, and no column more,
    // where what is left of x is zero or not finite. f: what least_squares() will be asked for next, for
    // methods that form Q'f on the way; x and f are not changed. Collective, as all that follows.
    virtual bool append(Vector x, Vector f) = 0;
    virtual void drop_oldest() { rotate_out_oldest(); }
    // gamma of the least |f - X gamma|, oldest column first.
    std::span<const double> least_squares(Vector f);
    // R gamma, the coordinates of that X gamma in Q; of the f of the last least_squares().
    std::span<const double> coordinates() const { return std::span(c_).first(k_); }
    // (f,f), where append() formed it on the way.
    virtual std::optional<double> square_of_f() const { return {}; }

    // a = c a + s b, b = c b - s a
    static void rotate(double& a, double& b, double c, double s) {
        const double old = a;
        a = c * old + s * b;
        b = c * b - s * old;
    }

  protected:
    LinearSystem& A() { return A_; }
    SmallMatrix& R() { return R_; }
    std::vector<double>& c() { return c_; }
    Vector q(std::size_t j) const { return Q_[j]; }

    // The column that is to be the k-th, with x in it.
    Vector begin(Vector x);
    // v -= Q y, of as many columns as y has entries.
    void subtract(Vector v, std::span<const double> y);
    // The k-th column of R above the diagonal.
    void set_column(std::span<const double> y);
    // v, made orthogonal, with (v,v): R_kk and q_k.
    bool normalise(Vector v, double vv);

    void rotate_out_oldest();
    // Rows i and i + 1 of R and columns i and i + 1 of Q were rotated.
    virtual void rotated(std::size_t /*i*/, double /*c*/, double /*s*/) {}

    // One all-reduce for inner products that are listed one by one.
    void want(Vector x, Vector y) { wanted_.push_back({x, y}); }
    void want_columns(std::size_t count, Vector x) {
        for (std::size_t j = 0; j < count; ++j) want(q(j), x);
    }
    std::span<double> reduce();

    // c = Q'f, unless append() has formed it.
    virtual void project(Vector f);

  private:
    LinearSystem& A_;
    std::size_t k_ = 0;
    std::vector<Vector> Q_;  // and behind the last column the vector to rotate with
    SmallMatrix R_;
    std::vector<double> c_, gamma_;
    std::vector<Product> wanted_;
    std::vector<double> sums_;
    std::vector<double> factors_;
    std::vector<Vector> terms_;
};

// A factorisation that forms Q'x, and Q'Q if it keeps it, in one all-reduce before the oldest column is
// dropped.
class GramQR : public QR {
  public:
    GramQR(LinearSystem& system, std::size_t most, bool keeps)
        : QR(system, most), W(keeps ? most : 0), keeps_(keeps) {}
    // Outside append() no sums of the columns are at hand: Q'Q is formed anew.
    void drop_oldest() override;

  protected:
    // Drops the oldest column, and rotates Q'x and Q'Q as well.
    void rotate_out_with_sums();
    void rotated(std::size_t i, double c, double s) override;

    SmallMatrix W;        // Q'Q but for its newest row, until the next append()
    std::span<double> h;  // Q'x

  private:
    bool keeps_;
    bool with_sums_ = false;
};

}  // namespace keel
