#include "dedup/table/selection.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "dedup/decisions/combine.h"
#include "dedup/decisions/settings.h"
#include "python/core/arrays.h"
#include "python/core/bind.h"

namespace winnow::python {
namespace nb = nanobind;

namespace {

using dedup::Selection;

const Selection& selection_of(nb::handle self) { return *nb::inst_ptr<Selection>(self); }

using Weights = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

Selection reweighted(const Selection& selection, const Weights& weights) {
  return dedup::with_weights(selection, std::span(weights.data(), weights.size()));
}

std::vector<std::string> rule_names() {
  std::vector<std::string> names;
  for (int rule = 0; rule < dedup::kRuleCount; ++rule) {
    names.emplace_back(dedup::rule_name(static_cast<dedup::Rule>(rule)));
  }
  return names;
}

}  // namespace

void bind_selection(nb::module_& core) {
  nb::class_<Selection>(core, "Selection")
      .def("__len__", &Selection::size)
      .def(
          "__eq__", [](const Selection& a, const Selection& b) { return a == b; },
          nb::is_operator())
      .def("copy", [](const Selection& selection) { return selection; })
      .def_rw("name", &Selection::name)
      .def_prop_ro("mode",
                   [](const Selection& s) { return std::string(selection_mode_name(s.mode)); })
      .def_ro("cache_digest", &Selection::cache_digest)
      .def_ro("settings", &Selection::settings)
      .def_prop_ro("settings_in_words",
                   [](const Selection& s) { return dedup::settings_in_words(s.settings); })
      .def_prop_ro("ids", &column_property<&Selection::ids>)
      .def_prop_ro("weights", &column_property<&Selection::weights>)
      .def_prop_ro("components", &column_property<&Selection::components>)
      .def_prop_ro("kept", &column_property<&Selection::kept>)
      .def_prop_ro("distances", &column_property<&Selection::distances>)
      .def_prop_ro("rules",
                   [](nb::handle self) { return enum_view(selection_of(self).rules, self); })
      .def_prop_ro("splits",
                   [](nb::handle self) { return enum_view(selection_of(self).splits, self); })
      .def("with_weights", &reweighted, nb::arg("weights"))
      .def("both", &dedup::both, nb::arg("other"))
      .def("either", &dedup::either, nb::arg("other"))
      .def("without", &dedup::without, nb::arg("other"));
  core.attr("rule_names") = rule_names();
}

}  // namespace winnow::python
