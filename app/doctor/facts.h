#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/memory_left.h"
#include "common/simd.h"

// Facts about a machine, as plain data. findings.h assesses them.
namespace winnow::app {

struct SystemFacts {
  std::string name{};     // "Debian GNU/Linux 13 (trixie)"
  std::string release{};  // ID and version of os-release, such as "debian 13"; empty: unknown
};

struct ProcessorFacts {
  std::string model{};
  Simd simd = Simd::kNone;  // SIMD instruction set that winnow's loops use
  std::string simd_set{};   // value of the variable WINNOW_SIMD; empty: not set
  int online_cores = 1;
  int allowed_cores = 1;   // cores that the process's CPU affinity allows
  double quota_cores = 0;  // CPU limit of the control group, in cores; 0: no limit
  // Library and instruction set that compute convolutions, such as "oneDNN 2.6.3,
  // avx512_core_bf16".
  std::string convolutions{};
};

// Memory of the machine, in bytes. kNoMemoryLimit where there is no limit.
struct MemoryFacts {
  std::uint64_t total = 0;
  std::uint64_t left = 0;  // available memory in bytes: MemAvailable of /proc/meminfo
  std::uint64_t group_left = kNoMemoryLimit;  // bytes that the control group's limit still allows
  std::uint64_t address_space_left = kNoMemoryLimit;  // bytes that `ulimit -v` still allows
};

struct FolderFacts {
  enum class Role { kMemory, kTemporary, kCaches };
  Role role = Role::kCaches;
  std::filesystem::path path{};
  bool is_there = false;
  bool writable = false;
  std::string storage{};   // kind of storage: "memory", "disk", "network"
  std::uint64_t room = 0;  // free space in bytes
};

struct MpiFacts {
  bool built = false;
  std::string library{};    // "Open MPI v4.1.4"
  bool has_threads = true;  // false if Open MPI was configured without thread support
  std::string launcher{};   // path of mpirun or srun; empty: neither was found
  std::string ssh{};
  int ranks = 1;  // number of ranks of this launch
};

struct CardFacts {
  std::string driver{};   // version of the NVIDIA driver; empty: no driver is loaded
  std::string card{};     // first GPU, with its libraries; empty: no usable GPU
  std::string problem{};  // why there is no usable GPU
  bool nccl_built = false;
};

struct DecoderFacts {
  std::string format{};   // image format, such as "JPEG"
  std::string problem{};  // why decoding a sample failed; empty: it succeeded
};

struct MachineFacts {
  SystemFacts system{};
  ProcessorFacts processor{};
  MemoryFacts memory{};
  std::vector<FolderFacts> folders{};
  MpiFacts mpi{};
  CardFacts card{};
  std::vector<DecoderFacts> decoders{};
  std::uint64_t open_files = 0;     // soft limit of open files
  std::uint64_t locked_memory = 0;  // soft limit of locked memory, in bytes
  std::string character_set{};      // character encoding of the locale, such as "UTF-8"
};

// Inspects this process and its machine. Writes nothing except, for a moment, an empty file in each
// folder, to test it.
// caches  folders in which caches are to be made
// ranks   number of ranks of this launch
// Errors  none: something that is missing is a fact to report
MachineFacts look_at_machine(const std::vector<std::filesystem::path>& caches, int ranks);

}  // namespace winnow::app
