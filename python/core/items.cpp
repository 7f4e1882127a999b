#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "common/comm/communicator.h"
#include "common/error.h"
#include "datasets/spool.h"
#include "pipeline/ingest/ingest.h"
#include "pipeline/ingest/workspace.h"
#include "python/core/bind.h"
#include "python/core/listener.h"

namespace winnow::python {
namespace nb = nanobind;

namespace {

using datasets::Spool;
using datasets::SpooledItem;
using Levels = nb::ndarray<const std::uint8_t, nb::c_contig, nb::device::cpu>;

// A one-dimensional array is an encoded image; two or three dimensions are pixels.
datasets::SpooledImage image_of(const Levels& levels) {
  if (levels.ndim() == 1) {
    return std::as_bytes(std::span<const std::uint8_t>(levels.data(), levels.shape(0)));
  }
  const int channels = levels.ndim() == 3 ? static_cast<int>(levels.shape(2)) : 1;
  const auto width = static_cast<int>(levels.shape(1));
  return ImageView{levels.data(), static_cast<int>(levels.shape(0)), width, channels,
                   std::ptrdiff_t{width} * channels};
}

std::string_view text_of(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

Split item_split(const std::string& name) {
  if (const auto split = parse_split(name)) return *split;
  if (name.empty() || name == split_name(Split::kNone)) return Split::kNone;
  throw UsageError("there is no split '" + name + "'; use train, val or test, or leave it out");
}

// Group, name and split.
using ItemPlace = std::tuple<nb::bytes, nb::bytes, std::string>;

// Appends an item, or returns whether it equals the one at `position`.
bool put(Spool& spool, std::uint64_t position, const std::optional<Levels>& levels,
         const std::vector<nb::bytes>& labels, const ItemPlace& place) {
  const auto& [group, name, split] = place;
  SpooledItem item{.name = text_of(name), .split = item_split(split), .group = text_of(group)};
  for (const nb::bytes& label : labels) item.labels.emplace_back(text_of(label));
  if (levels) item.image = image_of(*levels);
  const nb::gil_scoped_release others_go_on;
  if (position < spool.size()) return spool.holds(position, item);
  if (position > spool.size()) throw Error("an item is missing before this one");
  spool.append(item);
  return true;
}

pipeline::IngestResult ingest(const Spool& spool, const std::string& name,
                              const std::vector<std::string>& class_names,
                              const std::filesystem::path& out, pipeline::IngestOptions options,
                              Listener& listener) {
  const std::unique_ptr<datasets::Source> source = spool.open(class_names);
  const pipeline::IngestSource one{source.get(), name};
  options.work.stop = listener.stop();
  const auto alone = comm::make_single();
  return pipeline::ingest(std::span(&one, 1), out, options, listener.sink(), *alone);
}

}  // namespace

void bind_items(nb::module_& core) {
  nb::class_<Spool>(core, "Spool")
      .def(nb::new_([](const std::filesystem::path& folder) {
             Listener listener{nb::none()};
             return listener.wait_for(
                 [&] { return std::make_unique<Spool>(folder, listener.stop()); });
           }),
           nb::arg("folder"))
      .def("__len__", &Spool::size)
      .def("put", &put, nb::arg("position"), nb::arg("image").none(), nb::arg("labels"),
           nb::arg("place"))
      .def(
          "ingest",
          [](const Spool& spool, const std::string& name,
             const std::vector<std::string>& class_names, const std::filesystem::path& out,
             const pipeline::IngestOptions& options, nb::object progress) {
            Listener listener(std::move(progress));
            return listener.wait_for(
                [&] { return ingest(spool, name, class_names, out, options, listener); });
          },
          nb::arg("name"), nb::arg("class_names"), nb::arg("out"), nb::arg("options"),
          nb::arg("progress").none())
      .def("remove", &Spool::remove);
  core.def(
      "check_ingest",
      [](const std::filesystem::path& out, const pipeline::IngestOptions& options) {
        pipeline::check_options(options);
        if (!options.target.into) pipeline::Workspace::check_is_free(out);
      },
      nb::arg("out"), nb::arg("options"));
}

}  // namespace winnow::python
