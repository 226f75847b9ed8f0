#pragma once

#include <string>

namespace keel {

// The file that output.json names, made by the first record.
class RecordFile {
  public:
    explicit RecordFile(std::string path);  // empty: none, and nothing is written
    ~RecordFile();
    RecordFile(const RecordFile&) = delete;
    RecordFile& operator=(const RecordFile&) = delete;

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
