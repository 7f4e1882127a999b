#include "common/queue/job_queue.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <random>
#include <sstream>
#include <system_error>

#include "common/bytes.h"
#include "common/checksum.h"
#include "common/error.h"
#include "common/failpoint.h"
#include "common/host_name.h"
#include "common/json.h"
#include "common/json_reader.h"

namespace winnow {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDone = "done\n";

// Opens (creating if necessary) and locks a file for reading and writing. A null Fd if another
// process has the lock and `wait` is false.
Fd lock_file(const fs::path& path, bool wait) {
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!fd) throw_errno("cannot open " + path.string());
  while (::flock(fd.get(), LOCK_EX | (wait ? 0 : LOCK_NB)) != 0) {
    if (errno == EWOULDBLOCK) return {};
    if (errno == EINTR) continue;
    throw NoLocksError("cannot lock " + path.string() +
                       "; jobs that share a folder need a file system with locks: " +
                       std::generic_category().message(errno));
  }
  return fd;
}

// The short content of a locked file: a finished job, or a claimant's token.
std::string read_claim(const Fd& lock, const fs::path& path) {
  std::array<char, 200> text{};
  const ssize_t size = ::pread(lock.get(), text.data(), text.size(), 0);
  if (size < 0) throw_errno("cannot read " + path.string());
  return {text.data(), static_cast<std::size_t>(size)};
}

void write_claim(const Fd& lock, const fs::path& path, std::string_view text) {
  if (fault_before("file.write", path) || ::ftruncate(lock.get(), 0) != 0 ||
      ::pwrite(lock.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    throw_errno("cannot write " + path.string());
  }
  fault_after("file.write", path);
}

// A unique token across machines, beginning with its owner: "host 4711 ".
std::string draw_token() {
  std::random_device random;
  const std::string host = host_name();
  std::string token = (host.empty() ? "?" : host) + " " + std::to_string(::getpid()) + " ";
  for (int i = 0; i < 4; ++i) token += "-" + std::to_string(random());
  return token + "\n";
}

}  // namespace

std::string job_key(std::string_view job) { return to_hex(xxh3_128(as_bytes(job))); }

JobQueue::JobQueue(fs::path folder, const std::string& of) : folder_(std::move(folder)) {
  const fs::path about = folder_ / "queue.json";
  if (fs::exists(folder_) && !fs::exists(about)) {
    if (!fs::is_directory(folder_)) {
      throw UsageError(folder_.string() + " is not a folder; choose another");
    }
    for (const auto& entry : fs::directory_iterator(folder_)) {
      if (entry.path().filename().string().starts_with("queue.")) continue;
      if (fs::exists(about)) break;  // another process was creating it
      throw UsageError(folder_.string() + " contains other files, such as " +
                       entry.path().filename().string() + "; choose another folder");
    }
  }
  make_directories(folder_);
  const Fd lock = lock_file(folder_ / "queue.lock", /*wait=*/true);
  if (!fs::exists(about)) {
    write_file_durably(about, Json{{"version", 1}, {"of", of}}.dump() + "\n");
  }
  const JsonReader stored(read_text(about), {.name = about.string()});
  if (stored.at("version").number() != 1) stored.fail("is of a newer winnow");
  if (stored.at("of").text() != of) {
    throw UsageError(folder_.string() + " contains runs of " + stored.at("of").text() +
                     ", not of " + of + "; choose another folder");
  }
  for (const char* const name : {"claims", "runs", "results"}) make_directories(folder_ / name);
}

fs::path JobQueue::result_path(const std::string& key) const {
  return folder_ / "results" / (key + ".json");
}

bool JobQueue::is_finished(const std::string& key) const {
  const std::lock_guard guard(mutex_);
  return finished_.contains(key);
}

JobQueue::Next JobQueue::claim_next(std::span<const std::string> jobs) {
  Next next;
  for (const std::string& job : jobs) {
    const std::string key = job_key(job);
    if (is_finished(key)) continue;
    const fs::path path = folder_ / "claims" / key;
    Fd lock = lock_file(path, /*wait=*/false);
    if (!lock) {
      ++next.held;
      continue;
    }
    // The claim's own file is read first: its lock holder sees what another machine wrote there,
    // whereas a new name in a folder may stay invisible for a minute.
    if (read_claim(lock, path) == kDone || fs::exists(result_path(key))) {
      const std::lock_guard guard(mutex_);
      finished_.insert(key);
      continue;
    }
    Claim claim(std::move(lock), key, job, folder_ / "runs" / key);
    claim.token_ = draw_token();
    write_claim(claim.lock_, path, claim.token_);
    next.claim = std::move(claim);
    return next;
  }
  return next;
}

void JobQueue::finish(Claim claim, const Outcome& outcome) {
  const fs::path path = folder_ / "claims" / claim.key_;
  if (read_claim(claim.lock_, path) != claim.token_) {
    throw Error("another process is doing the run " + claim.folder_.string() +
                ", too: file locks do not work between the machines that share " +
                folder_.string() + "; mount it with locks, or use one machine");
  }
  Json json{{"version", 1}, {"job", claim.job_}, {"failed", outcome.failed}};
  json[outcome.failed ? "why" : "result"] = outcome.text;
  write_file_durably(result_path(claim.key_), json.dump() + "\n");
  write_claim(claim.lock_, path, kDone);
  const std::lock_guard guard(mutex_);
  finished_.insert(claim.key_);
}

std::vector<JobQueue::Holder> JobQueue::holders(std::span<const std::string> jobs) const {
  std::vector<Holder> holders;
  for (const std::string& job : jobs) {
    const std::string key = job_key(job);
    const fs::path path = folder_ / "claims" / key;
    if (is_finished(key) || !fs::exists(path) || fs::exists(result_path(key))) continue;
    if (lock_file(path, /*wait=*/false)) continue;  // nobody holds it: the former holder has died
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) continue;
    std::istringstream words(read_claim(file, path));
    Holder holder;
    holder.job = job;
    // A worker delayed between locking and writing has no name yet.
    if (words >> holder.host >> holder.process) holders.push_back(std::move(holder));
  }
  return holders;
}

std::optional<Outcome> JobQueue::outcome(std::string_view job) const {
  const fs::path path = result_path(job_key(job));
  if (!fs::exists(path)) return std::nullopt;
  const JsonReader stored(
      read_text(path),
      {.name = path.string(), .remedy = "to repeat the run, remove this file and its claim"});
  if (stored.at("version").number() != 1) stored.fail("is of a newer winnow");
  if (stored.at("job").text() != job) stored.fail("is of another run");
  const bool failed = stored.at("failed").boolean();
  return Outcome{failed, stored.at(failed ? "why" : "result").text()};
}

}  // namespace winnow
