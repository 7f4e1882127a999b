#include "python/core/placed_cache.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/unique_ptr.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <utility>

#include "common/comm/communicator.h"
#include "common/error.h"
#include "pipeline/load/dataset.h"
#include "pipeline/store/memory.h"
#include "python/core/bind.h"
#include "python/core/listener.h"

namespace winnow::python {
namespace nb = nanobind;
namespace fs = std::filesystem;

namespace {

// A cache and the copy that its shards are in, which is given up after it.
struct Held {
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
                             bool several_machines) {
  const auto this_machine = comm::make_single();
  try {
    return pipeline::place_shards(root, options, *this_machine);
  } catch (const UsageError& error) {
    std::error_code ignored;
    if (!several_machines || !fs::exists(root, ignored) ||
        !fs::exists(options.copy.memory, ignored) || !lacks_room(root, options.copy.memory)) {
      throw;
    }
    throw UsageError(std::string(error.what()) +
                     "; from Python each machine of a job holds the whole cache, and winnow train "
                     "--memory puts a part of it on each");
  }
}

pipeline::PlaceOptions options_of(bool memory, const std::optional<fs::path>& folder,
                                  StopRequested stop) {
  pipeline::PlaceOptions options;
  options.copy.stop = std::move(stop);
  if (memory) options.when = pipeline::CopyWhen::kNotInMemory;
  if (folder) {
    options.copy.memory = *folder;
    options.when = pipeline::CopyWhen::kAlways;
  }
  return options;
}

}  // namespace

PlacedCache place_cache(const fs::path& root, const pipeline::PlaceOptions& options,
                        bool several_machines) {
  const auto held = std::make_shared<Held>(Held{place(root, options, several_machines)});
  held->cache = pipeline::open_cache(root, held->placed.placement);
  PlacedCache placed{root, std::shared_ptr<const pipeline::Cache>(held, held->cache.get())};
  if (held->placed.copy) placed.copy = held->placed.copy->folder();
  return placed;
}

PlacedCache open_tables(const fs::path& root) {
  return {root, std::make_shared<const pipeline::Cache>(
                    pipeline::Cache::open(root, pipeline::OpenOptions::without_shards()))};
}

void bind_placed_cache(nb::module_& core) {
  nb::class_<PlacedCache>(core, "PlacedCache")
      .def(nb::new_([](const fs::path& cache, bool memory, const std::optional<fs::path>& folder,
                       bool several_machines) {
             Listener listener{nb::none()};
             return listener.wait_for([&] {
               return std::make_unique<PlacedCache>(place_cache(
                   cache, options_of(memory, folder, listener.stop()), several_machines));
             });
           }),
           nb::arg("cache"), nb::arg("memory"), nb::arg("folder").none(),
           nb::arg("several_machines"))
      .def_ro("copy", &PlacedCache::copy);
  core.def(
      "open_tables",
      [](const fs::path& cache) { return std::make_unique<PlacedCache>(open_tables(cache)); },
      nb::arg("cache"), nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace winnow::python
