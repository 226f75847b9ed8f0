#pragma once

#include <memory>

#include "miniapp/studies/study.hpp"

namespace keel {

std::unique_ptr<Study> make_spmv_study();

}  // namespace keel
