#include "pipeline/store/cache.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/set.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/thread_plan.h"
#include "dedup/lists/groups_with_evidence.h"
#include "dedup/lists/pairs.h"
#include "pipeline/export/pixels.h"
#include "pipeline/load/dataset.h"
#include "pipeline/load/loader.h"
#include "pipeline/load/samples.h"
#include "pipeline/store/verify.h"
#include "python/core/arrays.h"
#include "python/core/batch.h"
#include "python/core/bind.h"
#include "python/core/loading.h"
#include "python/core/open_cache.h"

namespace winnow::python {
namespace nb = nanobind;

namespace {

using pipeline::Cache;
using SharedCache = std::shared_ptr<const Cache>;

// A record whose payload stays in the cache.
struct HeldRecord {
  SharedCache cache;
  pipeline::RecordView record;
};

HeldRecord record_of(const SharedCache& cache, SampleId id, int variant) {
  const nb::gil_scoped_release others_go_on;
  int variants = 1;  // the callback is only called if there are several
  const auto pick = [&](int count) {
    variants = count;
    return std::clamp(variant, 0, count - 1);
  };
  HeldRecord held{cache, cache->record(id, pick)};
  if (variant >= 0 && variant < variants) return held;
  throw UsageError("sample " + std::to_string(id) + " has " + std::to_string(variants) +
                   (variants == 1 ? " variant" : " variants") +
                   ", counted from 0, so there is no variant " + std::to_string(variant));
}

nb::object image_of(const HeldRecord& held) {
  Image image;
  {
    const nb::gil_scoped_release others_go_on;
    auto decoded = pipeline::pixels_of(held.record, held.cache->manifest().settings.decode);
    if (!decoded) {
      throw FormatError(
          "sample " + std::to_string(held.record.id) + " of " + held.cache->paths().root.string() +
          " cannot be decoded: " + decoded.error().detail +
          "; check the cache with winnow verify and make it again with winnow ingest");
    }
    image = *std::move(decoded);
  }
  const std::array<std::size_t, 3> shape{static_cast<std::size_t>(image.height_px),
                                         static_cast<std::size_t>(image.width_px),
                                         static_cast<std::size_t>(image.channels)};
  return array_of(std::move(image.pixels), shape);
}

void bind_record(nb::module_& core) {
  nb::class_<HeldRecord>(core, "Record")
      .def_prop_ro("id", [](const HeldRecord& held) { return held.record.id; })
      .def_prop_ro(
          "split",
          [](const HeldRecord& held) { return std::string(split_name(held.record.split)); })
      .def_prop_ro("labels",
                   [](const HeldRecord& held) {
                     return std::vector<int>(held.record.labels.begin(), held.record.labels.end());
                   })
      .def_prop_ro("group",
                   [](const HeldRecord& held) {
                     return nb::bytes(held.record.group.data(), held.record.group.size());
                   })
      .def_prop_ro("height_px", [](const HeldRecord& held) { return held.record.height_px; })
      .def_prop_ro("width_px", [](const HeldRecord& held) { return held.record.width_px; })
      .def_prop_ro("channels", [](const HeldRecord& held) { return held.record.channels; })
      .def_prop_ro(
          "encoded",
          [](const HeldRecord& held) { return held.record.coding == pipeline::Coding::kEncoded; })
      .def_prop_ro("payload",
                   [](const HeldRecord& held) {
                     return nb::bytes(held.record.payload.data(), held.record.payload.size());
                   })
      .def("image", &image_of);
}

void bind_ledger_row(nb::module_& core) {
  using pipeline::LedgerRow;
  nb::class_<LedgerRow>(core, "LedgerRow")
      .def_ro("id", &LedgerRow::id)
      .def_prop_ro("name",
                   [](const LedgerRow& row) {
                     return nb::steal<nb::str>(PyUnicode_DecodeFSDefaultAndSize(
                         row.name.data(), static_cast<Py_ssize_t>(row.name.size())));
                   })
      .def_prop_ro("split", [](const LedgerRow& row) { return std::string(split_name(row.split)); })
      .def_prop_ro("fate", [](const LedgerRow& row) { return std::string(fate_name(row.fate)); })
      .def_ro("reason", &LedgerRow::reason);
}

std::vector<pipeline::LedgerRow> ledger_of(OpenCache& open, bool remarks_only) {
  const SharedCache cache = open.cache();
  const nb::gil_scoped_release others_go_on;
  if (!remarks_only) return cache->read_ledger();
  std::vector<pipeline::LedgerRow> rows;
  cache->for_each_remark([&](const pipeline::LedgerRow& row) { rows.push_back(row); });
  return rows;
}

dedup::Fingerprints fingerprints_of(OpenCache& open,
                                    const std::optional<std::set<std::string>>& columns) {
  const SharedCache cache = open.cache();
  const nb::gil_scoped_release others_go_on;
  if (!columns) return cache->read_fingerprints();
  return cache->open_fingerprints()(dedup::ColumnNames(columns->begin(), columns->end()));
}

// Ids and weights of a split's samples that a selection keeps, in id order.
nb::tuple samples_of(OpenCache& open, const std::string& split, const std::string& selection) {
  const SharedCache cache = open.cache();
  const Split wanted = split_of(split);
  pipeline::SampleSet set;
  {
    const nb::gil_scoped_release others_go_on;
    set = pipeline::select_samples(*cache, wanted, selection);
  }
  return nb::make_tuple(array_of(std::move(set.ids)), array_of(std::move(set.weights)));
}

using Ids = nb::ndarray<const SampleId, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Samples by id, in the form in which a loader returns them.
struct Wanted {
  std::string augment;
  int height_px = 0;
  int width_px = 0;
  std::uint64_t seed = 0;
  std::uint32_t epoch = 0;
  int threads = 0;
};

std::unique_ptr<HeldBatch> load(OpenCache& open, const Ids& ids, const Wanted& wanted) {
  const SharedCache cache = open.cache();
  std::vector<pipeline::Request> requests(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    requests[i] = {.id = ids.data()[i], .epoch = wanted.epoch};
  }
  const nb::gil_scoped_release others_go_on;
  pipeline::check_holds_images(*cache);
  const pipeline::DatasetInfo info = pipeline::describe(*cache);
  ThreadPlanInputs threads = detect_threads(1, 1);
  threads.requested = wanted.threads;
  const pipeline::LoadOptions options{
      .geometry = geometry_of(info, wanted.height_px, wanted.width_px, open.root()),
      .recipe = pipeline::parse_recipe(wanted.augment),
      .seed = wanted.seed,
      .threads = plan_threads(threads).decode,
      .data = {.levels = levels_of(info)}};
  return std::make_unique<HeldBatch>(pipeline::load_batch(*cache, requests, options), 0, nullptr);
}

// The linked pairs, as ids, with the bits between them.
nb::tuple pairs_of(OpenCache& open, const std::string& hash, int threshold,
                   const std::string& scope) {
  const SharedCache cache = open.cache();
  const auto rows = open.rows();
  std::vector<SampleId> first, second;
  std::vector<std::uint32_t> distances;
  {
    const nb::gil_scoped_release others_go_on;
    const dedup::Options options{
        .hash = hash, .threshold = threshold, .scope = dedup::parse_scope(scope)};
    dedup::for_each_pair(cache->open_fingerprints(), options, {}, [&](const dedup::Edge& pair) {
      first.push_back(rows->ids[pair.a]);
      second.push_back(rows->ids[pair.b]);
      distances.push_back(pair.distance);
    });
  }
  return nb::make_tuple(array_of(std::move(first)), array_of(std::move(second)),
                        array_of(std::move(distances)));
}

// Why only components can be shown for a selection; empty: nothing is known to be missing.
std::string why_only_components(const dedup::Selection& selection) {
  if (dedup::says_more_than_codes(selection)) {
    return "without results of comparing pictures, because its file of groups is missing: "
           "deduplicate again to see these results";
  }
  if (dedup::is_made_of_others(selection)) {
    return "without results of comparing pictures, because it was made from other selections";
  }
  return {};
}

// The groups stored beside the selection `grouped`; nullopt if there are none, or it is null.
std::optional<dedup::GroupsWithEvidence> read_groups_of(const pipeline::Cache& cache,
                                                        const dedup::Selection* grouped) {
  if (grouped == nullptr) return std::nullopt;
  return cache.read_groups(*grouped);
}

// The groups of a selection, as reported when `grouped` (with the same groups) was made; else its
// components. Returns rows and groups of members, the results of comparing each picture with its
// kept one (0 and "" if not compared), and why_only_components().
nb::tuple members_of(OpenCache& open, const dedup::Selection& selection,
                     const dedup::Selection* grouped) {
  const SharedCache cache = open.cache();
  std::vector<std::uint32_t> rows, groups;
  std::vector<float> probabilities;
  std::vector<std::string> transformations;
  std::string why;
  {
    const nb::gil_scoped_release others_go_on;
    auto told = read_groups_of(*cache, grouped);
    const dedup::Fingerprints table =
        cache->open_fingerprints()({"labels", "widths_px", "heights_px"});
    if (!told) {
      why = why_only_components(selection);
      told = dedup::groups_by_codes(selection, table, nullptr, 0);
    }
    for (std::uint32_t number = 0; number < told->groups.size(); ++number) {
      for (const std::uint32_t row : told->groups[number].rows) {
        const auto kept = static_cast<std::uint32_t>(selection.row_of(selection.kept[row]));
        const dedup::VerifiedPair* pair =
            kept == row ? nullptr : dedup::find_pair(told->pairs, row, kept);
        rows.push_back(row);
        groups.push_back(number);
        probabilities.push_back(pair == nullptr ? 0 : pair->probability);
        transformations.push_back(
            pair == nullptr ? "" : dedup::transformation_words(*pair, table, kept, row));
      }
    }
  }
  return nb::make_tuple(array_of(std::move(rows)), array_of(std::move(groups)),
                        array_of(std::move(probabilities)), transformations, why);
}

dedup::Selection keep_all_of(OpenCache& open, const std::string& name) {
  dedup::Selection all = dedup::keep_all(open.rows()->ids);
  all.name = name;
  all.cache_digest = open.cache()->digest();
  return all;
}

// grouped  The selection with the same groups; nullptr: none.
std::optional<std::string> write_selection(OpenCache& open, const dedup::Selection& selection,
                                           const dedup::Selection* grouped) {
  const SharedCache cache = open.cache();
  const nb::gil_scoped_release others_go_on;
  pipeline::check_selection_name(selection.name);
  if (selection.cache_digest != cache->digest()) {
    throw UsageError("selection '" + selection.name + "' was made for another cache than " +
                     open.root().string() + "; make one from keep_all() of this cache");
  }
  const Fd lock = cache->lock_selections();
  std::optional<dedup::GroupsWithEvidence> groups;
  try {
    groups = read_groups_of(*cache, grouped);
  } catch (const FormatError&) {  // a damaged file must not prevent a decision
  }
  auto previous = cache->keep_previous(selection);
  cache->write_selection(selection, groups ? &*groups : nullptr);
  return previous;
}

nb::object names_of(OpenCache& open, const Ids& ids) {
  const pipeline::LedgerNames names = open.cache()->read_names();
  nb::list list;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::string name = names(ids.data()[i]);
    list.append(nb::steal(
        PyUnicode_DecodeFSDefaultAndSize(name.data(), static_cast<Py_ssize_t>(name.size()))));
  }
  return list;
}

void bind_tables(nb::class_<OpenCache>& cache) {
  cache.def("fingerprints", &fingerprints_of, nb::arg("columns").none())
      .def("ledger", &ledger_of, nb::arg("remarks_only"))
      .def("names", &names_of, nb::arg("ids"))
      .def("samples", &samples_of, nb::arg("split"), nb::arg("selection"))
      .def("pairs", &pairs_of, nb::arg("hash"), nb::arg("threshold"), nb::arg("scope"))
      .def("selections", [](OpenCache& open) { return open.cache()->selections(); })
      .def(
          "selection",
          [](OpenCache& open, const std::string& name) {
            return open.cache()->read_selection(name);
          },
          nb::arg("name"))
      .def("groups", &members_of, nb::arg("selection"), nb::arg("grouped").none())
      .def("keep_all", &keep_all_of, nb::arg("name"))
      .def("write_selection", &write_selection, nb::arg("selection"), nb::arg("grouped").none());
}

void bind_verified(nb::module_& core) {
  using pipeline::Verified;
  nb::class_<Verified>(core, "Verified")
      .def_ro("damage", &Verified::damage)
      .def_ro("samples", &Verified::samples)
      .def_ro("affected", &Verified::affected)
      .def_ro("first_few", &Verified::first_few)
      .def_ro("shards", &Verified::shards)
      .def_ro("records", &Verified::records)
      .def_ro("bytes", &Verified::bytes)
      .def_ro("selections", &Verified::selections)
      .def_ro("digest", &Verified::digest)
      .def_prop_ro("whole", &Verified::whole);
  core.def(
      "verify",
      [](const std::filesystem::path& cache, const std::string& selection) {
        return pipeline::verify_cache(cache, selection);
      },
      nb::arg("cache"), nb::arg("selection"), nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace

void bind_cache(nb::module_& core) {
  bind_record(core);
  bind_ledger_row(core);
  bind_verified(core);
  nb::class_<OpenCache> cache(core, "OpenCache");
  cache.def(nb::init<std::filesystem::path>(), nb::arg("path"))
      .def_prop_ro("path", &OpenCache::root)
      .def_prop_ro("digest", [](OpenCache& open) { return open.cache()->digest(); })
      .def_prop_ro("class_names", [](OpenCache& open) { return open.cache()->manifest().classes; })
      .def_prop_ro("store", [](OpenCache& open) { return open.cache()->manifest().store; })
      .def_prop_ro("inputs",
                   [](OpenCache& open) { return open.cache()->manifest().inputs.by_fate; })
      .def_prop_ro("mean", [](OpenCache& open) { return pipeline::describe(*open.cache()).mean; })
      .def_prop_ro("deviation",
                   [](OpenCache& open) { return pipeline::describe(*open.cache()).deviation; })
      .def_prop_ro("image_shape",
                   [](OpenCache& open) {
                     const pipeline::DatasetInfo info = pipeline::describe(*open.cache());
                     return nb::make_tuple(info.height_px, info.width_px, info.channels);
                   })
      .def_prop_ro("ids",
                   [](nb::handle self) {
                     const auto rows = nb::inst_ptr<OpenCache>(self)->rows();
                     return column_view(rows->ids, self);
                   })
      .def_prop_ro("splits",
                   [](nb::handle self) {
                     const auto rows = nb::inst_ptr<OpenCache>(self)->rows();
                     return enum_view(rows->splits, self);
                   })
      .def(
          "record",
          [](OpenCache& open, SampleId id, int variant) {
            return record_of(open.cache(), id, variant);
          },
          nb::arg("id"), nb::arg("variant"))
      .def(
          "load",
          [](OpenCache& open, const Ids& ids, std::string augment, int height_px, int width_px,
             std::uint64_t seed, std::uint32_t epoch, int threads) {
            return load(open, ids,
                        {.augment = std::move(augment),
                         .height_px = height_px,
                         .width_px = width_px,
                         .seed = seed,
                         .epoch = epoch,
                         .threads = threads});
          },
          nb::arg("ids"), nb::arg("augment"), nb::arg("height_px"), nb::arg("width_px"),
          nb::arg("seed"), nb::arg("epoch"), nb::arg("threads"));
  bind_tables(cache);
}

}  // namespace winnow::python
