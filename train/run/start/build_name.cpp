#include "train/run/start/build_name.h"

namespace winnow::train {

std::string_view build_name() noexcept { return WINNOW_BUILD; }

}  // namespace winnow::train
