#include "pipeline/ingest/ingest.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/comm/communicator.h"
#include "common/error.h"
#include "common/thread_plan.h"
#include "datasets/formats.h"
#include "dedup/hash/hashes.h"
#include "pipeline/store/cache.h"
#include "python/core/arrays.h"
#include "python/core/bind.h"
#include "python/core/listener.h"

namespace winnow::python {
namespace nb = nanobind;

namespace {

using pipeline::IngestOptions;

pipeline::Store store_of(const std::string& name) {
  for (const auto store :
       {pipeline::Store::kOriginal, pipeline::Store::kRaw, pipeline::Store::kNone}) {
    if (pipeline::store_name(store) == name) return store;
  }
  throw UsageError("there is no store '" + name + "'; use original, raw or none");
}

void bind_ingest_options(nb::module_& core) {
  using datasets::OpenOptions;
  nb::class_<OpenOptions>(core, "OpenOptions")
      .def(nb::init<>())
      .def_rw("format", &OpenOptions::format)
      .def_rw("allow_empty_classes", &OpenOptions::allow_empty_classes)
      .def_rw("hidden", &OpenOptions::hidden)
      .def_rw("system", &OpenOptions::system)
      .def_rw("follow_links", &OpenOptions::follow_links)
      .def_rw("exclude", &OpenOptions::exclude)
      .def(
          "set_labels",
          [](OpenOptions& options, const std::string& labels) {
            options.labels =
                labels == "auto"     ? datasets::LabelsFrom::kAuto
                : labels == "folder" ? datasets::LabelsFrom::kFolder
                : labels == "none"
                    ? datasets::LabelsFrom::kNone
                    : throw UsageError("labels must be auto, folder or none, not '" + labels + "'");
          },
          nb::arg("labels"));
  nb::class_<IngestOptions>(core, "IngestOptions")
      .def(nb::init<>())
      .def(
          "set_store", [](IngestOptions& o, const std::string& name) { o.store = store_of(name); },
          nb::arg("store"))
      .def_rw("hashes", &IngestOptions::hashes)
      .def_rw("shard_bytes", &IngestOptions::shard_bytes)
      .def(
          "set_resize",
          [](IngestOptions& o, int short_side_px, int quality) {
            o.resize = {short_side_px, quality};
          },
          nb::arg("short_side_px"), nb::arg("quality"))
      .def(
          "set_thumbnails", [](IngestOptions& o, bool on) { o.target.thumbnails = on; },
          nb::arg("on"))
      .def(
          "set_target",
          [](IngestOptions& o, bool into, bool retry) {
            o.target.into = into;
            o.target.retry = retry;
          },
          nb::arg("into"), nb::arg("retry"))
      .def(
          "set_threads",
          [](IngestOptions& o, int threads) {
            ThreadPlanInputs inputs = detect_threads(1, 1);
            inputs.requested = threads;
            o.work.threads = plan_threads(inputs).decode;
          },
          nb::arg("threads"));
}

pipeline::IngestResult ingest(const std::vector<std::filesystem::path>& paths,
                              const std::filesystem::path& out, const datasets::OpenOptions& open,
                              IngestOptions options, Listener& listener) {
  std::vector<std::unique_ptr<datasets::Source>> opened;
  std::vector<pipeline::IngestSource> sources;
  for (const std::filesystem::path& path : paths) {
    opened.push_back(datasets::open_source(path, open));
    sources.push_back({opened.back().get(), path});
  }
  options.work.stop = listener.stop();
  const auto alone = comm::make_single();
  return pipeline::ingest(sources, out, options, listener.sink(), *alone);
}

using ImageArray = nb::ndarray<const std::uint8_t, nb::c_contig, nb::device::cpu>;

std::string hash_of(const ImageArray& pixels, const std::string& name) {
  const bool colour = pixels.ndim() == 3;
  if (pixels.ndim() != 2 && !(colour && (pixels.shape(2) == 1 || pixels.shape(2) == 3))) {
    throw UsageError("an image must be an array of height x width, or of height x width x 1 or 3");
  }
  const int channels = colour ? static_cast<int>(pixels.shape(2)) : 1;
  const auto height = static_cast<int>(pixels.shape(0));
  const auto width = static_cast<int>(pixels.shape(1));
  if (height < 1 || width < 1) throw UsageError("an image must have at least one pixel");
  const dedup::HashKind kind = dedup::find_hash(name);
  if (kind.scale != 1) {
    throw UsageError(
        "hashes at a scale need pictures that are decoded at that scale, but these are already "
        "decoded; leave out @1/" +
        std::to_string(kind.scale));
  }
  const nb::gil_scoped_release others_go_on;
  dedup::HashMemory memory;
  const ImageView image{pixels.data(), height, width, channels, std::ptrdiff_t{width} * channels};
  return dedup::to_hex(dedup::compute_hashes(image, std::span(&kind, 1), memory).front().words);
}

}  // namespace

void bind_ingest(nb::module_& core) {
  using pipeline::IngestResult;
  bind_ingest_options(core);
  nb::class_<IngestResult>(core, "Ingested")
      .def_ro("digest", &IngestResult::digest)
      .def_prop_ro("inputs", [](const IngestResult& r) { return r.manifest.inputs.total; })
      .def_prop_ro("classes", [](const IngestResult& r) { return r.manifest.inputs.by_fate; })
      .def_prop_ro("warned", [](const IngestResult& r) { return r.remarks.warned; })
      .def_prop_ro("oriented", [](const IngestResult& r) { return r.remarks.oriented; })
      .def_prop_ro("transparent", [](const IngestResult& r) { return r.remarks.transparent; })
      .def_ro("inputs_done", &IngestResult::inputs_done)
      .def_ro("sources_there", &IngestResult::sources_there)
      .def_ro("retried", &IngestResult::retried)
      .def_ro("recovered", &IngestResult::recovered)
      .def_ro("seconds", &IngestResult::seconds);
  core.def(
      "ingest",
      [](const std::vector<std::filesystem::path>& sources, const std::filesystem::path& out,
         const datasets::OpenOptions& open, const IngestOptions& options, nb::object progress) {
        Listener listener(std::move(progress));
        return listener.wait_for([&] { return ingest(sources, out, open, options, listener); });
      },
      nb::arg("sources"), nb::arg("out"), nb::arg("open"), nb::arg("options"),
      nb::arg("progress").none());
  core.def(
      "options_of_cache",
      [](const std::filesystem::path& cache) {
        return pipeline::options_of(pipeline::Cache::open(cache).manifest());
      },
      nb::arg("cache"));
  core.def("hash", &hash_of, nb::arg("image"), nb::arg("hash"));
}

}  // namespace winnow::python
