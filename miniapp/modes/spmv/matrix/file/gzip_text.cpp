#include "miniapp/modes/spmv/matrix/file/gzip_text.hpp"

#include <zlib.h>

#include <array>
#include <ios>
#include <streambuf>

namespace keel {

class GzipText::Buffer : public std::streambuf {
  public:
    explicit Buffer(const std::string& file) : file_(gzopen(file.c_str(), "rb")) {}
    ~Buffer() override {
        if (file_) gzclose(file_);
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    bool is_open() const { return file_ != nullptr; }

  protected:
    // An exception makes the stream bad.
    int_type underflow() override {
        const int read = gzread(file_, text_.data(), static_cast<unsigned>(text_.size()));
        int error = Z_OK;
        gzerror(file_, &error);
        if (read < 0 || (read == 0 && error == Z_BUF_ERROR))
            throw std::ios_base::failure("compressed data are damaged or cut short");
        if (read == 0) return traits_type::eof();
        setg(text_.data(), text_.data(), text_.data() + read);
        return traits_type::to_int_type(text_.front());
    }

  private:
    gzFile file_;
    std::array<char, 1 << 16> text_;
};

GzipText::GzipText(const std::string& file) : std::istream(nullptr), buffer_(std::make_unique<Buffer>(file)) {
    rdbuf(buffer_.get());
    if (!buffer_->is_open()) setstate(std::ios_base::failbit);
}

GzipText::~GzipText() = default;

}  // namespace keel
