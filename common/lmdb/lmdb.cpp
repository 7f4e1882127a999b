#include "common/lmdb/lmdb.h"

#include <lmdb.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "common/error.h"
#include "common/failpoint.h"
#include "common/file.h"
#include "common/lmdb/structure.h"

namespace winnow::lmdb {
namespace fs = std::filesystem;
namespace {

struct CloseEnv {
  void operator()(MDB_env* env) const noexcept { mdb_env_close(env); }
};
struct AbortTxn {
  void operator()(MDB_txn* txn) const noexcept { mdb_txn_abort(txn); }
};
struct CloseCursor {
  void operator()(MDB_cursor* cursor) const noexcept { mdb_cursor_close(cursor); }
};
using Env = std::unique_ptr<MDB_env, CloseEnv>;
using Txn = std::unique_ptr<MDB_txn, AbortTxn>;
using Cursor = std::unique_ptr<MDB_cursor, CloseCursor>;

constexpr std::uint64_t kFirstMapBytes = 16u << 20;
constexpr std::uint64_t kMaxValueBytes = (std::uint64_t{1} << 31) - (1u << 20);

[[noreturn]] void fail(const std::string& what, const fs::path& path, int code) {
  std::string hint;
  if (code == EMFILE || code == ENFILE) {
    hint = "; every shard holds one file open, raise the limit with ulimit -n";
  }
  throw SystemError("cannot " + what + " " + path.string() + ": " + mdb_strerror(code) + hint);
}

void check(int code, const char* what, const fs::path& path) {
  if (code != MDB_SUCCESS) fail(what, path, code);
}

// The result of `call`, or of an injected fault.
int act(std::string_view name, const fs::path& path, const auto& call) {
  if (fault_before(name, path)) return errno;
  const int code = call();
  if (code == MDB_SUCCESS) fault_after(name, path);
  return code;
}

Env make_env(const fs::path& path) {
  MDB_env* raw = nullptr;
  check(mdb_env_create(&raw), "open", path);
  return Env(raw);
}

Txn begin(MDB_env* env, unsigned flags, const fs::path& path) {
  MDB_txn* raw = nullptr;
  check(mdb_txn_begin(env, nullptr, flags, &raw), "begin a transaction in", path);
  return Txn(raw);
}

using Key = std::array<std::uint8_t, 8>;

Key big_endian(std::uint64_t key) noexcept {
  Key out;
  for (std::size_t i = 0; i < 8; ++i) out[i] = static_cast<std::uint8_t>(key >> (56 - 8 * i));
  return out;
}

std::uint64_t from_big_endian(const MDB_val& key) noexcept {
  const auto* bytes = static_cast<const std::uint8_t*>(key.mv_data);
  std::uint64_t out = 0;
  for (std::size_t i = 0; i < 8; ++i) out = out << 8 | bytes[i];
  return out;
}

// LMDB reports a short write, with which some file systems signal that they are full, as an I/O
// error.
bool is_full(int code, const fs::path& path, std::uint64_t wanted) {
  return code == ENOSPC || code == EDQUOT || (code == EIO && free_bytes(path) < wanted);
}

// A page allocated and freed in the last transaction is counted, but was never written. It must not
// become a hole: on a full tmpfs, accessing it through a mapping raises SIGBUS.
void write_last_page(const fs::path& path, std::uint64_t used) {
  const std::uint64_t size = fs::file_size(path);
  if (size >= used) return;
  AppendFile(path).append(std::string(used - size, '\0'));
}

}  // namespace

struct Writer::State {
  fs::path path;
  Env env;
  MDB_dbi table = 0;
  std::uint64_t page_bytes = 0;
  std::uint64_t map_bytes = kFirstMapBytes;
  std::optional<std::uint64_t> last_key;

  std::uint64_t used_bytes() const {
    MDB_envinfo info;
    check(mdb_env_info(env.get(), &info), "look at", path);
    return (info.me_last_pgno + 1) * page_bytes;
  }
  // The map size limits the file and is written into it, so it grows by a rule that depends on the
  // puts only.
  void make_room(const std::vector<Entry>& entries) {
    std::uint64_t need = used_bytes() + (1u << 20);  // for the tree's own pages and its free list
    for (const Entry& entry : entries) need += entry.second.size() + 3 * page_bytes;
    if (need <= map_bytes) return;
    while (map_bytes < need) map_bytes *= 2;
    check(mdb_env_set_mapsize(env.get(), map_bytes), "grow the map of", path);
  }
  [[noreturn]] void fail_put(int code, std::uint64_t bytes) const {
    if (is_full(code, path, bytes)) {
      throw SystemError(
          "cannot write " + path.string() +
          ": no space left; free some or choose another place, then run the command again");
    }
    fail("write", path, code);
  }
  void commit(Txn txn, std::uint64_t bytes) const {
    const int code = act("lmdb.commit", path, [&] { return mdb_txn_commit(txn.release()); });
    if (code != MDB_SUCCESS) fail_put(code, bytes);
  }
};

Writer::Writer(const fs::path& path) : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.path = path;
  remove_file(path);
  s.env = make_env(path);
  check(mdb_env_set_mapsize(s.env.get(), s.map_bytes), "size", path);
  // Flags of the environment:
  // - NOLOCK: the caller is the only writer, and nobody reads before the seal, so no lock file is
  //   left.
  // - NOSYNC: a shard only counts once it is sealed, and seal() syncs.
  // - No WRITEMAP: on a full tmpfs it would raise SIGBUS instead of an error.
  // - No NOMEMINIT: memory is cleared, so that unused parts of pages are equal in every run.
  const int opened = act("lmdb.create", path, [&] {
    return mdb_env_open(s.env.get(), path.c_str(), MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOSYNC, 0644);
  });
  if (opened != MDB_SUCCESS) s.fail_put(opened, kFirstMapBytes);
  MDB_stat stat;
  check(mdb_env_stat(s.env.get(), &stat), "look at", path);
  s.page_bytes = stat.ms_psize;
  Txn txn = begin(s.env.get(), 0, path);
  check(mdb_dbi_open(txn.get(), nullptr, 0, &s.table), "open", path);
  s.commit(std::move(txn), 0);
}

