#include "miniapp/modes/spmv/matrix/file/gzip_text.hpp"

namespace keel {

// An exception makes a stream bad.
std::streambuf::int_type GzipBuffer::underflow() {
    const int read = gzread(file_, text_.data(), static_cast<unsigned>(text_.size()));
    int error = Z_OK;
    gzerror(file_, &error);
    if (read < 0 || (read == 0 && error == Z_BUF_ERROR)) throw std::ios_base::failure("damaged or cut short");
    if (read == 0) return traits_type::eof();
    setg(text_.data(), text_.data(), text_.data() + read);
    return traits_type::to_int_type(text_.front());
}

}  // namespace keel
