#pragma once

// The backends in this executable, by name.

#include <memory>
#include <string>
#include <vector>

#include "kernels/operations.hpp"

namespace keel {

class Backend {
  public:
    virtual ~Backend() = default;
    virtual std::string name() const = 0;
    virtual std::string description() const = 0;  // for the report's header, e.g. the number of threads
    virtual int threads() const = 0;
    // Operations on this rank's boxes of a level whose fields have `ghosts` ghost layers.
    virtual std::unique_ptr<Operations> make_operations(const Layout& layout, int ghosts) const = 0;
};

std::vector<std::string> backend_names();
// Throws std::invalid_argument for a name that is not among backend_names().
std::unique_ptr<Backend> make_backend(const std::string& name);

}  // namespace keel
