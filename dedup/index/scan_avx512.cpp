#include "dedup/index/scan_loop_internal.h"

namespace winnow::dedup {

const ScanLoops kAvx512Loops = kLoops;

}  // namespace winnow::dedup
