#pragma once

// The methods that keep a QR factorisation. Each is one file, which ends in its row; the list in
// orthogonalisers.cpp names it.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "solvers/orthogonalise/qr.hpp"

namespace keel {

// All-reduces, the doubles in them, and at least the bytes that a rank moves for each entry of a vector.
struct QRCost {
    long reductions = 0;
    long words = 0;
    long bytes = 0;

    QRCost& operator+=(const QRCost& other) {
        reductions += other.reductions;
        words += other.words;
        bytes += other.bytes;
        return *this;
    }
    friend QRCost operator+(QRCost a, const QRCost& b) { return a += b; }
    friend bool operator==(const QRCost&, const QRCost&) = default;
};

// The most frequent costs: rotations alone, and Q'f in an all-reduce of its own.
QRCost rotations(long k);
QRCost projection(long k);

// One row. Costs are exact, with k columns there at the beginning of each call.
struct Orthogonaliser {
    std::string name;
    std::string source;
    std::string use;                     // a noun phrase
    QRCost (*add)(long k) = nullptr;     // append() with room
    QRCost (*drop)(long k) = rotations;  // drop_oldest()
    // append() with `most` = k columns; null: drop(k) + add(k - 1)
    QRCost (*replace)(long k) = nullptr;
    QRCost (*project)(long k) = projection;  // least_squares()
    std::unique_ptr<QR> (*make)(LinearSystem& system, std::size_t most) = nullptr;

    // append() and least_squares() with room for `most`, one column of which may go.
    QRCost append(long k, long most) const;
    QRCost iteration(long k, long most) const;
};

// How a row makes its method, with these arguments of its constructor.
template <class Kind, auto... arguments>
std::unique_ptr<QR> make_qr(LinearSystem& system, std::size_t most) {
    return std::make_unique<Kind>(system, most, arguments...);
}

// All of them, the default first.
const std::vector<Orthogonaliser>& orthogonalisers();
std::vector<std::string> orthogonaliser_names();
const Orthogonaliser& orthogonaliser_named(std::string_view name);  // throws std::invalid_argument
}  // namespace keel
