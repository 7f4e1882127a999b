#pragma once

#include <cstdint>
#include <optional>
#include <sstream>

#include "pipeline/augment/mix.h"
#include "tests/common/vectors.h"

namespace winnow::test {

// The pictures of make_mix_golden.py.
inline std::uint8_t mixed_level(int which, int y, int x) {
  return static_cast<std::uint8_t>(97 * which * which + 31 * y + 57 * x + x * y * (which + 1));
}

// A row of the table "mixtures".
inline pipeline::Mix mix_of(const JsonReader& row) {
  pipeline::Mix how{row.at("own").real(), std::nullopt};
  std::istringstream in(row.at("box").text());
  Box box;
  if (in >> box.top >> box.left >> box.height_px >> box.width_px) how.box = box;
  return how;
}

}  // namespace winnow::test
