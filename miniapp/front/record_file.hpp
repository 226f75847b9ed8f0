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

    // Makes the file if it is not there, and keeps other runs out of it while this object lives, where the
    // file system has locks: their records would stand between each other. Why that cannot be; empty if all
    // is well.
    std::string open();
    // Appends whole lines at once; on a full disk, none of them. What is written stays, whatever becomes of
    // the process. Complains when it first fails, and does nothing from then on.
    void append(const std::string& lines);
    // Closes the file, and returns whether all was written: some file systems report a full disk only here.
    bool finish();

  private:
    void note(bool well);

    std::string path_;
    std::string line_end_;  // missing where a killed run left half a line
    int file_ = -1;
    bool failed_ = false;
};

}  // namespace keel
