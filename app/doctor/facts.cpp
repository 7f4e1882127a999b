#include "app/doctor/facts.h"

#include <fmt/format.h>
#include <langinfo.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <span>
#include <sstream>

#include "app/words.h"
#include "common/comm/mpi/mpi.h"
#include "common/comm/nccl/nccl.h"
#include "common/image.h"
#include "common/system_field.h"
#include "common/thread_plan.h"
#include "pipeline/decode/decode.h"
#include "pipeline/decode/encode.h"
#include "pipeline/store/memory.h"
#include "train/backend/cudnn/device.h"
#include "train/backend/onednn/onednn.h"

namespace winnow::app {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string on_path(const std::string& program) {
  std::istringstream folders(environment("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path path = fs::path(folder) / program;
    if (::access(path.c_str(), X_OK) == 0) return path.string();
  }
  return "";
}

std::uint64_t soft_limit(decltype(RLIMIT_AS) what) {
  rlimit limit{};
  if (::getrlimit(what, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kNoMemoryLimit;
  return limit.rlim_cur;
}

// From os-release. OS_RELEASE names another file, as for winnow-doctor.
SystemFacts system_facts() {
  const std::string named = environment("OS_RELEASE");
  std::ifstream lines(named.empty() ? "/etc/os-release" : named);
  std::map<std::string, std::string> fields;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos) continue;
    std::string value = line.substr(equals + 1);
    std::erase_if(value, [](char c) { return c == '"' || c == '\''; });
    fields[line.substr(0, equals)] = value;
  }
  if (fields["ID"].empty()) return {};
  std::string release = fields["ID"] + " " + fields["VERSION_ID"];
  std::string name = fields["PRETTY_NAME"].empty() ? release : fields["PRETTY_NAME"];
  return {.name = std::move(name), .release = std::move(release)};
}

ProcessorFacts processor() {
  const ThreadPlanInputs threads = detect_threads(1, 1);
  const std::unique_ptr<train::Backend> backend = train::make_onednn_backend();
  return {.model = processor_name(),
          .simd = widest_simd(),
          .simd_set = environment("WINNOW_SIMD"),
          .online_cores = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)),
          .allowed_cores = threads.affinity_cores,
          .quota_cores = threads.quota_cores,
          .convolutions = backend->library() + ", " + backend->instruction_set()};
}

MemoryFacts memory() {
  constexpr std::uint64_t kKibibyte = 1024;
  const std::uint64_t limit = soft_limit(RLIMIT_AS);
  const std::uint64_t mapped =
      read_memory_field("/proc/self/status", "VmSize:", kKibibyte).value_or(0);
  return {.total = read_memory_field("/proc/meminfo", "MemTotal:", kKibibyte).value_or(0),
          .left = machine_memory_left(),
          .group_left = group_memory_left(),
          .address_space_left = limit == kNoMemoryLimit ? limit : limit - std::min(limit, mapped)};
}

// Whether a file can be created there. Permissions alone do not tell: the file system may be
// read-only.
bool can_write(const fs::path& folder) {
  std::string name = (folder / "winnow-doctor-XXXXXX").string();
  const int file = ::mkstemp(name.data());
  if (file < 0) return false;
  ::close(file);
  return ::unlink(name.c_str()) == 0;
}

FolderFacts folder(FolderFacts::Role role, const fs::path& path) {
  constexpr std::array kStorages{"disk", "memory", "network"};
  FolderFacts facts{.role = role, .path = path};
  try {
    facts.is_there = fs::is_directory(path);
    if (!facts.is_there) return facts;
    facts.storage = kStorages.at(static_cast<std::size_t>(pipeline::storage_at(path)));
    facts.room = pipeline::room_at(path).bytes();
    facts.writable = can_write(path);
  } catch (const std::exception&) {
    facts.is_there = false;  // it went away, or a folder above it may not be read
  }
  return facts;
}

std::vector<FolderFacts> folders(const std::vector<fs::path>& caches) {
  const std::string temporary = environment("TMPDIR");
  std::vector<FolderFacts> all{
      folder(FolderFacts::Role::kMemory, pipeline::kMemoryFolder),
      folder(FolderFacts::Role::kTemporary, temporary.empty() ? "/tmp" : temporary)};
  for (const fs::path& path : caches) all.push_back(folder(FolderFacts::Role::kCaches, path));
  return all;
}

