#include "common/comm/mpi/plugin_internal.h"

extern "C" [[gnu::visibility("default")]] const winnow::comm::MpiPlugin winnow_mpi_plugin{
    &winnow::comm::mpi_library, &winnow::comm::make_mpi};
