#pragma once

#include <cstdint>
#include <sstream>

#include "pipeline/augment/mix.h"
#include "tests/pipeline/mix_golden.h"

namespace winnow::test {

// The pictures of make_mix_golden.py.
inline std::uint8_t mixed_level(int which, int y, int x) {
  return static_cast<std::uint8_t>(97 * which * which + 31 * y + 57 * x + x * y * (which + 1));
}

inline pipeline::Mix mix_of(const MixtureGolden& golden) {
  pipeline::Mix how{golden.own, std::nullopt};
  std::istringstream in(golden.box);
  Box box;
  if (in >> box.top >> box.left >> box.height_px >> box.width_px) how.box = box;
  return how;
}

}  // namespace winnow::test