// Quoted as one word of a shell.
std::string shell_quoted(const std::string& word) {
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

// Whether the ompi_info next to mpirun says that this Open MPI lacks threads.
bool lacks_threads(const fs::path& mpirun) {
  const fs::path info = mpirun.parent_path() / "ompi_info";
  if (::access(info.c_str(), X_OK) != 0) return false;
  std::FILE* said =
      ::popen((shell_quoted(info.string()) + " --parsable --config 2>/dev/null").c_str(), "r");
  if (said == nullptr) return false;
  std::string text;
  std::array<char, 4096> part{};
  while (std::fgets(part.data(), part.size(), said) != nullptr) text += part.data();
  ::pclose(said);
  return text.find("option:threads:no") != std::string::npos;
}

MpiFacts mpi(int ranks) {
  const std::string mpirun = on_path("mpirun");
  return {.built = comm::mpi_built(),
          .library = comm::mpi_library(),
          .has_threads = ranks > 1 || mpirun.empty() || !lacks_threads(mpirun),
          .launcher = mpirun.empty() ? on_path("srun") : mpirun,
          .ssh = on_path("ssh"),
          .ranks = ranks};
}

CardFacts card() {
  CardFacts facts{.driver = system_field("/proc/driver/nvidia/version", "NVRM version"),
                  .nccl_built = comm::nccl_built()};
  try {
    const train::cudnn::Card card = train::cudnn::open_device(0)->card();
    facts.card = fmt::format("{}, {}, CUDA {} (driver: {}), cuDNN {}", card.name,
                             in_bytes(static_cast<std::uint64_t>(card.memory_bytes)), card.runtime,
                             card.driver, card.cudnn);
  } catch (const std::exception& error) {
    facts.problem = error.what();
  }
  return facts;
}

// Pictures of 2x2 pixels, as Pillow writes them.
constexpr std::array<std::uint8_t, 38> kWebp{
    0x52, 0x49, 0x46, 0x46, 0x1e, 0,    0,    0,    0x57, 0x45, 0x42, 0x50, 0x56,
    0x50, 0x38, 0x4c, 0x11, 0,    0,    0,    0x2f, 1,    0x40, 0,    0,    7,
    0x50, 0xe4, 0x2a, 0xd4, 0xa3, 0xff, 0x81, 0x88, 0xe8, 0x7f, 0,    0};
constexpr std::array<std::uint8_t, 126> kTiff{
    0x49, 0x49, 0x2a, 0, 8, 0, 0, 0,    9, 0, 0,    1, 4, 0, 1, 0,    0, 0,    2,    0,    0,
    0,    1,    1,    4, 0, 1, 0, 0,    0, 2, 0,    0, 0, 2, 1, 3,    0, 1,    0,    0,    0,
    8,    0,    0,    0, 3, 1, 3, 0,    1, 0, 0,    0, 1, 0, 0, 0,    6, 1,    3,    0,    1,
    0,    0,    0,    1, 0, 0, 0, 0x11, 1, 4, 0,    1, 0, 0, 0, 0x7a, 0, 0,    0,    0x16, 1,
    4,    0,    1,    0, 0, 0, 2, 0,    0, 0, 0x17, 1, 4, 0, 1, 0,    0, 0,    4,    0,    0,
    0,    0x1c, 1,    3, 0, 1, 0, 0,    0, 1, 0,    0, 0, 0, 0, 0,    0, 0x4d, 0x4d, 0x4d, 0x4d};
constexpr std::array<std::uint8_t, 70> kBmp{
    0x42, 0x4d, 0x46, 0,   0, 0, 0,    0,    0,   0,    0x36, 0,   0,    0,
    0x28, 0,    0,    0,   2, 0, 0,    0,    2,   0,    0,    0,   1,    0,
    0x18, 0,    0,    0,   0, 0, 0x10, 0,    0,   0,    0xc4, 0xe, 0,    0,
    0xc4, 0xe,  0,    0,   0, 0, 0,    0,    0,   0,    0,    0,   0x1e, 0xc8,
    0xa,  0x1e, 0xc8, 0xa, 0, 0, 0x1e, 0xc8, 0xa, 0x1e, 0xc8, 0xa, 0,    0};

template <std::size_t N>
Bytes bytes_of(const std::array<std::uint8_t, N>& sample) {
  const BytesView view = std::as_bytes(std::span(sample));
  return {view.begin(), view.end()};
}

ImageView gray() {
  static constexpr std::array<std::uint8_t, 4> kPixels{0, 80, 160, 240};
  return {kPixels.data(), 2, 2, 1, 2};
}

struct Sample {
  const char* format;
  Bytes (*bytes)();
};
constexpr std::array kSamples{
    Sample{"JPEG", [] { return pipeline::encode_jpeg(gray(), 90); }},
    Sample{"PNG", [] { return pipeline::encode_png(gray()); }},
    Sample{"WebP", [] { return bytes_of(kWebp); }},
    Sample{"TIFF", [] { return bytes_of(kTiff); }},
    Sample{"BMP", [] { return bytes_of(kBmp); }},
};

std::vector<DecoderFacts> decoders() {
  std::vector<DecoderFacts> all;
  for (const Sample& sample : kSamples) {
    DecoderFacts facts{.format = sample.format};
    try {
      const Bytes bytes = sample.bytes();
      const auto image = pipeline::decode(bytes, {});
      if (!image) facts.problem = image.error().detail;
    } catch (const std::exception& error) {
      facts.problem = error.what();
    }
    all.push_back(facts);
  }
  return all;
}

std::string character_set() {
  const locale_t locale = ::newlocale(LC_CTYPE_MASK, "", nullptr);
  if (locale == nullptr) return "of a locale that is not installed here";
  const std::string name = ::nl_langinfo_l(CODESET, locale);
  ::freelocale(locale);
  return name;
}

}  // namespace

MachineFacts look_at_machine(const std::vector<fs::path>& caches, int ranks) {
  return {.system = system_facts(),
          .processor = processor(),
          .memory = memory(),
          .folders = folders(caches),
          .mpi = mpi(ranks),
          .card = card(),
          .decoders = decoders(),
          .open_files = soft_limit(RLIMIT_NOFILE),
          .locked_memory = soft_limit(RLIMIT_MEMLOCK),
          .character_set = character_set()};
}

}  // namespace winnow::app
