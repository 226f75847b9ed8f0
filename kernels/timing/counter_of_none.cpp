#include "kernels/timing/counter.hpp"

namespace keel {

Counter trusted_counter() {
    return nullptr;
}

}  // namespace keel
