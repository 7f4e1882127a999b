#pragma once

#include <nanobind/nanobind.h>

namespace winnow::python {

// Each function adds classes and functions to the Python module winnow._core.
void bind_errors(nanobind::module_& core);
void bind_selection(nanobind::module_& core);
void bind_fingerprints(nanobind::module_& core);
void bind_batch(nanobind::module_& core);
void bind_cache(nanobind::module_& core);
void bind_group(nanobind::module_& core);
void bind_placed_cache(nanobind::module_& core);
void bind_loader(nanobind::module_& core);
void bind_loading(nanobind::module_& core);
void bind_ingest(nanobind::module_& core);
void bind_items(nanobind::module_& core);
void bind_verbs(nanobind::module_& core);
// Adds classes and functions to the Python module winnow._net.
void bind_predict(nanobind::module_& net);

}  // namespace winnow::python
