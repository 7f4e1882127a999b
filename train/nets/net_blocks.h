#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "train/nets/builder.h"

namespace winnow::train {

inline constexpr int kMostWidth = 1 << 16;

// The blocks that a net file may use (docs/nets.md). Each kind of block is a row of net_blocks():
// its keys, and a function that calls the same builders as the built-in nets.

enum class KeyKind : std::uint8_t { kWhole, kReal, kSwitch, kWord };

struct BlockKey {
  std::string_view name;
  KeyKind kind = KeyKind::kWhole;
  // Default value, which may be outside the range; kMustBeGiven: the key has no default.
  double initial = 0;
  double least = 0;  // for numbers: smallest value that may be given
  double most = 0;
  std::span<const std::string_view> words = {};  // for kWord: the words that may be given
};
inline constexpr double kMustBeGiven = -1e9;

// Values of a block's keys. A word is stored as its index in BlockKey::words, a switch as 0 or 1.
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

// Facts about the net that a block needs.
struct BlockPlace {
  std::string name;           // name of the block
  std::int64_t classes = 0;   // number of classes of the net
  double drop_path_rate = 0;  // probability of drop path (stochastic depth) in this block
};

struct Block {
  std::string_view name;
  std::string_view what;
  std::span<const BlockKey> keys;
  ValueId (*make)(NetBuilder& net, const BlockPlace& at, ValueId x, const BlockValues& values);
  bool repeats = false;  // whether the key `depth` (number of repetitions) is accepted
  // Whether the block has a shortcut, so that drop path (stochastic depth) applies.
  bool drops_path = false;
  bool takes_vectors = false;  // whether the input may be vectors, as after a linear layer
};
std::span<const Block> net_blocks();

}  // namespace winnow::train
