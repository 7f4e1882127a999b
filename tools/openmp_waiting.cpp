#include "tools/openmp_waiting.h"

#include <sys/auxv.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace winnow::tools {
namespace {

// The options are not parsed yet. A word that only looks like a verb costs one more start.
bool computes(char** argv) {
  for (char** word = argv; *word != nullptr; ++word) {
    if (*word == std::string_view("train") || *word == std::string_view("eval")) return true;
  }
  return false;
}

}  // namespace

// docs/hardware.md has the measurements behind these values.
void decide_openmp_waiting(char** argv) {
  if (!computes(argv)) return;
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return;
  // Started as `ld.so winnow`: /proc/self/exe is the loader, which takes other words.
  if (getauxval(AT_BASE) == 0) return;
  ::setenv("OMP_WAIT_POLICY", "passive", 0);
  ::setenv("GOMP_SPINCOUNT", "1000", 0);
  // By its path, so that ps and pkill go on calling it winnow. Where that has gone, by the link.
  std::error_code none;
  ::execv(std::filesystem::read_symlink("/proc/self/exe", none).c_str(), argv);
  ::execv("/proc/self/exe", argv);
  // They return only where they failed. Training is slower on a shared machine then, and no less
  // right.
}

}  // namespace winnow::tools
