#include "dedup/index/scan_loop_internal.h"

namespace winnow::dedup {

const ScanLoops kAvx2Loops{scan, candidates, gather_bits};

}  // namespace winnow::dedup
