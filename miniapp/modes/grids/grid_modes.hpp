#pragma once

// The modes of grids, each described where it stands.

#include <memory>

#include "miniapp/modes/mode.hpp"

namespace keel {

std::unique_ptr<Mode> make_solve_mode();
std::unique_ptr<Mode> make_krylov_mode();
std::unique_ptr<Mode> make_survey_mode();
std::unique_ptr<Mode> make_full_multigrid_mode();
std::unique_ptr<Mode> make_exchange_mode();
std::unique_ptr<Mode> make_fixed_point_mode();
std::unique_ptr<Mode> make_orthogonalise_mode();

}  // namespace keel
