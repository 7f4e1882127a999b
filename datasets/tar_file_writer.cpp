#include "datasets/tar_file_writer.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <exception>
#include <new>
#include <string_view>
#include <utility>

#include "common/error.h"

namespace winnow::datasets {
namespace {

constexpr std::uint64_t kBlock = 512;

struct FreeWritten {
  void operator()(archive* a) const noexcept { archive_write_free(a); }
};

struct FreeEntry {
  void operator()(archive_entry* entry) const noexcept { archive_entry_free(entry); }
};

}  // namespace

struct TarFileWriter::State {
  // An unfinished archive must get no end mark, which freeing it would write. (archive_write_fail
  // would prevent that as well, but leaks.)
  ~State() { is_over = true; }

  Sink sink;
  bool is_over = false;
  std::exception_ptr problem;  // exceptions must not pass through C
  std::unique_ptr<archive, FreeWritten> out;

  static la_ssize_t write(archive*, void* self, const void* data, std::size_t size) {
    auto* state = static_cast<State*>(self);
    if (state->is_over) return static_cast<la_ssize_t>(size);
    try {
      state->sink({static_cast<const std::byte*>(data), size});
    } catch (...) {
      state->problem = std::current_exception();
      return -1;
    }
    return static_cast<la_ssize_t>(size);
  }

  void check(bool good, const std::string& what) {
    if (problem) std::rethrow_exception(std::exchange(problem, nullptr));
    if (good) return;
    const char* text = archive_error_string(out.get());
    throw Error("cannot write " + what + " into a tar archive (" +
                (text != nullptr ? text : "no reason given") + ")");
  }
};

TarFileWriter::TarFileWriter(Sink sink) : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.sink = std::move(sink);
  s.out.reset(archive_write_new());
  if (!s.out) throw std::bad_alloc();
  archive_write_set_format_ustar(s.out.get());
  s.check(archive_write_open(s.out.get(), &s, nullptr, &State::write, nullptr) == ARCHIVE_OK,
          "the begin");
}

TarFileWriter::~TarFileWriter() = default;
TarFileWriter::TarFileWriter(TarFileWriter&&) noexcept = default;

void TarFileWriter::add(const std::string& name, BytesView bytes) {
  State& s = *state_;
  constexpr std::size_t kNameBytes = 100;
  const bool ascii =
      std::ranges::all_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (name.empty() || name.size() > kNameBytes || !ascii) {
    throw Error("'" + name +
                "' cannot be the name of a member of a tar archive: it must have 1 to 100 ASCII "
                "characters, not " +
                std::to_string(name.size()) + " bytes");
  }
  const std::unique_ptr<archive_entry, FreeEntry> entry(archive_entry_new());
  if (!entry) throw std::bad_alloc();
  archive_entry_set_pathname(entry.get(), name.c_str());
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0644);
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(bytes.size()));
  archive_entry_set_mtime(entry.get(), 0, 0);
  s.check(archive_write_header(s.out.get(), entry.get()) == ARCHIVE_OK, name);
  const la_ssize_t written = archive_write_data(s.out.get(), bytes.data(), bytes.size());
  s.check(written == static_cast<la_ssize_t>(bytes.size()), name);
}

void TarFileWriter::finish() {
  State& s = *state_;
  const int closed = archive_write_close(s.out.get());
  s.check(closed == ARCHIVE_OK, "the end");
}

std::uint64_t TarFileWriter::member_bytes(std::uint64_t bytes) noexcept {
  return kBlock + (bytes + kBlock - 1) / kBlock * kBlock;
}

}  // namespace winnow::datasets
