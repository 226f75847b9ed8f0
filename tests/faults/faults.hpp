#pragma once

// One fault in a run: a bit that flips, or a value that becomes NaN, in a field, a message or a sum, at any
// moment. Fields are reached by operations that pass everything on to a backend's; messages and sums by MPI's
// profiling interface, on what a rank sends or adds.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/backends/registry.hpp"

namespace keel::test {

enum class Place { field, message, sum };
constexpr auto names_of(Place) {
    return std::array{"field", "message", "sum"};
}

struct Fault {
    Place place = Place::field;
    long moment = 0;           // before this rank's n-th operation, message or sum
    std::uint64_t choice = 0;  // of field, value and bit
};

class Faults {
  public:
    void plan(const Fault& fault) { *this = Faults(fault); }
    void call_off() { fault_.moment = -1; }  // a fault that has not happened yet
    void plan_none() { *this = Faults({Place::field, -1, 0}); }

    // The number of moments of this rank since the plan.
    long moments(Place place) const { return moments_[static_cast<std::size_t>(place)]; }
    const std::string& what_happened() const { return happened_; }  // empty: nothing

    void before_operation();
    void before_sending(Place place, double* values, std::size_t count);

    // The fields that exist.
    void add(const Operations* owner, Field field) { fields_.emplace_back(owner, field); }
    void remove(const Operations* owner);

  private:
    Faults() = default;
    explicit Faults(const Fault& fault) : fault_(fault) {}
    friend Faults& faults();

    bool strikes(Place place);
    void strike(double& value, const std::string& where);

    Fault fault_{Place::field, -1, 0};
    std::array<long, 3> moments_{};
    std::vector<std::pair<const Operations*, Field>> fields_;
    std::string happened_;
};

// The faults of this rank, where MPI's calls find them.
Faults& faults();

// The arguments of the last residual(r, L, u, f) on the finest level: in a run's checks, what the last solve
// left.
struct Answer {
    std::vector<double> u, f;  // cells of this rank's boxes
};

// A backend whose fields may be hit. Operations on more cells than the finest level has, those that measure
// the machine, are left alone.
class FaultyBackend : public Backend {
  public:
    FaultyBackend(std::unique_ptr<Backend> inner, const Index& finest)
        : inner_(std::move(inner)), finest_(finest) {}

    std::string name() const override { return inner_->name(); }
    std::string description() const override { return inner_->description(); }
    int threads() const override { return inner_->threads(); }
    std::unique_ptr<Operations> make_operations(const Layout& layout, int ghosts,
                                                Storage storage) const override;

    const Answer& answer() const { return *answer_; }

  private:
    std::unique_ptr<Backend> inner_;
    Index finest_;
    std::unique_ptr<Answer> answer_ = std::make_unique<Answer>();
};

}  // namespace keel::test
