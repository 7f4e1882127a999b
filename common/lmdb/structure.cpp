#include "common/lmdb/structure.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <vector>

#include "common/error.h"
#include "common/file.h"

namespace winnow::lmdb {
namespace {

constexpr std::size_t kPageHeaderBytes = 16;
constexpr std::size_t kNodeHeaderBytes = 8;
constexpr std::size_t kKeyBytes = 8;  // size of our keys
constexpr std::size_t kMaxKeyBytes = 511;
constexpr std::uint16_t kBranch = 0x01, kLeaf = 0x02, kMeta = 0x08;  // page flags
constexpr std::uint16_t kBigData = 0x01;                             // node flag
constexpr std::uint16_t kFixedMap = 0x01;                            // environment flag
constexpr std::uint32_t kMagic = 0xBEEFC0DE;
constexpr std::uint64_t kNoPage = ~std::uint64_t{0};
constexpr std::size_t kMetaBytes = 136;
constexpr int kMaxDepth = 31;  // LMDB's cursor stack has 32 places

struct Meta {
  std::uint32_t page_bytes;
  std::uint16_t flags;
  std::uint16_t main_flags;
  std::uint16_t main_depth;
  std::uint64_t main_entries;
  std::uint64_t main_root;
  std::uint64_t last_page;
  std::uint64_t transaction;
};

using Take = std::function<void(BytesView, std::uint64_t, std::uint64_t)>;

class InMemory {
 public:
  explicit InMemory(BytesView bytes) : bytes_(bytes) {}
  std::uint64_t size() const noexcept { return bytes_.size(); }
  void read(std::size_t at, std::span<std::byte> out) const {
    std::memcpy(out.data(), bytes_.data() + at, out.size());
  }

 private:
  BytesView bytes_;
};

// Keeps what it has read: the pages of the tree.
class OnStorage {
 public:
  explicit OnStorage(const InputFile& file) : file_(file) {}
  std::uint64_t size() const noexcept { return file_.size(); }
  void read(std::size_t at, std::span<std::byte> out) {
    while (!out.empty()) {
      const std::size_t inside = at % kPiece;
      const Bytes& piece = piece_at(at - inside);
      const std::size_t bytes = std::min(out.size(), piece.size() - inside);
      std::memcpy(out.data(), piece.data() + inside, bytes);
      out = out.subspan(bytes);
      at += bytes;
    }
  }

 private:
  static constexpr std::size_t kPiece = 4096;

  const Bytes& piece_at(std::size_t begin) {
    const auto [found, is_new] = pieces_.try_emplace(begin);
    if (is_new) {
      found->second.resize(std::min<std::uint64_t>(kPiece, file_.size() - begin));
      file_.read_at(begin, found->second);
    }
    return found->second;
  }

  const InputFile& file_;
  std::map<std::size_t, Bytes> pieces_;
};

enum class MadeBy { kUs, kOthers };

template <class File>
class Walk {
 public:
  Walk(File file, const std::string& where, MadeBy made_by, const Take* take = nullptr)
      : file_(std::move(file)), where_(where), is_ours_(made_by == MadeBy::kUs), take_(take) {}

  void run() {
    const Meta first = meta_at(0);
    page_bytes_ = first.page_bytes;
    const Meta second = meta_at(page_bytes_);
    const Meta& newest = first.transaction >= second.transaction ? first : second;
    pages_ = file_.size() / page_bytes_;
    need(newest.last_page < pages_ || !is_ours_);
    need(newest.main_flags == 0);
    visited_.assign(pages_, false);
    if (newest.main_root == kNoPage) {
      need(newest.main_entries == 0);
      return;
    }
    need(newest.main_depth >= 1 && newest.main_depth <= kMaxDepth);
    last_page_ = std::min(newest.last_page, pages_ - 1);
    walk(newest.main_root, newest.main_depth);
    need(entries_ == newest.main_entries);
  }

