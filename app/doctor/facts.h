#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/memory_left.h"
#include "common/simd.h"

// What a machine has, as data: findings.h judges it.
namespace winnow::app {

struct SystemFacts {
  std::string name{};     // "Debian GNU/Linux 13 (trixie)"
  std::string release{};  // "debian 13"; empty: no os-release says it
};

struct ProcessorFacts {
  std::string model{};
  Simd simd = Simd::kNone;  // that loops use
  std::string simd_set{};   // WINNOW_SIMD; empty: not set
  int online_cores = 1;
  int allowed_cores = 1;   // affinity
  double quota_cores = 0;  // control group; 0: none
  // Computes convolutions, by which instruction set: "oneDNN 2.6.3, avx512_core_bf16".
  std::string convolutions{};
};

// Bytes; kNoMemoryLimit where nothing limits.
struct MemoryFacts {
  std::uint64_t total = 0;
  std::uint64_t left = 0;  // MemAvailable
  std::uint64_t group_left = kNoMemoryLimit;
  std::uint64_t address_space_left = kNoMemoryLimit;  // ulimit -v, less what is mapped already
};

struct FolderFacts {
  enum class Role { kMemory, kTemporary, kCaches };
  Role role = Role::kCaches;
  std::filesystem::path path{};
  bool is_there = false;
  bool writable = false;
  std::string storage{};   // "memory", "disk", "network"
  std::uint64_t room = 0;  // bytes
};

struct MpiFacts {
  bool built = false;
  std::string library{};    // "Open MPI v4.1.4"
  bool has_threads = true;  // false where Open MPI says that it was configured without
  std::string launcher{};   // mpirun's or srun's path; empty: none
  std::string ssh{};
  int ranks = 1;  // of this launch
};

struct CardFacts {
  std::string driver{};   // its version; empty: none is loaded
  std::string card{};     // the first, with the libraries that serve it; empty: none can be used
  std::string problem{};  // why
  bool nccl_built = false;
};

struct DecoderFacts {
  std::string format{};   // "JPEG"
  std::string problem{};  // empty: a sample was read
};

struct MachineFacts {
  SystemFacts system{};
  ProcessorFacts processor{};
  MemoryFacts memory{};
  std::vector<FolderFacts> folders{};
  MpiFacts mpi{};
  CardFacts card{};
  std::vector<DecoderFacts> decoders{};
  std::uint64_t open_files = 0;     // soft limit
  std::uint64_t locked_memory = 0;  // likewise, bytes
  std::string character_set{};      // of the locale: "UTF-8"
};

// Looks at this process and its machine. Writes nothing but an empty file for a moment in each
// folder.
// caches  folders that caches are to be in
// ranks   of this launch
// Throws  nothing that a missing thing causes: that is a fact, too
MachineFacts look_at_machine(const std::vector<std::filesystem::path>& caches, int ranks);

}  // namespace winnow::app
