#include "python/core/placed_cache.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/unique_ptr.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <utility>

#include "common/comm/agreement.h"
#include "common/error.h"
#include "pipeline/load/dataset.h"
#include "pipeline/store/memory.h"
#include "python/core/bind.h"
#include "python/core/group.h"
#include "python/core/listener.h"

namespace winnow::python {
namespace nb = nanobind;
namespace fs = std::filesystem;

namespace {

// A cache with what must be released after it: the copy of its shards, and the communicator.
struct Placed {
  std::shared_ptr<comm::Communicator> comm;
  pipeline::PlacedShards placed;
  std::shared_ptr<const pipeline::Cache> cache = nullptr;
};

bool lacks_room(const fs::path& root, const fs::path& memory) {
  const auto cache = pipeline::Cache::open(root, pipeline::OpenOptions::without_shards());
  const auto& shards = cache.manifest().shards;
  const auto bytes = std::accumulate(
      shards.begin(), shards.end(), std::uint64_t{0},
      [](std::uint64_t sum, const pipeline::ShardInfo& shard) { return sum + shard.bytes; });
  return pipeline::room_at(memory).bytes() < bytes;
}

pipeline::PlacedShards place(const fs::path& root, const pipeline::PlaceOptions& options,
                             const Machines& machines) {
  try {
    return pipeline::place_shards(root, options, *machines.comm);
  } catch (const UsageError& error) {
    std::error_code ignored;
    if (!machines.others || !fs::exists(root, ignored) ||
        !fs::exists(options.copy.memory, ignored) || !lacks_room(root, options.copy.memory)) {
      throw;
    }
    throw UsageError(std::string(error.what()) +
                     "; with replicas=1 each machine of the job holds a part of the cache");
  }
}

pipeline::PlaceOptions options_of(bool memory, const std::optional<fs::path>& folder,
                                  const pipeline::MachineOptions& machines, StopRequested stop) {
  pipeline::PlaceOptions options;
  options.copy.stop = std::move(stop);
  options.machines = machines;
  if (memory) options.when = pipeline::CopyWhen::kNotInMemory;
  if (folder) {
    options.copy.memory = *folder;
    options.when = pipeline::CopyWhen::kAlways;
  }
  return options;
}

}  // namespace

PlacedCache place_cache(const fs::path& root, const pipeline::PlaceOptions& options,
                        const Machines& machines) {
  comm::Communicator& comm = *machines.comm;
  const auto held = std::make_shared<Placed>(Placed{machines.comm, place(root, options, machines)});
  const pipeline::Placement& placement = held->placed.placement;
  comm::on_all(comm, [&] { held->cache = pipeline::open_cache(root, placement, comm.rank()); });
  PlacedCache placed{root, std::shared_ptr<const pipeline::Cache>(held, held->cache.get())};
  placed.spread = pipeline::spread(*held->cache, comm, placement);
  if (held->placed.copy) placed.copy = held->placed.copy->folder();
  return placed;
}

PlacedCache open_tables(const fs::path& root) {
  return {root, std::make_shared<const pipeline::Cache>(
                    pipeline::Cache::open(root, pipeline::OpenOptions::without_shards()))};
}

void bind_placed_cache(nb::module_& core) {
  using pipeline::MachineOptions;
  nb::class_<Machines>(core, "Machines")
      .def(nb::new_([](nb::object group, bool others) {
             auto machines = std::make_unique<Machines>(Machines{.others = others});
             if (group.is_none()) {
               machines->comm = comm::make_single();
             } else {
               machines->comm = std::make_shared<Group>(std::move(group));
             }
             return machines;
           }),
           nb::arg("group").none(), nb::arg("others"));
  nb::class_<MachineOptions>(core, "MachineOptions")
      .def(nb::new_([](int replicas, int ranks_per_machine) {
             return MachineOptions{.replicas = replicas, .ranks_per_machine = ranks_per_machine};
           }),
           nb::arg("replicas"), nb::arg("ranks_per_machine"));
  nb::class_<PlacedCache>(core, "PlacedCache")
      .def(nb::new_([](const fs::path& cache, bool memory, const std::optional<fs::path>& folder,
                       const Machines& machines, const MachineOptions& how) {
             Listener listener{nb::none()};
             return listener.wait_for([&] {
               return std::make_unique<PlacedCache>(
                   place_cache(cache, options_of(memory, folder, how, listener.stop()), machines));
             });
           }),
           nb::arg("cache"), nb::arg("memory"), nb::arg("folder").none(), nb::arg("machines"),
           nb::arg("how"))
      .def_prop_ro("is_spread", [](const PlacedCache& placed) { return bool{placed.spread}; })
      .def_ro("copy", &PlacedCache::copy);
  core.def(
      "open_tables",
      [](const fs::path& cache) { return std::make_unique<PlacedCache>(open_tables(cache)); },
      nb::arg("cache"), nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace winnow::python
