#pragma once

// The text of a file, which may be compressed by gzip.

#include <zlib.h>

#include <array>
#include <istream>
#include <memory>
#include <streambuf>
#include <string>

namespace keel {

// It is bad where the file cannot be opened, and becomes so where it is damaged or cut short.
class GzipText : public std::istream {
  public:
    explicit GzipText(const std::string& file) : std::istream(nullptr), buffer_(file) {
        if (buffer_.file) rdbuf(&buffer_);
    }

  private:
    struct Buffer : std::streambuf {
        explicit Buffer(const std::string& name) : file(gzopen(name.c_str(), "rb"), gzclose) {}
        int_type underflow() override;

        std::unique_ptr<gzFile_s, int (*)(gzFile)> file;
        std::array<char, 1 << 14> text;
    };
    Buffer buffer_;
};

}  // namespace keel
