#pragma once

#include <memory>

#include "miniapp/front/record_file.hpp"
#include "miniapp/report/header.hpp"

namespace keel {

// Prints on stdout and writes records to the file, which must outlive it; where it does not speak it does nothing.
std::unique_ptr<Reporter> make_reporter(bool speaks, const DeckFacts& deck, RecordFile& file);

}  // namespace keel
