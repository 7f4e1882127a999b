#include "tools/require_ranks.h"

#include "app/launch/check_launch.h"
#include "common/comm/agreement.h"
#include "common/comm/mpi/launcher.h"
#include "common/comm/mpi/mpi.h"
#include "common/error.h"

namespace winnow::tools {

void require_ranks(comm::Communicator& comm, const std::string& command, bool uses_ranks) {
  const comm::Launch launch = comm::this_launch();
  comm::on_all(comm, [&] {
    if (uses_ranks) {
      const std::string fault =
          app::launch_fault(launch, {comm::mpi_built(), comm::mpi_library(), comm.size()}, command);
      if (!fault.empty()) throw UsageError(fault);
    } else if (comm.size() > 1 || comm::joins_mpi(launch)) {
      throw UsageError(command + " runs as one process; start it without mpirun");
    }
  });
  if (!uses_ranks) comm::leave_launch();
}

}  // namespace winnow::tools
