#pragma once

// The studies of grids, each described where it stands.

#include <memory>

#include "miniapp/studies/study.hpp"

namespace keel {

std::unique_ptr<Study> make_solve_study();
std::unique_ptr<Study> make_krylov_study();
std::unique_ptr<Study> make_survey_study();
std::unique_ptr<Study> make_full_multigrid_study();
std::unique_ptr<Study> make_exchange_study();
std::unique_ptr<Study> make_fixed_point_study();
std::unique_ptr<Study> make_orthogonalise_study();

}  // namespace keel
