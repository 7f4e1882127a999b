#include "dedup/decisions/settings.h"

#include <array>
#include <charconv>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "common/json.h"
#include "common/json_reader.h"
#include "common/utf8.h"
#include "dedup/review/decided.h"

namespace winnow::dedup {
namespace {

// The search settings that both verbs share. Names are in alphabetical order.
Json of_search(const std::string& hash, int threshold, std::optional<std::uint32_t> hash_version) {
  Json settings{{"hash", hash}, {"threshold", hash == kExact ? 0 : threshold}};
  if (hash_version) settings["hash_version"] = *hash_version;
  return settings;
}

void add_choice(const ChosenBy& chosen_by, Json& settings) {
  if (!chosen_by.demand.empty()) settings["chosen_by"] = chosen_by.demand;
  if (chosen_by.hash) settings["hash_chosen"] = true;
}

void add_matching(const Matching& matching, Json& settings) {
  if (matching.least_quality) settings["least_quality"] = *matching.least_quality;
  if (matching.verified) settings["verified"] = *matching.verified;
  if (!matching.features.empty()) settings["features"] = matching.features;
}

// Review decisions; nothing without reviews.
void add_reviews(const std::shared_ptr<const Decided>& decided, Json& settings) {
  if (!decided) return;
  for (const Decided::Source& review : decided->reviews) {
    settings["review"].push_back({{"file", to_utf8(review.file)},
                                  {"digest", to_hex(review.digest)},
                                  {"judgements", review.judgements}});
  }
}

void add_precedence(const Policy& policy, Json& settings) {
  if (!policy.precedence) return;
  for (const auto& glob : policy.precedence->prefer) {
    settings["prefer"].push_back(to_utf8(glob.text));
  }
  for (const auto& glob : policy.precedence->protect) {
    settings["protect"].push_back(to_utf8(glob.text));
  }
}

// The elements of the list of that name; empty if there is none.
const Json::Array& elements(const Json& json, std::string_view name) {
  static const Json::Array kNone;
  const Json* found = json.find(name);
  return found != nullptr && found->is_array() ? found->elements() : kNone;
}

// nullopt for damaged settings: they are only shown as text, so that is no error.
std::optional<JsonReader> read_settings(const std::string& settings) {
  try {
    return JsonReader(settings, {"what a selection was decided by"});
  } catch (const FormatError&) {
    return std::nullopt;
  }
}

}  // namespace

std::string settings_of(const Options& options, std::optional<std::uint32_t> hash_version) {
  const Policy& policy = options.policy;
  std::string order;
  for (const Split split : policy.order) {
    order += (order.empty() ? "" : ",") + std::string(split_name(split));
  }
  Json settings = of_search(options.hash, options.threshold, hash_version);
  settings["scope"] = scope_name(options.scope);
  settings["groups"] = group_kind_name(group_kind(options));
  settings["keep"] = keep_policy_name(policy.keep);
  settings["on_leak"] = leak_action_name(policy.on_leak);
  settings["split_order"] = order;
  settings["on_conflict"] = conflict_action_name(policy.on_conflict);
  settings["mode"] = selection_mode_name(policy.mode);
  add_choice(options.chosen_by, settings);
  add_matching(options.matching, settings);
  for (const Split split : {Split::kVal, Split::kTest}) {
    if (policy.thin[static_cast<std::size_t>(split)]) settings["thin"].push_back(split_name(split));
  }
  if (!options.policy.drop_issues.empty())
    settings["drop_issues"] = names_of(options.policy.drop_issues);
  add_reviews(options.decided, settings);
  add_precedence(policy, settings);
  return sorted(std::move(settings)).dump();
}

std::string settings_of(const SplitOptions& options, std::optional<std::uint32_t> hash_version,
                        FoldOf fold) {
  Json settings = of_search(options.hash, options.threshold, hash_version);
  settings["verb"] = "split";
  add_choice(options.chosen_by, settings);
  settings["seed"] = options.dealing.seed;
  settings["group_keys"] = options.dealing.group_keys;
  settings["stay"] = options.dealing.stay;
  settings["of"] = Json::array();
  for (std::size_t split = 0; split < options.of.size(); ++split) {
    const std::string name(split_name(static_cast<Split>(split)));
    if (split > 0) settings["shares"][name] = options.shares[split];
    if (options.of[split]) settings["of"].push_back(name);
  }
  if (fold.folds > 0) {
    settings["fold"] = fold.fold;
    settings["folds"] = fold.folds;
  }
  add_matching(options.matching, settings);
  add_reviews(options.decided, settings);
  return sorted(std::move(settings)).dump();
}

std::string with_fold(const std::string& settings, FoldOf fold) {
  const std::optional<JsonReader> reader = read_settings(settings);
  Json json = reader && reader->json().is_object() ? reader->json() : Json::object();
  json["fold"] = fold.fold;
  json["folds"] = fold.folds;
  return json.dump();
}

bool same_but_for_choice(const std::string& a, const std::string& b) {
  std::optional<JsonReader> first = read_settings(a);
  std::optional<JsonReader> second = read_settings(b);
  if (!first || !second) return a == b;
  Json json_a = first->json();
  Json json_b = second->json();
  if (!json_a.is_object() || !json_b.is_object() || !json_a.contains("chosen_by")) return a == b;
  // An unspecified kind of groups follows from what was compared (group_kind()).
  std::vector<std::string> chosen{"threshold", "verified", "groups"};
  if (json_a.contains("hash_chosen")) chosen.insert(chosen.end(), {"hash", "hash_version"});
  for (const std::string& name : chosen) {
    json_a.erase(name);
    json_b.erase(name);
  }
  return json_a == json_b;
}

std::string in_digits(double probability) {
  const double doubt = 1 - probability;
  const int digits =
      doubt > 0 && doubt < 1e-3 ? static_cast<int>(std::ceil(-std::log10(doubt))) : 4;
  std::array<char, 32> text = {};
  const auto written = std::to_chars(text.data(), text.data() + text.size(), probability,
                                     std::chars_format::general, digits);
  return {text.data(), written.ptr};
}

std::string settings_in_words(const std::string& settings) {
  const std::optional<JsonReader> reader = read_settings(settings);
  if (!reader || !reader->json().is_object()) return {};
  const Json& json = reader->json();
  const auto text = [&](const char* name) {
    const Json* found = json.find(name);
    if (found == nullptr) return std::string();
    return found->is_string() ? found->text() : found->dump();
  };
  const auto list = [&](const char* name) {
    std::string names;
    for (const Json& element : elements(json, name)) {
      if (element.is_string()) names += (names.empty() ? "" : ", ") + element.text();
    }
    return names;
  };
  const std::string hash = text("hash");
  std::string words;
  const auto add = [&](const char* before, const std::string& value, const char* usual = "") {
    if (value.empty() || value == usual) return;
    words += (words.empty() ? "" : ", ") + (before + value);
  };
  if (!text("folds").empty()) add("val is fold ", text("fold") + " of " + text("folds"));
  if (text("verb") == "split") add("winnow split of ", list("of"));
  add("", hash == kExact ? "equal files and pixels" : hash);
  if (const std::string features = text("features"); !features.empty()) {
    words += " of features " + features + " within " + text("threshold") + " thousandths of 1";
  } else if (hash != kExact && !hash.empty()) {
    words += " within " + text("threshold") + " bits";
  }
  if (!text("chosen_by").empty()) words += " (chosen by " + text("chosen_by") + ")";
  add("quality from ", text("least_quality"));
  if (const Json* least = json.find("verified"); least != nullptr && least->is_number()) {
    add("verified to a probability of ", in_digits(least->real()));
  }
  if (text("group_keys") == "true") add("", "group keys");
  add("seed ", text("seed"));
  add("groups are ", text("groups"));
  add("keeps ", text("keep"));
  add("scope ", text("scope"), "all");
  add("shared pictures: ", text("on_leak"));
  add("splits in the order ", text("split_order"));
  add("differing labels: ", text("on_conflict"), "stay");
  add("mode ", text("mode"), "keep");
  add("thins ", list("thin"));
  add("drops ", list("drop_issues"));
  add("prefers ", list("prefer"));
  add("protects ", list("protect"));
  for (const Json& review : elements(json, "review")) {
    const Json* judgements = review.find("judgements");
    const Json* file = review.find("file");
    if (judgements == nullptr || file == nullptr || !file->is_string()) continue;
    add("", judgements->dump() + " judgements of " + file->text());
  }
  return words;
}

}  // namespace winnow::dedup
