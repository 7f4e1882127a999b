#include "python/core/bind.h"

NB_MODULE(_core, core) {
  // Objects that a program still holds at its end are not our leak; the warning would be fifteen
  // lines.
  nanobind::set_leak_warnings(false);
  core.doc() = "What winnow's Python package is made of; use it through the package winnow.";
  winnow::python::bind_errors(core);
  winnow::python::bind_selection(core);
  winnow::python::bind_fingerprints(core);
  winnow::python::bind_batch(core);
  winnow::python::bind_cache(core);
  winnow::python::bind_group(core);
  winnow::python::bind_placed_cache(core);
  winnow::python::bind_loader(core);
  winnow::python::bind_loading(core);
  winnow::python::bind_ingest(core);
  winnow::python::bind_items(core);
  winnow::python::bind_verbs(core);
}
