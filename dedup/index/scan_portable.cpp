#include "dedup/index/scan_loop_internal.h"

namespace winnow::dedup {

const ScanLoops kPortableLoops = kLoops;

}  // namespace winnow::dedup
