#pragma once

#include <memory>

#include "miniapp/studies/study.hpp"

namespace keel {

std::unique_ptr<Study> make_network_study();

}  // namespace keel
