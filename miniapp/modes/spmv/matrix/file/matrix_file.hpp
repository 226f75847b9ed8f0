#pragma once

// A Matrix Market file that all ranks read together, each lines of its own, about as many bytes as any other.

#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "comm/ranks/communicator.hpp"
#include "miniapp/modes/spmv/matrix/file/matrix_market.hpp"

namespace keel {

// The lines behind the header that are the part'th reader's of so many; `bytes` are those of the file. Every line is one
// reader's: that in whose share it begins.
FileLines lines_of(std::istream& file, const MatrixHeader& header, std::int64_t bytes, int part, int parts);

// Which file a name stands for on a node, as it was last written.
struct FileIdentity {
    std::int64_t bytes = -1;  // -1: none that can be read
    std::int64_t device = 0, number = 0, seconds = 0, nanoseconds = 0;

    friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};
FileIdentity identity_of(const std::string& name);

class MatrixFile {
  public:
    // Reads the header. Collective, as read().
    MatrixFile(const Communicator& comm, std::string name);

    // What is wrong, with the line if there is one; the first in the file, and the same on all ranks. Empty if nothing is.
    const std::string& complaint() const { return complaint_; }
    const MatrixHeader& header() const { return header_; }

    // Tells `take` of the entries of this rank's lines, those of a symmetric matrix beside the diagonal twice. All ranks call
    // `pause` equally often, each behind so many lines with entries at the most and once at the end. Sets the complaint where a line is wrong, and where
    // what was read is not one file: a rank finds other bytes than rank 0, or somebody writes meanwhile.
    void read(std::int64_t at_once, const std::function<void(const FileEntry&)>& take,
              const std::function<void()>& pause);

  private:
    void agree(const std::string& mine);
    // What those find who read the file of rank 0, of the lines of those who may have another one.
    std::string unlike_rank_0(const FileLines& lines, const LineCount& count);

    const Communicator& comm_;
    std::string name_;
    FileIdentity identity_;
    std::ifstream file_;
    MatrixHeader header_;
    std::string complaint_;
};

}  // namespace keel
