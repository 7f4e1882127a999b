
#include "common/json.h"

#include "tools/reference/formats.h"

namespace winnow::tools {
namespace {

Json json_of(const ReferenceArgument& argument) {
  return {{"names", argument.names},           {"value", argument.value},
          {"choices", argument.choices},       {"range", argument.range},
          {"default", argument.default_value}, {"environment", argument.environment},
          {"group", argument.group},           {"description", argument.description},
          {"needs", argument.needs},           {"excludes", argument.excludes},
          {"required", argument.required},     {"repeated", argument.repeated}};
}

template <class Rows>
Json list_of(const Rows& rows);

Json json_of(const ReferenceVerb& verb) {
  return {{"name", joined(verb.words, " ")},
          {"description", verb.description},
          {"usage", verb.usage},
          {"positionals", list_of(verb.positionals)},
          {"options", list_of(verb.options)},
          {"notes", verb.notes},
          {"examples", verb.examples},
          {"verbs", list_of(verb.verbs)}};
}

template <class Rows>
Json list_of(const Rows& rows) {
  Json list = Json::array();
  for (const auto& row : rows) list.push_back(json_of(row));
  return list;
}

}  // namespace

std::vector<ReferenceFile> reference_as_json(const Reference& reference) {
  const Json json{{"schema", "winnow.reference/1"},
                  {"version", reference.version},
                  {"released", reference.released},
                  {"program", json_of(reference.program)}};
  return {{"winnow.json", json.dump() + "\n"}};
}

}  // namespace winnow::tools
