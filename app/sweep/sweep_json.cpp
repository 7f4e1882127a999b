#include "app/sweep/sweep_json.h"

#include <optional>
#include <utility>
#include <vector>

#include "app/experiment/sweep_verdict.h"
#include "common/json.h"
#include "common/utf8.h"

namespace winnow::app {
namespace {

Json to_json(const std::optional<PairedDifference>& difference) {
  if (!difference) return nullptr;
  Json json{{"mean", difference->mean}, {"least", nullptr}, {"most", nullptr}};
  if (const auto& interval = difference->interval) {
    json["least"] = interval->least;
    json["most"] = interval->most;
  }
  return json;
}

template <class T>
Json to_json(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json to_json(const std::vector<std::optional<double>>& values) {
  Json json = Json::array();
  for (const auto& value : values) json.push_back(to_json(value));
  return json;
}

Json to_json(const LastLook& look, const std::vector<SweepArm>& arms) {
  Json tested = Json::array();
  for (const TestedArm& arm : look.arms) {
    tested.push_back({{"arm", arms[arm.arm].name},
                      {"equal", arms[arm.arm].budget},
                      {"top1", to_json(arm.top1)},
                      {"top1_leak_free", to_json(arm.top1_leak_free)},
                      {"beside_all", to_json(arm.beside_all)}});
  }
  return {{"images", look.images},
          {"leaked", look.leaked},
          {"looks", look.looks},
          {"said", in_words(look, arms)},
          {"arms", std::move(tested)}};
}

Json utf8_of(const std::vector<std::string>& texts) {
  Json json = Json::array();
  for (const std::string& text : texts) json.push_back(to_utf8(text));
  return json;
}

Json by_class(const std::vector<ClassHits>& hits) {
  Json json = Json::array();
  for (const ClassHits& hit : hits) json.push_back(to_json(hit.share()));
  return json;
}

}  // namespace

std::string sweep_json(const SweepView& view) {
  Json classes = Json::array();
  for (std::size_t i = 0; i < view.classes.size(); ++i) {
    classes.push_back({{"class", to_utf8(view.classes[i])}, {"samples", view.class_samples[i]}});
  }
  Json arms = Json::array();
  for (std::size_t i = 0; i < view.arms.size(); ++i) {
    const SweepArm& arm = view.arms[i];
    const ArmResult& result = view.results[i];
    arms.push_back({{"arm", arm.name},
                    {"equal", arm.budget},
                    {"kept", arm.kept},
                    {"removed", arm.removed},
                    {"removed_by_class", arm.facts.removed},
                    {"bits", to_json(arm.facts.bits)},
                    {"precision", to_json(arm.facts.precision)},
                    {"leaks", arm.facts.leaks},
                    {"conflicts", arm.facts.conflicts},
                    {"epochs", arm.epochs},
                    {"images", arm.images_seen()},
                    {"seconds", to_json(result.seconds)},
                    {"control", arm.control ? Json(view.arms[*arm.control].name) : Json(nullptr)},
                    {"top1", to_json(result.top1)},
                    {"top1_by_class", by_class(result.classes)},
                    {"failures", utf8_of(result.failures)},
                    {"beside_all", to_json(result.beside_all)},
                    {"beside_control", to_json(result.beside_control)},
                    {"p_control", to_json(result.p_control)},
                    {"p_no_loss", to_json(result.p_no_loss)},
                    {"loss", loss_in_words(result)},
                    {"stopped_after", to_json(arm.stopped_after)}});
  }
  const auto best = recommend(view.arms, view.results, view.judge);
  Json recommended = nullptr;
  if (best) {
    recommended = {{"arm", view.arms[*best].name}, {"equal", view.arms[*best].budget}};
  }
  const Json json{{"schema", "winnow.sweep/1"},
                  {"margin", view.judge.margin},
                  {"held_out", view.judge.held_out_images},
                  {"recommended", std::move(recommended)},
                  {"recommendation", recommendation(view.arms, view.results, view.judge)},
                  {"notes", utf8_of(view.notes)},
                  {"classes", std::move(classes)},
                  {"arms", std::move(arms)},
                  {"test", to_json(view.test, view.arms)}};
  return json.dump();
}

}  // namespace winnow::app
