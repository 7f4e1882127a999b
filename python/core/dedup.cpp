#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/bytes.h"
#include "common/file.h"
#include "dedup/deduplicate.h"
#include "dedup/report.h"
#include "dedup/told_groups.h"
#include "pipeline/store/cache.h"
#include "python/core/arrays.h"
#include "python/core/bind.h"
#include "python/core/listener.h"

namespace winnow::python {
namespace nb = nanobind;

namespace {

using dedup::Options;
using dedup::Result;

// Lists what was removed beside where the selection will be, then writes that: what fails leaves
// the old one.
void keep(const pipeline::Cache& cache, const dedup::Policy& policy, const Result& result) {
  const dedup::Selection& selection = result.selection;
  const Fd lock = cache.lock_selections();
  cache.keep_previous(selection);
  const std::filesystem::path at =
      cache.paths().selection(selection.name).replace_extension(".csv");
  make_directories(at.parent_path());
  const pipeline::LedgerNames names = cache.read_names();
  DurableFile list(at);
  const dedup::ColumnSource columns = cache.open_fingerprints();
  dedup::list_removed(result, columns({"labels"}), {}, std::cref(names),
                      dedup::reasons_of(columns, policy), dedup::ListForm::kCsv,
                      [&](std::string_view line) { list.append(as_bytes(line)); });
  list.finish();
  const dedup::ToldGroups groups = dedup::told_groups(result.groups, nullptr);
  cache.write_selection(selection, &groups);
}

Result deduplicate(const std::filesystem::path& root, const std::string& name,
                   const Options& options, Listener& listener) {
  pipeline::check_selection_name(name);
  const pipeline::Cache cache = pipeline::Cache::open(root);
  const dedup::LinkSource search = [&](const dedup::CodeColumn& codes,
                                       std::span<const std::uint32_t> rows, int threshold,
                                       const dedup::EdgeSink& sink) {
    dedup::find_edges(codes, rows, threshold, sink,
                      {.progress = listener.sink(), .stop = listener.stop()});
  };
  Result result = dedup::deduplicate(cache.open_fingerprints(), options, search);
  result.selection.name = name;
  result.selection.cache_digest = cache.digest();
  keep(cache, options.policy, result);
  return result;
}

// Ids of the members of each group.
std::vector<std::vector<SampleId>> groups_of(const Result& result) {
  std::vector<std::vector<SampleId>> groups;
  for (const dedup::Group& group : result.groups) {
    groups.emplace_back();
    for (const std::uint32_t row : group.rows) groups.back().push_back(result.selection.ids[row]);
  }
  return groups;
}

nb::list leaks_of(const Result& result) {
  nb::list leaks;
  for (const dedup::LeakCount& leak : result.leaks) {
    leaks.append(nb::make_tuple(std::string(split_name(leak.a)), std::string(split_name(leak.b)),
                                leak.samples_in_b, leak.groups));
  }
  return leaks;
}

void bind_dedup_options(nb::module_& core) {
  nb::class_<Options>(core, "DedupOptions")
      .def(nb::init<>())
      .def_rw("hash", &Options::hash)
      .def_rw("threshold", &Options::threshold)
      .def(
          "set_scope",
          [](Options& o, const std::string& name) { o.scope = dedup::parse_scope(name); },
          nb::arg("name"))
      .def(
          "set_groups",
          [](Options& o, const std::string& name) { o.groups = dedup::parse_group_kind(name); },
          nb::arg("name"))
      .def(
          "set_keep",
          [](Options& o, const std::string& name) {
            o.policy.keep = dedup::parse_keep_policy(name);
          },
          nb::arg("name"))
      .def(
          "set_on_leak",
          [](Options& o, const std::string& name) {
            o.policy.on_leak = dedup::parse_leak_action(name);
          },
          nb::arg("name"))
      .def("set_training_first", [](Options& o) { o.policy.order = dedup::kTrainingFirst; })
      .def(
          "set_on_conflict",
          [](Options& o, const std::string& name) {
            o.policy.on_conflict = dedup::parse_conflict_action(name);
          },
          nb::arg("name"))
      .def(
          "set_mode",
          [](Options& o, const std::string& name) {
            o.policy.mode = dedup::parse_selection_mode(name);
          },
          nb::arg("name"));
}

}  // namespace

void bind_dedup(nb::module_& core) {
  bind_dedup_options(core);
  nb::class_<Result>(core, "Deduplicated")
      .def_ro("removed", &Result::removed)
      .def_ro("kept", &Result::kept)
      .def_ro("moved", &Result::moved)
      .def_ro("conflicts", &Result::conflicts)
      .def_ro("chains", &Result::chains)
      .def_ro("low_quality", &Result::low_quality)
      .def("groups", &groups_of)
      .def("leaks", &leaks_of);
  core.def(
      "dedup",
      [](const std::filesystem::path& cache, const std::string& name, const Options& options,
         nb::object progress) {
        Listener listener(std::move(progress));
        return listener.wait_for([&] { return deduplicate(cache, name, options, listener); });
      },
      nb::arg("cache"), nb::arg("name"), nb::arg("options"), nb::arg("progress").none());
}

}  // namespace winnow::python
