// Matrix Market files: a file is taken with every entry inside the matrix, or refused by the line.

#include <sstream>

#include "miniapp/modes/spmv/matrix/file/matrix_market.hpp"
#include "tests/fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace keel;
    std::istringstream file(text_of(data, size));
    try {
        const MatrixHeader header = read_matrix_header(file, "matrix.mtx");
        require(header.rows > 0 && header.entries >= 0, "sizes are sizes");
        std::int64_t taken = 0;
        read_matrix_entries(file, "matrix.mtx", header, [&](const FileEntry& entry) {
            require(entry.row >= 0 && entry.row < header.rows, "rows are in the matrix");
            require(entry.column >= 0 && entry.column < header.rows, "columns are in the matrix");
            ++taken;
        });
        require(taken >= header.entries, "every entry is taken");
    } catch (const MatrixFileError& error) {
        require(std::string(error.what()).starts_with("matrix.mtx:"), "a complaint names the file");
    }
    return 0;
}
