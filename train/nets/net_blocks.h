#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "train/nets/builder.h"

namespace winnow::train {

inline constexpr int kMostWidth = 1 << 16;

// The blocks that a net file may use (docs/nets.md). Each block is a row: its keys, and a function
// that calls the same builders as the nets of the table.

enum class KeyKind : std::uint8_t { kWhole, kReal, kSwitch, kWord };

struct BlockKey {
  std::string_view name;
  KeyKind kind = KeyKind::kWhole;
  double initial = 0;  // default, which may be outside the range; kMustBeGiven: no default
  double least = 0;    // numbers: the range of given values
  double most = 0;
  std::span<const std::string_view> words = {};  // kWord: the known words
};
inline constexpr double kMustBeGiven = -1e9;

// Values of a block's keys. A word is stored as its position in `words`, a switch as 0 or 1.
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

// Context of a block within the net.
struct BlockPlace {
  std::string name;           // the block's name
  std::int64_t classes = 0;   // the net's classes
  double drop_path_rate = 0;  // drop path rate of this block
};

struct Block {
  std::string_view name;
  std::string_view what;
  std::span<const BlockKey> keys;
  ValueId (*make)(NetBuilder& net, const BlockPlace& at, ValueId x, const BlockValues& values);
  bool repeats = false;        // accepts `depth`
  bool drops_path = false;     // has a shortcut, so that drop_path applies
  bool takes_vectors = false;  // also accepts vectors, as after a linear layer
};
std::span<const Block> net_blocks();

}  // namespace winnow::train
