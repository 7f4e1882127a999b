#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/memory_left.h"
#include "common/simd.h"

// Facts about a machine, as data. findings.h judges them.
namespace winnow::app {

struct SystemFacts {
  std::string name{};     // "Debian GNU/Linux 13 (trixie)"
  std::string release{};  // "debian 13"; empty: os-release does not say
};

struct ProcessorFacts {
  std::string model{};
  Simd simd = Simd::kNone;  // the instruction set that loops use
  std::string simd_set{};   // WINNOW_SIMD; empty: not set
  int online_cores = 1;
  int allowed_cores = 1;   // by affinity
  double quota_cores = 0;  // limit of the control group; 0: none
  // Library and instruction set that compute convolutions: "oneDNN 2.6.3, avx512_core_bf16".
  std::string convolutions{};
};

// Bytes; kNoMemoryLimit if nothing limits.
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
  std::uint64_t room = 0;  // free bytes
};

struct MpiFacts {
  bool built = false;
  std::string library{};    // "Open MPI v4.1.4"
  bool has_threads = true;  // false if Open MPI was configured without threads
  std::string launcher{};   // path of mpirun or srun; empty: none
  std::string ssh{};
  int ranks = 1;  // ranks of this launch
};

struct CardFacts {
  std::string driver{};   // version; empty: no driver is loaded
  std::string card{};     // the first card, with its libraries; empty: no usable card
  std::string problem{};  // the reason
  bool nccl_built = false;
};

struct DecoderFacts {
  std::string format{};   // "JPEG"
  std::string problem{};  // empty: a sample was decoded
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
  std::uint64_t locked_memory = 0;  // soft limit, bytes
  std::string character_set{};      // character set of the locale: "UTF-8"
};

// Inspects this process and its machine. Writes nothing except an empty file for a moment in each
// folder.
// caches  folders in which caches are to be made
// ranks   of this launch
// Throws  nothing if something is missing: that is a fact, too
MachineFacts look_at_machine(const std::vector<std::filesystem::path>& caches, int ranks);

}  // namespace winnow::app
