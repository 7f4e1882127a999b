#include "common/comm/agreement.h"

#include <exception>

#include "common/json.h"
#include "common/json_reader.h"

namespace winnow::comm {
namespace {

// Tells every rank who failed. The failed ranks report their errors, unless rank 0 failed too and
// reports for all.
void agree(Communicator& comm, const std::string& failure, int code) {
  std::vector<double> codes(static_cast<std::size_t>(comm.size()), 0.0);
  codes[static_cast<std::size_t>(comm.rank())] = code;
  comm.all_reduce(codes);
  if (code != 0 && (comm.rank() == 0 || codes[0] == 0)) throw AgreedError(failure, code);
  for (const double other : codes) {
    if (other != 0) throw PeerError(static_cast<int>(other));
  }
}

}  // namespace

int exit_code_of_current_exception() noexcept {
  try {
    throw;
  } catch (const AgreedError& error) {
    return error.exit_code();
  } catch (const UsageError&) {
    return 2;
  } catch (const RefusedError&) {
    return 3;
  } catch (const StoppedError&) {
    return 75;
  } catch (...) {
    return 1;
  }
}

void on_all(Communicator& comm, const std::function<void()>& work) {
  if (comm.size() == 1) {
    work();
    return;
  }
  std::string failure;
  int code = 0;
  try {
    work();
  } catch (const std::exception& error) {
    failure = error.what();
    code = exit_code_of_current_exception();
  }
  agree(comm, failure, code);
}

void on_root(Communicator& comm, const std::function<void()>& work) {
  on_all(comm, [&] {
    if (comm.rank() == 0) work();
  });
}

void require_agreement(Communicator& comm, const std::map<std::string, std::string>& facts) {
  const std::string first = broadcast_text(comm, Json(facts).dump());
  on_all(comm, [&] {
    std::map<std::string, std::string> theirs;
    for (const auto& [key, value] : JsonReader(first, {"what rank 0 said"}).members()) {
      theirs[key] = value.text();
    }
    std::string differing;
    for (const auto& [key, value] : facts) {
      const auto other = theirs.find(key);
      if (other != theirs.end() && other->second == value) continue;
      differing += (differing.empty() ? "" : ", ") + key + " (here " + value + ", on rank 0 " +
                   (other == theirs.end() ? "none" : other->second) + ")";
    }
    if (!differing.empty()) {
      throw Error("rank " + std::to_string(comm.rank()) + " differs from rank 0 in " + differing +
                  "; start all ranks with the same program, options and cache");
    }
  });
}

}  // namespace winnow::comm