Writer::~Writer() = default;
Writer::Writer(Writer&&) noexcept = default;

void Writer::put(const std::vector<Entry>& entries) {
  if (entries.empty()) return;
  State& s = *state_;
  std::uint64_t bytes = 0;
  for (const Entry& entry : entries) {
    if (s.last_key && entry.first <= *s.last_key) {
      throw Error("the keys of " + s.path.string() + " must ascend: " +
                  std::to_string(entry.first) + " came after " + std::to_string(*s.last_key));
    }
    if (entry.second.size() > kMaxValueBytes) {
      throw Error("a value of " + std::to_string(entry.second.size()) + " bytes for " +
                  s.path.string() + " is too large: LMDB writes values under 2 GiB");
    }
    s.last_key = entry.first;
    bytes += entry.second.size();
  }
  s.make_room(entries);
  Txn txn = begin(s.env.get(), 0, s.path);
  for (const auto& [number, value] : entries) {
    Key name = big_endian(number);
    MDB_val key{name.size(), name.data()};
    MDB_val data{value.size(), const_cast<std::byte*>(value.data())};
    const int code = mdb_put(txn.get(), s.table, &key, &data, MDB_APPEND);
    if (code != MDB_SUCCESS) s.fail_put(code, bytes);
  }
  s.commit(std::move(txn), bytes);
}

void Writer::seal() {
  State& s = *state_;
  const int synced = act("lmdb.sync", s.path, [&] { return mdb_env_sync(s.env.get(), 1); });
  if (synced != MDB_SUCCESS) s.fail_put(synced, 0);
  const std::uint64_t used = s.used_bytes();
  s.env.reset();
  write_last_page(s.path, used);
  fsync_file(s.path);
}

struct Reader::State {
  Env env;
  Txn txn;
  std::vector<std::pair<std::uint64_t, BytesView>> index;
  BytesView values;  // whole pages that contain all values
};

namespace {

BytesView pages_of(const std::vector<std::pair<std::uint64_t, BytesView>>& index) {
  if (index.empty()) return {};
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  auto begin = reinterpret_cast<std::uintptr_t>(index.front().second.data());
  std::uintptr_t end = begin;
  for (const auto& [key, value] : index) {
    const auto at = reinterpret_cast<std::uintptr_t>(value.data());
    begin = std::min(begin, at);
    end = std::max(end, at + value.size());
  }
  begin = begin / page * page;
  end = (end + page - 1) / page * page;
  return {reinterpret_cast<const std::byte*>(begin), end - begin};
}

}  // namespace

Reader::Reader(const fs::path& path) : state_(std::make_unique<State>()) {
  State& s = *state_;
  {
    const MappedFile file(path);
    check_structure(file.bytes(), path.string());
    s.env = make_env(path);
    // The exact file size: the size recorded inside may be far larger.
    check(mdb_env_set_mapsize(s.env.get(), file.bytes().size()), "size", path);
  }
  // NOTLS: the single transaction is not tied to a thread. Readahead stays on, because records are
  // read completely.
  check(mdb_env_open(s.env.get(), path.c_str(), MDB_NOSUBDIR | MDB_RDONLY | MDB_NOLOCK | MDB_NOTLS,
                     0644),
        "open", path);
  s.txn = begin(s.env.get(), MDB_RDONLY, path);
  MDB_dbi table = 0;
  check(mdb_dbi_open(s.txn.get(), nullptr, 0, &table), "open", path);
  MDB_cursor* raw = nullptr;
  check(mdb_cursor_open(s.txn.get(), table, &raw), "read", path);
  const Cursor cursor(raw);
  MDB_val key;
  MDB_val value;
  int code = mdb_cursor_get(cursor.get(), &key, &value, MDB_FIRST);
  for (; code == MDB_SUCCESS; code = mdb_cursor_get(cursor.get(), &key, &value, MDB_NEXT)) {
    const std::uint64_t number = from_big_endian(key);
    if (!s.index.empty() && number <= s.index.back().first) {
      throw FormatError(path.string() + " is damaged: its keys do not ascend; make it again");
    }
    s.index.emplace_back(number,
                         BytesView(static_cast<const std::byte*>(value.mv_data), value.mv_size));
  }
  if (code != MDB_NOTFOUND) fail("read", path, code);
  s.values = pages_of(s.index);
  drop_pages();
}

Reader::~Reader() = default;
Reader::Reader(Reader&&) noexcept = default;

std::uint64_t Reader::entries() const { return state_->index.size(); }

std::pair<std::uint64_t, BytesView> Reader::at_or_before(std::uint64_t key) const {
  const auto& index = state_->index;
  const auto after =
      std::upper_bound(index.begin(), index.end(), key,
                       [](std::uint64_t k, const auto& row) { return k < row.first; });
  if (after == index.begin()) return {0, {}};
  return *std::prev(after);
}

BytesView Reader::values() const noexcept { return state_->values; }

void Reader::drop_pages() const noexcept {
  const State& s = *state_;
  if (s.values.empty()) return;
  ::madvise(const_cast<std::byte*>(s.values.data()), s.values.size(), MADV_DONTNEED);
}

std::vector<std::pair<std::uint64_t, BytesView>> Reader::all() const { return state_->index; }

}  // namespace winnow::lmdb
