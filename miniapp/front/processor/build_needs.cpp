// Compiled with the flags of the build, whose macros it records: the features that any of its other code may
// use. It holds data alone, so that no processor ends here.

#include "features.hpp"

#define KEEL_TEXT(text) #text
// A macro that is not defined is its own name.
#define KEEL_NEED(macro, name, present) KEEL_TEXT(macro)[0] != '_',

namespace keel {

extern const bool build_needs[];
constexpr bool build_needs[] = {KEEL_FEATURES(KEEL_NEED)};

}  // namespace keel
