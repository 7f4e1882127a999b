#include "common/lmdb/structure.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "common/error.h"

namespace winnow::lmdb {
namespace {

constexpr std::size_t kPageHeaderBytes = 16;
constexpr std::size_t kNodeHeaderBytes = 8;
constexpr std::size_t kKeyBytes = 8;  // ours
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

class Walk {
 public:
  // Without `take`: a file of ours.
  Walk(BytesView file, const std::string& where, const Take* take = nullptr)
      : file_(file), where_(where), take_(take) {}

  void run() {
    const Meta first = meta_at(0);
    page_bytes_ = first.page_bytes;
    const Meta second = meta_at(page_bytes_);
    const Meta& newest = first.transaction >= second.transaction ? first : second;
    pages_ = file_.size() / page_bytes_;
    need(newest.last_page < pages_ || take_ != nullptr);
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
  T at(std::size_t offset) const {
    T value;
    std::memcpy(&value, file_.data() + offset, sizeof(T));
    return value;
  }

  Meta meta_at(std::size_t page) const {
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

  // Each page belongs to one node: what is named twice costs its size again and again.
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
    need(count >= (levels > 1 && take_ == nullptr ? 2u : 1u));
    std::size_t left = page_bytes_ - upper;  // nodes have their bytes for themselves
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t offset = at<std::uint16_t>(page + kPageHeaderBytes + 2 * i);
      need(offset >= upper && offset % 2 == 0 && offset + kNodeHeaderBytes <= page_bytes_);
      const std::size_t bytes =
          node(page + offset, page_bytes_ - offset - kNodeHeaderBytes, levels, i == 0);
      need(bytes <= left);
      left -= bytes;
    }
  }

  // Returns how many bytes of its page it has.
  std::size_t node(std::size_t at_byte, std::size_t room, int levels, bool first) {
    const std::uint64_t low = at<std::uint16_t>(at_byte);
    const std::uint64_t high = at<std::uint16_t>(at_byte + 2);
    const auto flags = at<std::uint16_t>(at_byte + 4);
    const std::size_t key = at<std::uint16_t>(at_byte + 6);
    if (levels > 1) {  // the flags hold the upper bits of a branch's page number
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
      if (take_) (*take_)(file_.subspan(key_at, key), key_at + key, bytes);
      return kNodeHeaderBytes + key + bytes;
    }
    need(room - key >= sizeof(std::uint64_t));
    const auto number = at<std::uint64_t>(key_at + key);
    visit(number, (kPageHeaderBytes + bytes + page_bytes_ - 1) / page_bytes_);
    if (take_) {
      (*take_)(file_.subspan(key_at, key), number * page_bytes_ + kPageHeaderBytes, bytes);
    }
    return kNodeHeaderBytes + key + sizeof(number);
  }

  bool is_key(std::size_t bytes) const noexcept {
    return take_ ? bytes >= 1 && bytes <= kMaxKeyBytes : bytes == kKeyBytes;
  }

  BytesView file_;
  const std::string& where_;
  const Take* take_;
  std::size_t page_bytes_ = 0;
  std::uint64_t pages_ = 0;
  std::uint64_t last_page_ = 0;
  std::uint64_t entries_ = 0;
  std::vector<bool> visited_;
};

}  // namespace

void check_structure(BytesView file, const std::string& where) { Walk(file, where).run(); }

void for_each_entry(BytesView file, const std::string& where, const Take& take) {
  Walk(file, where, &take).run();
}

}  // namespace winnow::lmdb
