// The two files that a process leaves: a line for each kernel and each launch that is new, written at once, and the
// counts of the launches by their numbers, in a file that is mapped into memory. Whatever ends the process, all that it
// has counted is in there.
//
// Lines have tabs between their fields:
//   cudalint-launches 1
//   K  number  sizes of parameters (with commas; `-` where they aren't known)  symbol
//   L  number of launches before it  kernel  grid x y z  block x y z  shared  cluster x y z  cooperative  stream
//      arguments (`-` where they aren't known)
//   D  name of the device
//   !  what went wrong
// Launches are numbered from 1 as they come. The counts are three numbers of 64 bits for each launch: how often it was
// made, how often it was timed, and the nanoseconds of that; the first three are of no launch: all that were made, those
// that weren't kept, and nothing.

#ifndef CUDALINT_LAUNCH_FILES_H
#define CUDALINT_LAUNCH_FILES_H

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>

namespace cudalint {

constexpr size_t kMostBytes = size_t(256) << 20;  // of lines
constexpr uint32_t kCountsAtATime = 4096;         // room for counts is made for so many launches
constexpr uint32_t kMostCounts = 1 << 20;

class Files {
  public:
    bool open(const char *folder) {
        // A process that has become another program has the same number.
        for (int again = 0; again < 1000 && lines_ < 0; ++again) {
            std::string stem = std::string(folder) + "/" + std::to_string(getpid()) + "-" + std::to_string(again);
            lines_ = ::open((stem + ".lines").c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
            if (lines_ >= 0)
                file_ = ::open((stem + ".counts").c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        }
        if (lines_ < 0 || file_ < 0 || !make_room()) return false;
        void *mapped = mmap(nullptr, kMostCounts * sizeof(Count), PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
        if (mapped == MAP_FAILED) return false;
        counts_ = static_cast<Count *>(mapped);
        return write("cudalint-launches 1");
    }

    // The number of a launch of which nothing has been counted yet; 0 where there is no room for it.
    uint32_t begin(const char *head, const std::string &text) {
        if (!counts_ || next_ >= kMostCounts || (next_ >= room_ && !make_room())) return 0;
        if (!write(head + std::to_string(counts_[0].times) + "\t" + text)) return 0;
        return next_++;
    }

    bool write(std::string line) {
        line += '\n';
        if (lines_ < 0 || bytes_ + line.size() > kMostBytes) return false;
        bytes_ += line.size();
        if (::write(lines_, line.data(), line.size()) == ssize_t(line.size())) return true;
        // A full disk: what comes now would be part of a line that has no end.
        close(lines_);
        lines_ = -1;
        return false;
    }

    void count(uint32_t number) {
        ++counts_[number].times;
        ++counts_[0].times;
    }

    void lose() {
        if (!counts_) return;
        ++counts_[0].timed;
        ++counts_[0].times;
    }

    void add_time(uint32_t number, uint64_t nanoseconds) {
        ++counts_[number].timed;
        counts_[number].nanoseconds += nanoseconds;
    }

    uint64_t timed(uint32_t number) const { return counts_[number].timed; }

  private:
    struct Count {
        uint64_t times, timed, nanoseconds;
    };

    // Zeros are written, not only a length set: a disk that is full would end the process where it uses what is mapped.
    bool make_room() {
        static const Count kNone[kCountsAtATime] = {};
        if (pwrite(file_, kNone, sizeof kNone, off_t(room_) * off_t(sizeof(Count))) != ssize_t(sizeof kNone))
            return false;
        room_ += kCountsAtATime;
        return true;
    }

    int lines_ = -1, file_ = -1;
    Count *counts_ = nullptr;
    size_t bytes_ = 0;
    uint32_t next_ = 1, room_ = 0;
};

}  // namespace cudalint

#endif
