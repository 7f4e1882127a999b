#include "common/comm/node/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "common/comm/agreement.h"
#include "common/comm/node/ring_group_internal.h"
#include "common/error.h"
#include "common/file.h"

namespace winnow::comm {

namespace {

[[noreturn]] void fail(const std::string& what, int error) {
  throw SystemError("the ranks of this machine cannot share memory, " + what + ": " +
                    std::strerror(error) + "; choose another --schedule than hierarchical");
}

Fd make_memory(std::size_t bytes) {
  Fd file(memfd_create("winnow", MFD_CLOEXEC));
  if (!file) fail("memfd_create", errno);
  // Allocate now, with an error, not when a page is first accessed, with a signal.
  const int error = posix_fallocate(file.get(), 0, static_cast<off_t>(bytes));
  if (error != 0) fail(std::to_string(bytes >> 10) + " KiB", error);
  return file;
}

Fd open_memory(std::uint64_t process, std::uint64_t number) {
  const std::string path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(number);
  Fd file(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file) fail(path, errno);
  return file;
}

std::shared_ptr<std::byte> map_memory(const Fd& file, std::size_t bytes) {
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (at == MAP_FAILED) fail("mmap", errno);
  return {static_cast<std::byte*>(at), [bytes](std::byte* p) { munmap(p, bytes); }};
}

// How others find a rank's memory; all zero: it has none.
struct Whereabouts {
  std::uint64_t process = 0;
  std::uint64_t file = 0;
  std::uint64_t token = 0;  // also at the beginning of the memory
};

std::uint64_t random_token() {
  std::random_device random;
  return (std::uint64_t{random()} << 32U | random()) | 1U;
}

}  // namespace

std::unique_ptr<NodeGroup> make_shared_memory_group(Communicator& comm) {
  const std::vector<int> ranks = comm.placement().ranks_of_machine();
  const RingShape shape = RingShape::of(static_cast<int>(ranks.size()));
  const bool first = ranks.front() == comm.rank();

  Fd file;
  std::shared_ptr<std::byte> memory;
  Whereabouts mine;
  on_all(comm, [&] {
    if (!first) return;
    file = make_memory(shape.bytes());
    memory = map_memory(file, shape.bytes());
    mine = {static_cast<std::uint64_t>(getpid()), static_cast<std::uint64_t>(file.get()),
            random_token()};
    RingMemory(shape, memory.get()).token() = mine.token;
  });
  const std::vector<std::uint64_t> row{mine.process, mine.file, mine.token};
  const std::vector<std::uint64_t> rows = all_gather(comm, row);
  on_all(comm, [&] {
    if (first) return;
    const std::size_t at = static_cast<std::size_t>(ranks.front()) * row.size();
    file = open_memory(rows[at], rows[at + 1]);
    // In another process namespace it may be an unrelated file.
    if (lseek(file.get(), 0, SEEK_END) != static_cast<off_t>(shape.bytes())) fail("sizes", ESTALE);
    memory = map_memory(file, shape.bytes());
    if (RingMemory(shape, memory.get()).token() != rows[at + 2]) fail("tokens", ESTALE);
  });
  const auto local = static_cast<int>(std::ranges::find(ranks, comm.rank()) - ranks.begin());
  return std::make_unique<RingGroup>(local, shape, std::move(memory));
}

}  // namespace winnow::comm
