#include "dedup/lists/list.h"

#include <utility>

#include "common/csv.h"
#include "common/json.h"
#include "common/utf8.h"

namespace winnow::dedup {
namespace {

std::string csv_value(const Json& value) {
  if (value.is_string()) return csv_field(from_utf8(value.text()));
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const Json& element : value) text += (text.empty() ? "" : " ") + element.dump();
  return text;
}

}  // namespace

List::List(std::vector<std::string> names, ListForm form, const TextSink& out)
    : names_(std::move(names)), form_(form), out_(out) {
  if (form_ == ListForm::kJsonLines) return;
  std::string header;
  for (const std::string& name : names_) header += (header.empty() ? "" : ",") + name;
  out_(header + '\n');
}

void List::put(const std::vector<Json>& values) {
  std::string line;
  if (form_ == ListForm::kJsonLines) {
    Json object = Json::object();
    for (std::size_t i = 0; i < names_.size(); ++i) object[names_[i]] = values[i];
    line = object.dump();
  } else {
    for (const Json& value : values) {
      if (&value != &values.front()) line += ',';
      line += csv_value(value);
    }
  }
  out_(line + '\n');
}

}  // namespace winnow::dedup
