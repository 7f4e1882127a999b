#include "dedup/table/fingerprints.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "python/core/arrays.h"
#include "python/core/bind.h"

namespace winnow::python {
namespace nb = nanobind;

namespace {

using dedup::Fingerprints;

const Fingerprints& table_of(nb::handle self) { return *nb::inst_ptr<Fingerprints>(self); }

template <auto Column>
nb::object offsets(nb::handle self) {
  return column_view((table_of(self).*Column).offsets, self);
}
template <auto Column>
nb::object values(nb::handle self) {
  return column_view((table_of(self).*Column).values, self);
}

template <auto Column>
nb::object hashes(nb::handle self) {
  const std::vector<Hash128>& column = table_of(self).*Column;
  const std::array<std::size_t, 2> shape{column.size(), sizeof(Hash128)};
  return nb::cast(nb::ndarray<nb::numpy, const std::uint8_t>(column.data(), 2, shape.data(), self));
}

nb::object codes(nb::handle self, const std::string& hash) {
  const dedup::CodeColumn* column = table_of(self).find_codes(hash);
  if (column == nullptr) {
    throw UsageError("there are no codes of " + hash +
                     " in these fingerprints; their attribute hashes lists those that they hold");
  }
  const std::array<std::size_t, 2> shape{table_of(self).size(), column->words_per_code()};
  return nb::cast(
      nb::ndarray<nb::numpy, const std::uint64_t>(column->words.data(), 2, shape.data(), self));
}

std::string group(const Fingerprints& table, std::size_t row) {
  if (row >= table.group_keys.size()) {
    throw nb::index_error("there is no such row, or group keys were not asked for");
  }
  const std::span<const char> key = table.group_keys[row];
  return {key.data(), key.size()};
}

std::vector<std::string> hash_names(const Fingerprints& table) {
  std::vector<std::string> names;
  for (const dedup::CodeColumn& column : table.codes) names.push_back(column.hash);
  return names;
}

}  // namespace

void bind_fingerprints(nb::module_& core) {
  nb::class_<Fingerprints>(core, "Fingerprints")
      .def("__len__", &Fingerprints::size)
      .def_prop_ro("ids", &column_property<&Fingerprints::ids>)
      .def_prop_ro("splits", [](nb::handle self) { return enum_view(table_of(self).splits, self); })
      .def_prop_ro("label_offsets", &offsets<&Fingerprints::labels>)
      .def_prop_ro("label_values", &values<&Fingerprints::labels>)
      .def_prop_ro("widths_px", &column_property<&Fingerprints::widths_px>)
      .def_prop_ro("heights_px", &column_property<&Fingerprints::heights_px>)
      .def_prop_ro("file_bytes", &column_property<&Fingerprints::file_bytes>)
      .def_prop_ro("file_hashes", &hashes<&Fingerprints::file_hashes>)
      .def_prop_ro("pixel_hashes", &hashes<&Fingerprints::pixel_hashes>)
      .def_prop_ro("sharpness", &column_property<&Fingerprints::sharpness>)
      .def_prop_ro("quality", &column_property<&Fingerprints::quality>)
      .def_prop_ro("hashes", &hash_names)
      .def("codes", &codes, nb::arg("hash"))
      .def("group", &group, nb::arg("row"));
}

}  // namespace winnow::python
