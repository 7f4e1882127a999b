#include "train/run/record/stored_weights.h"

#include <utility>

#include "common/error.h"
#include "train/model/class_names.h"
#include "train/rewrites/rewrites.h"
#include "train/run/record/chosen_net.h"

namespace winnow::train {

StoredWeights load_weights(const std::filesystem::path& file, const FileNetOptions& options,
                           const std::filesystem::path& cache, const pipeline::DatasetInfo& info,
                           FileUse use) {
  if (options.net.name.empty()) {
    throw UsageError("name the net of the weights in " + file.string() + " with --net");
  }
  DataOptions data;
  data.cache = cache;
  data.image_side_px = options.image_side_px;
  data.augment = pipeline::Recipe::kNone;
  data.eval_resize_px = options.eval_resize_px;
  StoredWeights stored;
  stored.config.setup = fit_net(read_net(options.net), {}, {}, data, info);
  stored.config.eval_resize_px = eval_resize_of(data, info, stored.config.setup);
  stored.graph = for_inference(forward_graph(stored.config.setup));
  stored.model = make_model(stored.graph, [](const Value&) { return std::vector<float>(); });
  if (use == FileUse::kClasses) stored.model.classes = class_names(info.classes);
  stored.from = load_initial_weights(stored.model, stored.graph, file);
  return stored;
}

}  // namespace winnow::train
