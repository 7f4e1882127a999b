#include "dedup/review/review_log.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "common/error.h"
#include "common/failpoint.h"

namespace winnow::dedup {
namespace {

namespace fs = std::filesystem;

Fd open_log(const fs::path& path) {
  if (fault_before("file.create", path)) throw_errno("cannot open " + path.string());
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0644));
  if (!fd) throw_errno("cannot open " + path.string());
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) throw_errno("cannot look at " + path.string());
  if (!S_ISREG(info.st_mode)) {
    throw UsageError(path.string() + " is not a regular file, so it cannot store a review");
  }
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) throw_errno("cannot lock " + path.string());
    throw UsageError(path.string() +
                     " is open in another winnow review; end that one, or name another file");
  }
  fault_after("file.create", path);
  return fd;
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

}  // namespace

ReviewLog::ReviewLog(fs::path path) : path_(std::move(path)), fd_(open_log(path_)) {
  const std::string text = read_text(path_);
  const std::string header = review_header();
  const bool begins = text.size() < header.size() && header.starts_with(text);
  if (!begins) {
    review_ = parse_review(text, path_.string());
    size_ = review_.complete_bytes;
  }
  if (size_ < text.size() && !cut_to_size()) {
    throw_errno("cannot remove the line that was cut off at the end of " + path_.string());
  }
  if (begins) {
    append_lines(header);
    review_ = parse_review(header, path_.string());
    fsync_directory(folder_of(path_));
  }
}

void ReviewLog::append(std::span<const Judgement> judgements) {
  std::string lines;
  for (const Judgement& judgement : judgements) lines += review_line(judgement);
  append_lines(lines);
}

void ReviewLog::append(const PairSample& sample) { append_lines(review_line(sample)); }

void ReviewLog::append_lines(std::string_view lines) {
  if (broken_) {
    throw SystemError(path_.string() +
                      " could not be repaired after an error; start winnow review again");
  }
  try {
    write_at_end(lines);
  } catch (const SystemError&) {
    broken_ = !cut_to_size();
    throw;
  }
  size_ += lines.size();
}

void ReviewLog::write_at_end(std::string_view lines) {
  if (fault_before("file.write", path_)) throw_errno("cannot write " + path_.string());
  for (std::size_t done = 0; done < lines.size();) {
    const ssize_t more = ::write(fd_.get(), lines.data() + done, lines.size() - done);
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) throw_errno("cannot write " + path_.string());
    done += static_cast<std::size_t>(more);
  }
  fault_after("file.write", path_);
  if (fault_before("file.sync", path_) || ::fsync(fd_.get()) != 0) {
    throw_errno("cannot sync " + path_.string());
  }
  fault_after("file.sync", path_);
}

bool ReviewLog::cut_to_size() noexcept {
  return ::ftruncate(fd_.get(), static_cast<off_t>(size_)) == 0 && ::fsync(fd_.get()) == 0;
}

}  // namespace winnow::dedup