 private:
  void need(bool good) const {
    if (!good)
      throw FormatError(where_ + " is damaged: it is not a sound LMDB file; make it again");
  }
  template <class T>
  T at(std::size_t offset) {
    T value;
    file_.read(offset, std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }
  void take(std::size_t key_at, std::size_t key_bytes, std::uint64_t begin, std::uint64_t bytes) {
    if (take_ == nullptr) return;
    std::array<std::byte, kMaxKeyBytes> key;
    const std::span read = std::span(key).first(key_bytes);
    file_.read(key_at, read);
    (*take_)(read, begin, bytes);
  }

  Meta meta_at(std::size_t page) {
    need(file_.size() >= kPageHeaderBytes + kMetaBytes &&
         page <= file_.size() - kPageHeaderBytes - kMetaBytes);
    need(at<std::uint16_t>(page + 10) == kMeta);
    const std::size_t meta = page + kPageHeaderBytes;
    need(at<std::uint32_t>(meta) == kMagic && at<std::uint32_t>(meta + 4) == 1);
    const std::size_t free_db = meta + 24;
    const std::size_t main_db = free_db + 48;
    const Meta out{.page_bytes = at<std::uint32_t>(free_db),
                   .flags = at<std::uint16_t>(free_db + 4),
                   .main_flags = at<std::uint16_t>(main_db + 4),
                   .main_depth = at<std::uint16_t>(main_db + 6),
                   .main_entries = at<std::uint64_t>(main_db + 32),
                   .main_root = at<std::uint64_t>(main_db + 40),
                   .last_page = at<std::uint64_t>(main_db + 48),
                   .transaction = at<std::uint64_t>(main_db + 56)};
    // LMDB takes the page size from either meta page: both must agree.
    need(out.page_bytes >= 512 && out.page_bytes <= 32768 &&
         (out.page_bytes & (out.page_bytes - 1)) == 0);
    need(page_bytes_ == 0 || out.page_bytes == page_bytes_);
    need((out.flags & kFixedMap) == 0);
    return out;
  }

  // Each page belongs to one node; otherwise its size would count several times.
  void visit(std::uint64_t number, std::uint64_t count) {
    need(number >= 2 && number <= last_page_ && count <= last_page_ + 1 - number);
    for (const std::uint64_t end = number + count; number < end; ++number) {
      need(!visited_[number]);
      visited_[number] = true;
    }
  }

  void walk(std::uint64_t number, int levels) {
    visit(number, 1);
    const std::size_t page = number * page_bytes_;
    need(at<std::uint64_t>(page) == number);
    const auto flags = at<std::uint16_t>(page + 10);
    const std::size_t lower = at<std::uint16_t>(page + 12);
    const std::size_t upper = at<std::uint16_t>(page + 14);
    need(flags == (levels > 1 ? kBranch : kLeaf));
    need(lower >= kPageHeaderBytes && lower % 2 == 0 && lower <= upper && upper <= page_bytes_);
    const std::size_t count = (lower - kPageHeaderBytes) / 2;
    need(count >= (levels > 1 && is_ours_ ? 2u : 1u));
    std::size_t left = page_bytes_ - upper;  // bytes of nodes must not overlap
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t offset = at<std::uint16_t>(page + kPageHeaderBytes + 2 * i);
      need(offset >= upper && offset % 2 == 0 && offset + kNodeHeaderBytes <= page_bytes_);
      const std::size_t bytes =
          node(page + offset, page_bytes_ - offset - kNodeHeaderBytes, levels, i == 0);
      need(bytes <= left);
      left -= bytes;
    }
  }

  // Returns its size within the page.
  std::size_t node(std::size_t at_byte, std::size_t room, int levels, bool first) {
    const std::uint64_t low = at<std::uint16_t>(at_byte);
    const std::uint64_t high = at<std::uint16_t>(at_byte + 2);
    const auto flags = at<std::uint16_t>(at_byte + 4);
    const std::size_t key = at<std::uint16_t>(at_byte + 6);
    if (levels > 1) {  // the flags contain the upper bits of a branch's page number
      need(key <= room && (is_key(key) || (first && key == 0)));
      walk(low | high << 16 | std::uint64_t{flags} << 32, levels - 1);
      return kNodeHeaderBytes + key;
    }
    ++entries_;
    const std::uint64_t bytes = low | high << 16;
    need(is_key(key) && room >= key && (flags == 0 || flags == kBigData));
    const std::size_t key_at = at_byte + kNodeHeaderBytes;
    if (flags == 0) {
      need(bytes <= room - key);
      take(key_at, key, key_at + key, bytes);
      return kNodeHeaderBytes + key + bytes;
    }
    need(room - key >= sizeof(std::uint64_t));
    const auto number = at<std::uint64_t>(key_at + key);
    visit(number, (kPageHeaderBytes + bytes + page_bytes_ - 1) / page_bytes_);
    take(key_at, key, number * page_bytes_ + kPageHeaderBytes, bytes);
    return kNodeHeaderBytes + key + sizeof(number);
  }

  bool is_key(std::size_t bytes) const noexcept {
    return is_ours_ ? bytes == kKeyBytes : bytes >= 1 && bytes <= kMaxKeyBytes;
  }

  File file_;
  const std::string& where_;
  const bool is_ours_;
  const Take* take_;
  std::size_t page_bytes_ = 0;
  std::uint64_t pages_ = 0;
  std::uint64_t last_page_ = 0;
  std::uint64_t entries_ = 0;
  std::vector<bool> visited_;
};

}  // namespace

void check_structure(BytesView file, const std::string& where) {
  Walk(InMemory(file), where, MadeBy::kUs).run();
}

void for_each_entry(BytesView file, const std::string& where, const Take& take) {
  Walk(InMemory(file), where, MadeBy::kOthers, &take).run();
}

void for_each_place(
    const InputFile& file,
    const std::function<void(std::uint64_t key, std::uint64_t begin, std::uint64_t bytes)>& take) {
  const std::string where = file.path().string();
  const Take take_ours = [&](BytesView key, std::uint64_t begin, std::uint64_t bytes) {
    std::uint64_t number = 0;
    for (const std::byte byte : key) number = number << 8 | std::to_integer<std::uint64_t>(byte);
    take(number, begin, bytes);
  };
  Walk(OnStorage(file), where, MadeBy::kUs, &take_ours).run();
}

}  // namespace winnow::lmdb
