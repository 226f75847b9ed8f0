#include "solvers/krylov/s_step/s_step.hpp"

#include "solvers/krylov/s_step/basis.hpp"

namespace keel {

std::vector<int> outer_steps(const BottomOptions& options) {
    std::vector<int> steps;
    for (int s = 1; options.telescoping && s < options.s; s *= 2) steps.push_back(s);
    steps.push_back(options.s);
    return steps;
}

std::vector<Relation> relations_of(const BottomOptions& options, int degree_per_s, const Spectrum& spectrum) {
    std::vector<Relation> all;
    for (const int s : outer_steps(options)) {
        const std::vector<Relation> some = recurrence(options.basis, degree_per_s * s, spectrum);
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

OuterSteps outer_steps(const BottomOptions& options, int degree_per_s, std::span<const Relation> relations) {
    return {.relations = relations,
            .first = outer_steps(options).front(),
            .last = options.s,
            .degree_per_s = degree_per_s,
            .at_once = options.powers == Powers::sequential ? 1 : 2};
}

template <class Scalar>
PairMethod<Scalar>::PairMethod(const MethodSetup& setup, int degree_per_s)
    : MethodOfSystem(setup),
      degree_per_s_(degree_per_s),
      terms_(Memory::terms(degree_per_s * options.s)),
      scalars_(Memory::scalars(degree_per_s * options.s)),
      coefficients_(Memory::coefficients(degree_per_s * options.s)) {
    for (int n = 0; n < Memory::vectors(degree_per_s * options.s); ++n) own_.push_back(vector());
    adopt(setup.spectrum);
}

template <class Scalar>
void PairMethod<Scalar>::adopt(const Spectrum& spectrum) {
    relations_ = relations_of(options, degree_per_s_, spectrum);
}

template <class Scalar>
typename PairMethod<Scalar>::Space PairMethod<Scalar>::space() {
    return {A,
            outer_steps(options, degree_per_s_, relations_),
            own_,
            {scalars_.data(), terms_.data(), coefficients_.data()}};
}

template class PairMethod<double>;
template class PairMethod<DoubleDouble>;

}  // namespace keel
