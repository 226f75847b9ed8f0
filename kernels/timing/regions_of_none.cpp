#include "kernels/timing/regions.hpp"

namespace keel {

std::unique_ptr<Regions> make_regions() {
    return nullptr;
}

}  // namespace keel
