#pragma once

// The text of a file, which may be compressed by gzip.

#include <istream>
#include <memory>
#include <string>

namespace keel {

// A file that cannot be opened leaves the stream without success; one that is damaged or cut short makes it
// bad.
class GzipText : public std::istream {
  public:
    explicit GzipText(const std::string& file);
    ~GzipText() override;

  private:
    class Buffer;
    std::unique_ptr<Buffer> buffer_;
};

}  // namespace keel
