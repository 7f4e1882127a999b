#pragma once

#include <filesystem>
#include <vector>

#include "app/session.h"
#include "common/json.h"

namespace winnow::app {

struct DoctorRequest {
  std::vector<std::filesystem::path> caches{"."};
  bool json = false;
};

// Inspects this machine and reports what could prevent winnow from running well here.
void run_doctor(const DoctorRequest& request, const Session& session);

}  // namespace winnow::app
