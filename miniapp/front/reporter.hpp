#pragma once

#include <memory>

#include "miniapp/front/record_file.hpp"
#include "miniapp/modes/mode.hpp"
#include "miniapp/report/header.hpp"

namespace keel {

// Flushes stdout, and complains if the system refuses the output, as on a full disk.
void write_out();

// Prints on stdout and writes records to the file, which must outlive it; does nothing unless it speaks.
std::unique_ptr<Reporter> make_reporter(bool speaks, const DeckFacts& deck, RecordFile& file);

// On stderr: everything if `verbose`; else, on a terminal, no more than a line a second. Prints nothing on
// other ranks than 0.
std::unique_ptr<Progress> make_progress(bool speaks, bool verbose);

}  // namespace keel
