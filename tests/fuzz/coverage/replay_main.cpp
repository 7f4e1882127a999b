// fuzz_replay HARNESS FOLDER...
//
// Calls the parser with each file of the folders, as the fuzzer would, and with each file changed
// in a few ways. A missing folder counts as empty. Fails if no file was accepted.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <random>
#include <vector>

#include "common/error.h"
#include "common/file.h"
#include "tests/fuzz/coverage/harness.h"

namespace {

namespace fs = std::filesystem;
using namespace winnow;

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  if (!fs::exists(folder)) return files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// The same on every machine and in every run.
void run_changed(const fuzz::Harness& harness, const Bytes& good) {
  std::mt19937_64 random(good.size());
  for (int i = 0; i < 20 && !good.empty(); ++i) {
    Bytes bad = good;
    if (i % 4 == 0) {
      bad.resize(random() % good.size());
    } else {
      for (int k = 0; k < i % 4; ++k) {
        bad[random() % bad.size()] ^= static_cast<std::byte>(1u << random() % 8);
      }
    }
    fuzz::run(harness, bad);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "fuzz_replay HARNESS FOLDER...\n");
    return 2;
  }
  const fuzz::Harness& harness = fuzz::find_harness(argv[1]);
  int taken = 0;
  int all = 0;
  fuzz::run(harness, {});
  for (int i = 2; i < argc; ++i) {
    for (const fs::path& file : files_in(argv[i])) {
      std::printf("%s", file.c_str());  // the last one printed is the one that ended the process
      std::fflush(stdout);
      const Bytes bytes = read_file(file);
      ++all;
      const std::string refusal = fuzz::run(harness, bytes);
      taken += refusal.empty() ? 1 : 0;
      std::printf(": %s\n", refusal.empty() ? "taken" : refusal.c_str());
      run_changed(harness, bytes);
    }
  }
  std::printf("%d inputs, of which %d are taken and the others refused\n", all, taken);
  if (taken > 0) return 0;
  std::fprintf(stderr, "%s takes none: either it refuses what is sound, or nothing is\n", argv[1]);
  return 1;
}
