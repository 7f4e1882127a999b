#include "dedup/index/scan_loop_internal.h"

namespace winnow::dedup {

const ScanLoops kAvx2Loops = kLoops;

}  // namespace winnow::dedup
