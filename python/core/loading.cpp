#include "python/core/loading.h"

#include <nanobind/stl/string.h>

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/error.h"
#include "python/core/arrays.h"
#include "python/core/bind.h"
#include "python/core/open_cache.h"

namespace winnow::python {
namespace nb = nanobind;

pipeline::Geometry geometry_of(const pipeline::DatasetInfo& info, int height_px, int width_px,
                               const std::filesystem::path& cache) {
  const bool said = height_px > 0 && width_px > 0;
  if (!said && (info.height_px == 0 || info.width_px == 0)) {
    throw UsageError("the images of " + cache.string() +
                     " differ in size; give the size of the samples with image_size");
  }
  return said ? pipeline::Geometry{height_px, width_px, info.channels}
              : pipeline::Geometry{info.height_px, info.width_px, info.channels};
}

pipeline::Levels levels_of(const pipeline::DatasetInfo& info) {
  constexpr double kMost = 255;
  pipeline::Levels levels;
  for (std::size_t c = 0; c < static_cast<std::size_t>(info.channels); ++c) {
    // In f32, as in training. Images of a single value have no deviation.
    levels.mean.at(c) = kMost * double{static_cast<float>(info.mean.at(c))};
    levels.deviation.at(c) =
        kMost * (info.deviation.at(c) > 0 ? double{static_cast<float>(info.deviation.at(c))} : 1);
  }
  return levels;
}

namespace {

using Pixels = nb::ndarray<const std::uint8_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

// augment() for one picture; a side of 0 means the picture's own.
struct Augmenter {
  pipeline::Recipe recipe;
  int height_px = 0;
  int width_px = 0;
  pipeline::Levels levels;
};

nb::object augmented(const Augmenter& how, const Pixels& pixels, std::uint64_t seed,
                     std::uint32_t epoch, SampleId id) {
  const auto height = static_cast<int>(pixels.shape(0));
  const auto width = static_cast<int>(pixels.shape(1));
  const auto channels = static_cast<int>(pixels.shape(2));
  if (height < 1 || width < 1 || (channels != 1 && channels != 3)) {
    throw UsageError("a picture must have height, width and 1 or 3 channels");
  }
  const ImageView image{pixels.data(), height, width, channels,
                        std::ptrdiff_t{width} * std::ptrdiff_t{channels}};
  const pipeline::Geometry geometry{how.height_px > 0 ? how.height_px : height,
                                    how.width_px > 0 ? how.width_px : width, channels};
  const std::array<std::size_t, 3> shape{static_cast<std::size_t>(geometry.height_px),
                                         static_cast<std::size_t>(geometry.width_px),
                                         static_cast<std::size_t>(channels)};
  std::vector<std::uint8_t> out(shape[0] * shape[1] * shape[2]);
  {
    const nb::gil_scoped_release others_go_on;
    pipeline::augment(image, how.recipe, geometry, {seed, epoch, id}, out, how.levels);
  }
  return array_of(std::move(out), shape);
}

pipeline::Recipe recipe_of_one(const std::string& text) {
  pipeline::Recipe recipe = pipeline::parse_recipe(text);
  if (!pipeline::mixes(recipe)) return recipe;
  throw UsageError(
      "mixup and cutmix mix the samples of a batch, but this is a single picture; leave them out "
      "of '" +
      text + "', and mix batches instead");
}

}  // namespace

void bind_loading(nb::module_& core) {
  nb::class_<Augmenter>(core, "Augmenter")
      .def(nb::new_([](const std::string& recipe, int height_px, int width_px, OpenCache* like) {
             return Augmenter{recipe_of_one(recipe), height_px, width_px,
                              like == nullptr ? pipeline::Levels{}
                                              : levels_of(pipeline::describe(*like->cache()))};
           }),
           nb::arg("recipe"), nb::arg("height_px"), nb::arg("width_px"), nb::arg("like").none())
      .def_prop_ro("recipe", [](const Augmenter& how) { return pipeline::recipe_name(how.recipe); })
      .def("augment", &augmented, nb::arg("image"), nb::arg("seed"), nb::arg("epoch"),
           nb::arg("id"));
}

}  // namespace winnow::python
