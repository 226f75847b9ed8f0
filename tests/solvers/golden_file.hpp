#pragma once

// Reading the golden files of tests/golden.

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kernels/check.hpp"
#include "tests/solvers/golden_problem.hpp"

namespace keel::test {

inline nlohmann::json golden(const std::string& name) {
    std::ifstream file(std::string(KEEL_SOURCE_DIR) + "/tests/golden/" + name);
    check(file.good(), "the golden file is in tests/golden");
    return nlohmann::json::parse(file);
}

// Cases of a golden file: on more than two ranks a third of them, so that 3, 4 and 8 ranks share them; all at
// night. A history depends on the ranks by its sums and exchanges alone. Files name several methods in rows
// of three: each number of ranks has all of them.
inline std::vector<nlohmann::json> in_turns(const nlohmann::json& cases) {
    const auto ranks = static_cast<std::size_t>(Communicator::world().size());
    std::vector<nlohmann::json> chosen;
    for (std::size_t k = 0; k < cases.size(); ++k)
        if (ranks <= 2 || (k + k / 3) % 3 == ranks % 3 || std::getenv("KEEL_NIGHTLY"))
            chosen.push_back(cases[k]);
    return chosen;
}

// The key "problem" of a case, cut into m boxes per direction.
inline Problem problem_of(const nlohmann::json& json, int m) {
    Problem problem;
    problem.boxes = {m, m, m};
    problem.width = json.at("N").get<int>() / m;
    const std::string bc = json.at("bc");
    problem.boundaries = bc == "periodic" ? periodic : bc == "dirichlet" ? dirichlet : neumann;
    problem.a = json.value("a", 0.9);
    problem.b = json.value("b", 0.9);
    problem.beta = json.at("beta");
    problem.alpha = json.at("alpha");
    problem.rhs = json.at("rhs");
    return problem;
}

}  // namespace keel::test
