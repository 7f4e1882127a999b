#include "train/run/record/config_facts.h"

#include "common/json.h"
#include "common/json_reader.h"

namespace winnow::train {
namespace {

// Each entry repeats the names of everything around it, so names of any length would grow without
// limit.
constexpr std::size_t kMostPathBytes = 200;

void add_facts(const std::string& name, const Json& value,
               std::map<std::string, std::string>& facts) {
  if (value.is_primitive() || value.empty() || name.size() > kMostPathBytes) {
    facts[name] = value.is_string() ? value.text() : value.dump();
    return;
  }
  const auto add = [&](const std::string& step, const Json& inner) {
    add_facts(name.empty() ? step : name + "." + step, inner, facts);
  };
  if (value.is_object()) {
    for (const auto& [step, inner] : value.members()) add(step, inner);
    return;
  }
  for (std::size_t i = 0; i < value.size(); ++i) add(std::to_string(i), value[i]);
}

}  // namespace

std::map<std::string, std::string> config_facts(const std::string& text) {
  std::map<std::string, std::string> facts;
  add_facts("", JsonReader(text, {"the configuration of a run"}).json(), facts);
  facts.erase("digest");  // says only that something differs
  return facts;
}

std::map<std::string, std::string> config_settings(const std::string& text) {
  std::map<std::string, std::string> settings = config_facts(text);
  std::erase_if(settings, [](const auto& fact) {
    return fact.first.starts_with("data.classes") || fact.first == "data.digest_by_names";
  });
  return settings;
}

}  // namespace winnow::train
