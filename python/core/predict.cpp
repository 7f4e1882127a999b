#include "app/predict/predict.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/error.h"
#include "python/core/arrays.h"
#include "python/core/bind.h"
#include "python/core/listener.h"
#include "python/core/lone_session.h"

namespace winnow::python {
namespace nb = nanobind;

namespace {

using Pixels = nb::ndarray<const std::uint8_t, nb::c_contig, nb::device::cpu>;

// Pictures in memory.
class ArraySource final : public datasets::Source {
 public:
  ArraySource(std::vector<Image> images, std::vector<std::string> names)
      : images_(std::move(images)) {
    for (std::string& name : names) {
      entries_.push_back({.name = std::move(name), .labels = {}, .group = {}});
    }
  }

  std::string_view format() const noexcept override { return "arrays"; }
  const datasets::Listing& entries() const noexcept override { return entries_; }
  std::span<const std::string> class_names() const noexcept override { return {}; }
  std::string description() const override { return "pictures in memory"; }
  Expected<datasets::Payload, datasets::ReadError> read(std::size_t position) const override {
    return datasets::Payload(images_[position]);
  }

 private:
  std::vector<Image> images_;
  datasets::Listing entries_;
};

Image image_of(const Pixels& pixels) {
  const bool colour = pixels.ndim() == 3;
  if (pixels.ndim() != 2 && !(colour && (pixels.shape(2) == 1 || pixels.shape(2) == 3))) {
    throw UsageError("an image is an array of height x width, or height x width x 1 or 3");
  }
  Image image(static_cast<int>(pixels.shape(0)), static_cast<int>(pixels.shape(1)),
              colour ? static_cast<int>(pixels.shape(2)) : 1);
  std::copy_n(pixels.data(), image.pixels.size(), image.pixels.begin());
  return image;
}

// Results for all pictures; rows are for the readable ones.
struct Predicted {
  std::vector<std::string> classes;
  std::vector<std::string> names;
  nb::object probabilities;
  nb::object features;
  std::vector<std::string> failed;  // names
  std::vector<std::string> fates;   // their outcomes
  std::vector<std::string> reasons;
};

Predicted predicted(const app::Predictions& predictions, const app::Inputs& inputs) {
  Predicted result;
  result.classes = predictions.classes;
  std::vector<float> probabilities;
  std::vector<float> features;
  for (std::size_t i = 0; i < predictions.results.size(); ++i) {
    const app::ImageResult& one = predictions.results[i];
    if (one.fate != pipeline::Fate::kOk) {
      result.failed.push_back(inputs.name(i));
      result.fates.emplace_back(pipeline::fate_name(one.fate));
      result.reasons.push_back(one.reason);
      continue;
    }
    result.names.push_back(inputs.name(i));
    probabilities.insert(probabilities.end(), one.probabilities.begin(), one.probabilities.end());
    features.insert(features.end(), one.features.begin(), one.features.end());
  }
  const std::size_t rows = result.names.size();
  const std::size_t dimensions = rows == 0 ? 0 : features.size() / rows;
  result.probabilities =
      array_of(std::move(probabilities), std::array<std::size_t, 2>{rows, result.classes.size()});
  result.features = array_of(std::move(features), std::array<std::size_t, 2>{rows, dimensions});
  return result;
}

app::Predictions run(const app::PredictRequest& request, const app::Inputs& inputs,
                     Listener& listener) {
  LoneSession alone(listener);
  app::Net net = app::load_net(request.net, [](const std::string&) {});
  return app::predict_arrays(net, inputs, request, alone.session);
}

Predicted predict(app::PredictRequest request, const std::vector<Pixels>& arrays,
                  std::vector<std::string> names, int threads, nb::object progress) {
  Listener listener(std::move(progress));
  request.inputs.stop = listener.stop();
  request.work.threads = threads;
  std::unique_ptr<app::Inputs> inputs;
  if (request.inputs.sources.empty()) {
    std::vector<Image> images;
    for (const Pixels& pixels : arrays) images.push_back(image_of(pixels));
    inputs = app::inputs_of(
        {{std::make_shared<const ArraySource>(std::move(images), std::move(names)), "arrays"}},
        request.inputs.decode, request.inputs.stop);
  } else {
    inputs = app::open_inputs(request.inputs);
  }
  return predicted(listener.wait_for([&] { return run(request, *inputs, listener); }), *inputs);
}

void bind_result(nb::module_& core) {
  nb::class_<Predicted>(core, "Predicted")
      .def_ro("classes", &Predicted::classes)
      .def_ro("names", &Predicted::names)
      .def_ro("probabilities", &Predicted::probabilities)
      .def_ro("features", &Predicted::features)
      .def_ro("failed", &Predicted::failed)
      .def_ro("fates", &Predicted::fates)
      .def_ro("reasons", &Predicted::reasons);
  core.def("predict", &predict, nb::arg("request"), nb::arg("arrays"), nb::arg("names"),
           nb::arg("threads"), nb::arg("progress").none());
}

}  // namespace

void bind_predict(nb::module_& core) {
  using app::PredictRequest;
  nb::class_<PredictRequest>(core, "PredictRequest")
      .def(nb::init<>())
      .def(
          "set_net",
          [](PredictRequest& r, const std::filesystem::path& run, const std::string& checkpoint,
             bool ema) {
            r.net.run = run;
            r.net.checkpoint = {checkpoint, ema};
          },
          nb::arg("run"), nb::arg("checkpoint"), nb::arg("ema"))
      .def(
          "set_file",
          [](PredictRequest& r, const std::string& net, int image_side_px,
             const std::filesystem::path& classes, const std::filesystem::path& cache) {
            r.net.file.net.name = net;
            r.net.file.image_side_px = image_side_px;
            r.net.classes = classes;
            r.net.cache = cache;
          },
          nb::arg("net"), nb::arg("image_side_px"), nb::arg("classes"), nb::arg("cache"))
      .def(
          "set_how",
          [](PredictRequest& r, const std::string& tta, bool features, const std::string& dtype,
             const std::string& orientation) {
            r.net.tta = tta;
            r.net.with_features = features;
            r.dtype = train::parse_dtype(dtype);
            const auto parsed = pipeline::parse_orientation(orientation);
            if (!parsed) {
              throw UsageError("orientation must be ignore or apply, not '" + orientation + "'");
            }
            r.inputs.decode.orientation = *parsed;
          },
          nb::arg("tta"), nb::arg("features"), nb::arg("dtype"), nb::arg("orientation"))
      .def(
          "set_windows",
          [](PredictRequest& r, int window, double overlap, double scale, const std::string& pool) {
            r.windows = app::WindowOptions{.window = window,
                                           .overlap = overlap,
                                           .scale = scale,
                                           .pool = app::parse_pool(pool)};
          },
          nb::arg("window"), nb::arg("overlap"), nb::arg("scale"), nb::arg("pool"))
      .def(
          "set_sources",
          [](PredictRequest& r, const std::vector<std::filesystem::path>& sources) {
            r.inputs.sources = sources;
          },
          nb::arg("sources"));
  bind_result(core);
}

}  // namespace winnow::python
