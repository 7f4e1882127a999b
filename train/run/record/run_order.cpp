#include "train/run/record/run_order.h"

#include <filesystem>

#include "common/comm/agreement.h"
#include "common/error.h"
#include "common/file.h"
#include "pipeline/load/dataset.h"
#include "train/model/class_names.h"

namespace winnow::train {

std::optional<StoredConfig> begun_config(const RunOptions& run, comm::Communicator& comm) {
  const std::filesystem::path config = run.out / "config.json";
  std::string text;
  on_root(comm, [&] {
    if (!run.resume || !std::filesystem::exists(config)) return;
    try {
      text = read_text(config);
      parse_config(text, config.string());
    } catch (const SystemError&) {
      throw;
    } catch (const Error&) {
      text.clear();
    }
  });
  text = comm::broadcast_text(comm, text);
  if (text.empty()) return std::nullopt;
  return parse_config(text, config.string());
}

bool began_with(const StoredConfig& begun, const pipeline::Cache& cache) {
  if (begun.cache_digest == pipeline::describe(cache).digest) return true;
  return !begun.digest_by_names.empty() &&
         begun.digest_by_names == pipeline::digest_by_names(cache);
}

std::optional<RunOrder> order_of_run(const StoredConfig& begun,
                                     const std::vector<std::string>& classes,
                                     const std::string& digest_by_names) {
  if (begun.classes.empty() || begun.classes == classes) return std::nullopt;
  if (digest_by_names.empty() || begun.digest_by_names != digest_by_names) return std::nullopt;
  return RunOrder{.label_of = places_in(classes, begun.classes),
                  .cache_digest = begun.cache_digest};
}

}  // namespace winnow::train
