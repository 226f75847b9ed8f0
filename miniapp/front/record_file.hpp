#pragma once

#include <string>

namespace keel {

// The file that output.json names.
class RecordFile {
  public:
    explicit RecordFile(std::string path);  // empty: none, and nothing is written
    ~RecordFile();
    RecordFile(const RecordFile&) = delete;
    RecordFile& operator=(const RecordFile&) = delete;

    // Makes the file if it is not there, and keeps other runs out of it while this object lives, where the file system has
    // locks: their records would stand between each other. Why that cannot be; empty if all is well.
    std::string open();
    // Appends whole lines at once: what is written stays, whatever becomes of the process. Complains when it first fails, and
    // does nothing from then on.
    void append(const std::string& lines);
    bool complete() const { return !failed_; }

  private:
    std::string path_;
    int file_ = -1;
    bool failed_ = false;
};

}  // namespace keel
