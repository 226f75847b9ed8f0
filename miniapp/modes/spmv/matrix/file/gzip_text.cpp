#include "miniapp/modes/spmv/matrix/file/gzip_text.hpp"

namespace keel {

// An exception makes a stream bad.
std::streambuf::int_type GzipText::Buffer::underflow() {
    const int read = gzread(file.get(), text.data(), static_cast<unsigned>(text.size()));
    int error = Z_OK;
    gzerror(file.get(), &error);
    if (read < 0 || (read == 0 && error == Z_BUF_ERROR)) throw std::ios_base::failure("damaged or cut short");
    if (read == 0) return traits_type::eof();
    setg(text.data(), text.data(), text.data() + read);
    return traits_type::to_int_type(text.front());
}

}  // namespace keel
