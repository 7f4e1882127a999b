#include "dedup/index/scan_loop_internal.h"

namespace winnow::dedup {

const ScanLoops kPopcntLoops = kLoops;

}  // namespace winnow::dedup
