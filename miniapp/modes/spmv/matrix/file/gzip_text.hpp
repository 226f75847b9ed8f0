#pragma once

// The text of a file, which may be compressed by gzip.

#include <zlib.h>

#include <array>
#include <istream>
#include <streambuf>
#include <string>

namespace keel {

class GzipBuffer : public std::streambuf {
  public:
    explicit GzipBuffer(const std::string& file) : file_(gzopen(file.c_str(), "rb")) {}
    ~GzipBuffer() override {
        if (file_) gzclose(file_);
    }
    GzipBuffer(const GzipBuffer&) = delete;
    GzipBuffer& operator=(const GzipBuffer&) = delete;

  protected:
    int_type underflow() override;
    gzFile file_;

  private:
    std::array<char, 1 << 14> text_;
};

// It is bad where the file cannot be opened, and becomes so where it is damaged or cut short.
class GzipText : private GzipBuffer, public std::istream {
  public:
    explicit GzipText(const std::string& file)
        : GzipBuffer(file), std::istream(file_ ? static_cast<std::streambuf*>(this) : nullptr) {}
};

}  // namespace keel
