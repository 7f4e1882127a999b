#include "pipeline/store/memory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>

#include "common/error.h"
#include "common/failpoint.h"
#include "common/memory_left.h"

namespace winnow::pipeline {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t kNoLimit = kNoMemoryLimit;

Fd open_folder(const fs::path& folder) {
  return Fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

std::string mebibytes(std::uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

}  // namespace

Storage storage_of(std::uint64_t magic) noexcept {
  // From linux/magic.h, or the file system's own sources.
  constexpr std::array<std::uint64_t, 2> kMemory{0x01021994, 0x858458f6};  // tmpfs, ramfs
  constexpr std::array<std::uint64_t, 16> kNetwork{
      0x6969,      // NFS
      0x517b,      // SMB
      0xfe534d42,  // SMB 2 and 3
      0xff534d42,  // CIFS
      0x65735546,  // FUSE
      0x0bd00bd0,  // Lustre
      0x47504653,  // GPFS
      0x19830326,  // BeeGFS
      0x00c36400,  // Ceph
      0x20030528,  // OrangeFS
      0xaad7aaea,  // PanFS
      0x5346414f,  // AFS
      0x6b414653,  // kAFS
      0x73757245,  // Coda
      0x01021997,  // 9p
      0x786f4256,  // VirtualBox shared folders
  };
  if (std::ranges::find(kMemory, magic) != kMemory.end()) return Storage::kMemory;
  return std::ranges::find(kNetwork, magic) != kNetwork.end() ? Storage::kNetwork : Storage::kDisk;
}

Storage storage_at(const fs::path& path) {
  if (fault_before("fs.type", path)) return Storage::kNetwork;
  struct statfs info {};
  if (::statfs(path.c_str(), &info) != 0) throw_errno("cannot look at " + path.string());
  // The field is signed and wider on some architectures.
  return storage_of(static_cast<std::uint64_t>(info.f_type) & 0xffffffff);
}

std::uint64_t Room::bytes() const noexcept { return std::min({file_system, machine, group}); }

Room room_at(const fs::path& folder) {
  const auto but_for_programs = [](std::uint64_t left) {
    constexpr std::uint64_t kForPrograms = std::uint64_t{256} << 20;
    return left == kNoLimit ? left : left - std::min(left, kForPrograms);
  };
  struct statfs info {};
  if (::statfs(folder.c_str(), &info) != 0) throw_errno("cannot look at " + folder.string());
  const bool unlimited = info.f_blocks == 0;  // ramfs, and tmpfs mounted with size=0
  Room room{.file_system = unlimited ? kNoLimit : free_bytes(folder)};
  if (storage_at(folder) == Storage::kMemory) {
    room.machine = but_for_programs(machine_memory_left());
    room.group = but_for_programs(group_memory_left());
  }
  return room;
}

std::string to_string(const Room& room) {
  std::string text;
  const auto add = [&](const char* what, std::uint64_t left) {
    if (left != kNoLimit)
      text += (text.empty() ? "" : ", ") + (mebibytes(left) + " by the ") + what;
  };
  add("file system", room.file_system);
  add("machine's memory", room.machine);
  add("control group", room.group);
  return text;
}

std::uint64_t memory_left() {
  std::error_code ignored;
  if (!fs::is_directory(kMemoryFolder, ignored)) {
    throw UsageError(std::string("shards cannot be kept in memory: there is no ") + kMemoryFolder +
                     " here; leave out --memory");
  }
  return std::min({free_bytes(kMemoryFolder), machine_memory_left(), group_memory_left()});
}

std::string memory_prefix() { return "winnow-" + std::to_string(::geteuid()) + "-"; }

bool is_our_memory(const fs::path& folder, const fs::path& memory) {
  struct stat info {};
  return folder.parent_path() == memory &&
         folder.filename().string().starts_with(memory_prefix()) &&
         ::lstat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == ::geteuid();
}

Fd use_folder(const fs::path& folder) {
  Fd fd = open_folder(folder);
  if (fd && ::flock(fd.get(), LOCK_SH | LOCK_NB) != 0) fd = {};
  return fd;
}

std::optional<Fd> lock_unused(const fs::path& folder) {
  Fd fd = open_folder(folder);
  if (!fd || ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return fd;
  if (errno == EWOULDBLOCK) return std::nullopt;
  return Fd();
}

std::vector<int> users_of(const fs::path& folder) {
  struct stat info {};
  if (::stat(folder.c_str(), &info) != 0) return {};
  std::vector<int> users;
  std::ifstream in("/proc/locks");
  std::string line;
  while (std::getline(in, line)) {
    // Line format: 3: FLOCK  ADVISORY  READ  4711 00:19:1234 0 EOF
    std::istringstream fields(line);
    std::string number, kind, advisory, mode, place;
    int process = 0;
    if (!(fields >> number >> kind >> advisory >> mode >> process >> place)) continue;
    unsigned int device_major = 0;
    unsigned int device_minor = 0;
    unsigned long inode = 0;
    if (std::sscanf(place.c_str(), "%x:%x:%lu", &device_major, &device_minor, &inode) != 3)
      continue;
    if (kind == "FLOCK" && process > 0 && inode == info.st_ino &&
        makedev(device_major, device_minor) == info.st_dev) {
      users.push_back(process);
    }
  }
  std::ranges::sort(users);
  users.erase(std::unique(users.begin(), users.end()), users.end());
  return users;
}

std::string in_words(std::span<const int> users) {
  if (users.empty()) return "another process uses it";
  std::string text = users.size() == 1 ? "process " : "processes ";
  for (std::size_t i = 0; i < users.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(users[i]);
  }
  return text + (users.size() == 1 ? " uses it" : " use it");
}

}  // namespace winnow::pipeline
