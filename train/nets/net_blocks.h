#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "train/nets/builder.h"

namespace winnow::train {

inline constexpr int kMostWidth = 1 << 16;

// What the net of a file is made of (docs/nets.md). Each block is a row: its keys, and a function
// that calls what the nets of the table are built with.

enum class KeyKind : std::uint8_t { kWhole, kReal, kSwitch, kWord };

struct BlockKey {
  std::string_view name;
  KeyKind kind = KeyKind::kWhole;
  double initial = 0;  // kMustBeGiven: there is none. It may lie outside of the range
  double least = 0;    // numbers: the range of what is given
  double most = 0;
  std::span<const std::string_view> words = {};  // kWord: those that there are
};
inline constexpr double kMustBeGiven = -1e9;

// The keys of a block with their values: a word's is its place among the words, a switch's 0 or 1.
class BlockValues {
 public:
  void set(std::string_view key, double value) { values_[key] = value; }
  bool has(std::string_view key) const { return values_.contains(key); }
  double real(std::string_view key) const { return values_.at(key); }
  int whole(std::string_view key) const { return static_cast<int>(values_.at(key)); }
  bool is_on(std::string_view key) const { return values_.at(key) != 0; }

 private:
  std::map<std::string_view, double> values_;
};

// Where a block stands.
struct BlockPlace {
  std::string name;           // of the block
  std::int64_t classes = 0;   // of the net
  double drop_path_rate = 0;  // of this block
};

struct Block {
  std::string_view name;
  std::string_view what;
  std::span<const BlockKey> keys;
  ValueId (*make)(NetBuilder& net, const BlockPlace& at, ValueId x, const BlockValues& values);
  bool repeats = false;        // takes `depth`
  bool drops_path = false;     // has a shortcut beside which drop_path drops
  bool takes_vectors = false;  // also data behind a linear layer, which is no image any more
};
std::span<const Block> net_blocks();

}  // namespace winnow::train
