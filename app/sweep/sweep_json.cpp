#include "app/sweep/sweep_json.h"

#include <optional>
#include <utility>
#include <vector>

#include "app/experiment/figures.h"
#include "app/experiment/sweep_verdict.h"
#include "common/json.h"
#include "common/queue/job_queue.h"
#include "common/utf8.h"

namespace winnow::app {
namespace {

Json to_json(const LastLook& look, const std::vector<SweepArm>& arms) {
  Json tested = Json::array();
  for (const TestedArm& arm : look.arms) {
    tested.push_back({{"arm", arms[arm.arm].name},
                      {"equal", arms[arm.arm].budget},
                      {"top1", arm.top1},
                      {"top1_leak_free", arm.top1_leak_free},
                      {"beside_all", json_of(arm.versus_all)}});
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

Json keys_of(const std::vector<std::string>& jobs) {
  Json json = Json::array();
  for (const std::string& job : jobs) json.push_back(job_key(job));
  return json;
}

Json by_class(const std::vector<ClassHits>& hits) {
  Json json = Json::array();
  for (const ClassHits& hit : hits) json.push_back(hit.share());
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
                    {"bits", arm.facts.bits},
                    {"precision", arm.facts.precision},
                    {"leaks", arm.facts.leaks},
                    {"conflicts", arm.facts.conflicts},
                    {"epochs", arm.epochs},
                    {"images", arm.images_seen()},
                    {"seconds", result.seconds},
                    {"control", arm.control ? Json(view.arms[*arm.control].name) : Json(nullptr)},
                    {"top1", result.top1},
                    {"top1_by_class", by_class(result.classes)},
                    {"failures", utf8_of(result.failures)},
                    {"beside_all", json_of(result.versus_all)},
                    {"beside_control", json_of(result.versus_control)},
                    {"p_control", result.p_control},
                    {"p_no_loss", result.p_no_loss},
                    {"loss", loss_in_words(result)},
                    {"stopped_after", arm.stopped_after},
                    {"results", keys_of(arm.jobs)}});
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
