#include "common/error.h"
#include "train/plan/run_plan.h"

namespace winnow::train {
namespace {

using Facts = std::map<std::string, std::string>;

// Name of the kind of sums, by plan version: in version 1, --reproducible had fewer bits.
std::string name_of_sums(Sums sums, int version) {
  if (sums != Sums::kWholeNumbers) return "f32";  // config.json determines the type of messages
  return version < 2 ? "32-bit whole numbers" : "64-bit whole numbers";
}

Facts facts_of(const Numerics& n) {
  Facts facts{{"backend", n.backend},
              {"build", n.build},
              {"instruction_set", n.instruction_set},
              {"lane_threads", std::to_string(n.lane_threads)},
              {"library", n.library}};
  for (const auto& [layer, kernel] : n.kernels) facts["kernel of " + layer] = kernel;
  return facts;
}

Facts facts_of(const Layout& layout) {
  std::string lanes;
  for (const RankLayout& rank : layout.ranks) {
    lanes += (lanes.empty() ? "" : " ") + std::to_string(rank.lanes.size());
  }
  std::string stages;
  for (const int ranks : layout.stage_ranks) {
    stages += (stages.empty() ? "" : ",") + std::to_string(ranks);
  }
  std::string smaller;
  for (const SizedSchedule& sized : layout.smaller) {
    smaller += (smaller.empty() ? "" : ", ") + std::to_string(sized.elements) + " " +
               sized.schedule + " " + std::to_string(sized.options.colors) + " " +
               std::to_string(sized.options.segment_elements);
  }
  return {{"bucket_bytes", std::to_string(layout.bucket_bytes)},
          {"colors", std::to_string(layout.schedule_options.colors)},
          {"lanes", lanes},
          {"schedule", layout.schedule},
          {"segment_elements", std::to_string(layout.schedule_options.segment_elements)},
          {"smaller all-reduces", smaller},
          {"stage_ranks", stages},
          {"transfers", layout.transfers}};
}

// Text such as "lane_threads 1, now 2; ...".
std::string differences(const Facts& stored, const Facts& now) {
  constexpr int kNamed = 6;
  const auto value = [](const Facts& facts, const std::string& key) {
    const auto found = facts.find(key);
    return found == facts.end() || found->second.empty() ? std::string("none") : found->second;
  };
  Facts all = stored;
  all.insert(now.begin(), now.end());
  std::string text;
  int count = 0;
  for (const auto& [key, unused] : all) {
    if (value(stored, key) == value(now, key) || ++count > kNamed) continue;
    text +=
        (text.empty() ? "" : "; ") + key + " " + value(stored, key) + ", now " + value(now, key);
  }
  if (count > kNamed) text += "; and " + std::to_string(count - kNamed) + " more";
  return text;
}

// For version 1: without entries that it lacks.
Numerics said_by(int version, Numerics numerics) {
  if (version < 2) numerics.kernels.clear();
  return numerics;
}
Layout said_by(int version, Layout layout) {
  if (version < 2) layout.transfers.clear();
  return layout;
}

}  // namespace

PlanChange compare_plans(const RunPlan& stored, const RunPlan& now, bool replan) {
  Facts before = facts_of(stored.numerics);
  Facts after = facts_of(said_by(stored.version, now.numerics));
  // config.json determines precision and whether a run is reproducible, so both plans agree on
  // that.
  const Sums sums = now.numerics.sums;
  before["sums"] = name_of_sums(sums, stored.version);
  after["sums"] = name_of_sums(sums, now.version);
  const std::string numerics = differences(before, after);
  if (!numerics.empty()) {
    if (!replan) {
      throw UsageError("the run would resume with different arithmetic (" + numerics +
                       "); start it as before, or accept differences in the last bits of the "
                       "weights with --replan");
    }
    return {true, "new plan (" + numerics +
                      "): the weights will differ in their last bits from an uninterrupted run"};
  }
  const std::string layout =
      differences(facts_of(stored.layout), facts_of(said_by(stored.version, now.layout)));
  if (layout.empty()) return {};
  if (sums == Sums::kWholeNumbers) {
    return {true, "the layout changes (" + layout + "), the weights do not"};
  }
  return {true, "the layout changes (" + layout +
                    "): the weights will differ in their last bits from an uninterrupted run (runs "
                    "with --reproducible are not affected)"};
}

}  // namespace winnow::train
