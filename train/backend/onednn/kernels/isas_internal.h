#pragma once

#include "train/backend/onednn/kernels.h"

// The compilations of the kernels, see kernel_isas.cmake. The architecture determines which exist.
namespace winnow::train::kernels {

namespace generic {
extern const Table kTable;
}
namespace x86_64_v3 {
extern const Table kTable;
}
namespace x86_64_v4 {
extern const Table kTable;
}
namespace x86_64_v4_bf16 {
extern const Table kTable;
}

}  // namespace winnow::train::kernels
