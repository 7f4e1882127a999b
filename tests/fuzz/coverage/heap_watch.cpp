#include "tests/fuzz/coverage/heap_watch.h"

#include <malloc.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER
#endif

namespace {

std::atomic<bool> watched{false};
std::atomic<std::int64_t> live{0};
std::atomic<std::int64_t> highest{0};
std::atomic<std::int64_t> most_live{0};

void add(std::size_t bytes) {
  if (!watched.load(std::memory_order_relaxed)) return;
  const auto signed_bytes = static_cast<std::int64_t>(bytes);
  const std::int64_t now = live.fetch_add(signed_bytes, std::memory_order_relaxed) + signed_bytes;
  if (now > highest.load(std::memory_order_relaxed)) highest.store(now, std::memory_order_relaxed);
  if (now <= most_live.load(std::memory_order_relaxed)) return;
  watched = false;  // abort() may allocate
  constexpr char kSentence[] = "more of the heap is taken than the input may cost\n";
  if (::write(STDERR_FILENO, kSentence, sizeof kSentence - 1) < 0) std::_Exit(1);
  std::abort();
}

void take_away(std::size_t bytes) {
  if (watched.load(std::memory_order_relaxed)) {
    live.fetch_sub(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
  }
}

}  // namespace

#ifdef HAS_SANITIZER
#include <sanitizer/allocator_interface.h>

namespace {

void added(const volatile void* /*at*/, std::size_t bytes) { add(bytes); }
void freed(const volatile void* at) {
  if (at != nullptr) take_away(__sanitizer_get_allocated_size(const_cast<const void*>(at)));
}
const bool hooks_are_in = __sanitizer_install_malloc_and_free_hooks(added, freed) != 0;

}  // namespace
#else
// glibc's own functions, used by replacements of malloc and others.
extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* at, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
void __libc_free(void* at);

// The requested size is counted before it is allocated. Untouched pages use no memory, but a
// decoder that requests gigabytes must still be found.
void* malloc(std::size_t bytes) {
  add(bytes);
  void* const at = __libc_malloc(bytes);
  if (at != nullptr) add(malloc_usable_size(at) - bytes);
  return at;
}
void free(void* at) {
  if (at != nullptr) take_away(malloc_usable_size(at));
  __libc_free(at);
}
void* calloc(std::size_t count, std::size_t bytes) {
  std::size_t all = 0;
  if (__builtin_mul_overflow(count, bytes, &all)) return nullptr;
  add(all);
  void* const at = __libc_calloc(count, bytes);
  if (at != nullptr) add(malloc_usable_size(at) - all);
  return at;
}
void* realloc(void* before, std::size_t bytes) {
  const std::size_t had = before == nullptr ? 0 : malloc_usable_size(before);
  add(bytes);
  void* const at = __libc_realloc(before, bytes);
  if (at != nullptr) {
    add(malloc_usable_size(at) - bytes);
    take_away(had);
  }
  return at;
}
void* memalign(std::size_t alignment, std::size_t bytes) {
  add(bytes);
  void* const at = __libc_memalign(alignment, bytes);
  if (at != nullptr) add(malloc_usable_size(at) - bytes);
  return at;
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) { return memalign(alignment, bytes); }
int posix_memalign(void** out, std::size_t alignment, std::size_t bytes) {
  void* const at = memalign(alignment, bytes);
  if (at == nullptr) return ENOMEM;
  *out = at;
  return 0;
}
}
#endif

namespace winnow::fuzz {

void watch_heap(std::uint64_t most) noexcept {
  live = 0;
  highest = 0;
  most_live = static_cast<std::int64_t>(most);
  watched = true;
}

std::uint64_t leave_heap() noexcept {
  watched = false;
  return static_cast<std::uint64_t>(highest.load());
}

bool is_sanitized() noexcept {
#ifdef HAS_SANITIZER
  return true;
#else
  return false;
#endif
}

}  // namespace winnow::fuzz
