#include "dedup/search/scan_loop_internal.h"

namespace winnow::dedup {

const ScanLoops kPopcntLoops{scan, candidates, gather_bits};

}  // namespace winnow::dedup
