#include "train/run/record/run_directory.h"

#include <algorithm>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "common/bytes.h"
#include "common/checksum.h"
#include "common/comm/agreement.h"
#include "common/error.h"
#include "common/json_text.h"
#include "train/model/class_names.h"
#include "train/model/state_dict.h"
#include "train/run/record/config_facts.h"
#include "train/run/record/setup.h"

namespace winnow::train {
namespace {

namespace fs = std::filesystem;

// Whether it holds nothing, except perhaps an incomplete config.json whose writer was killed.
bool holds_nothing(const fs::path& directory) {
  if (!fs::exists(directory)) return true;
  if (!fs::is_directory(directory)) {
    throw UsageError(directory.string() + " is not a folder; choose another --out");
  }
  return std::ranges::all_of(fs::directory_iterator(directory), [](const auto& entry) {
    return entry.path().filename() == "config.json.tmp";
  });
}

// The id in RUN/run_id. Created if it is missing, as in runs of older versions.
std::string find_run_id(const fs::path& path) {
  if (!fs::exists(path)) {
    std::random_device random;
    const std::uint64_t id = (std::uint64_t{random()} << 32) | random();
    write_file_durably(path, to_hex(id) + "\n");
  }
  const std::string text = read_text(path);
  const std::string id = text.substr(0, text.find('\n'));
  if (id.size() != 16 || id.find_first_not_of("0123456789abcdef") != std::string::npos) {
    throw FormatError(path.string() + " is damaged; remove this file, and the run gets a new id");
  }
  return id;
}

constexpr std::string_view kClasses = "data.classes";

// Removes the entries of a list of classes from `facts`, and returns them in order.
std::vector<std::string> take_classes(std::map<std::string, std::string>& facts) {
  const auto is_class = [](const auto& fact) {
    return fact.first.starts_with(std::string(kClasses) + ".");
  };
  std::map<std::size_t, std::string> by_place;
  for (const auto& fact : facts) {
    if (is_class(fact)) by_place[std::stoul(fact.first.substr(kClasses.size() + 1))] = fact.second;
  }
  std::erase_if(facts, is_class);
  std::vector<std::string> names;
  for (auto& [place, name] : by_place) names.push_back(std::move(name));
  return names;
}

// How the classes differ; empty if they do not, or if those of an older version are not known.
std::string other_classes(const std::vector<std::string>& before,
                          const std::vector<std::string>& now) {
  if (before.empty() || before == now) return {};
  const std::string other = first_other_class(before, "the run", now, "the cache");
  return std::string(kClasses) + " (" + (other.empty() ? "in another order" : other) + ")";
}

// Names of the entries that differ. The name under which a recipe was chosen does not count, only
// its content.
std::set<std::string> differences(const std::string& stored, const std::string& wanted) {
  auto before = config_facts(stored);
  auto now = config_facts(wanted);
  for (auto* facts : {&before, &now}) facts->erase("own_recipe");
  const std::vector<std::string> classes = take_classes(before);
  std::set<std::string> names;
  if (const std::string other = other_classes(classes, take_classes(now)); !other.empty()) {
    names.insert(other);
  }
  for (const auto& [name, value] : before) {
    if (!now.contains(name) || now.at(name) != value) names.insert(name);
  }
  now.erase("data.digest_by_names");  // redundant, and missing in older runs
  for (const auto& [name, value] : now) {
    if (!before.contains(name)) names.insert(name);
  }
  return names;
}

// Throws UsageError if a run that began with `stored` cannot be resumed with `wanted`.
void check_same_run(const fs::path& path, const std::string& stored, const std::string& wanted) {
  if (stored == wanted) return;
  std::string text;
  try {
    const std::set<std::string> names = differences(stored, wanted);
    if (names.empty() && digest_line_matches(stored)) return;
    for (const std::string& name : names) text += (text.empty() ? " in " : ", ") + name;
    text += " (see its config.json)";
  } catch (const std::exception&) {  // the stored configuration is damaged
    text = " (its config.json)";
  }
  throw UsageError("the options differ from those the run in " + path.string() +
                   " was started with" + text + "; give the same options, or choose another --out");
}

[[noreturn]] void throw_holds_run(const fs::path& path) {
  throw UsageError(
      path.string() +
      " already contains a run; resume it with --resume auto, or choose another --out");
}

}  // namespace

std::optional<RunPlan> RunDirectory::find(const std::string& config, bool resume, bool replan) {
  const fs::path config_path = path_ / "config.json";
  on_root(comm_, [&] {
    if (!fs::exists(config_path)) {
      if (!holds_nothing(path_)) {
        throw UsageError(path_.string() +
                         " is not empty and contains no run; choose another --out");
      }
      return;
    }
    lock_ = lock_directory(path_);
    if (!resume) throw_holds_run(path_);
    check_same_run(path_, read_text(config_path), config);
    run_id_ = find_run_id(path_ / "run_id");
    if (!fs::exists(plan_path())) {
      if (replan || !newest_checkpoint(checkpoints())) return;
      throw UsageError(
          plan_path().string() +
          " is missing, so the run cannot resume bit for bit; make a new plan with --replan");
    }
    stored_plan_ = read_text(plan_path());
    try {
      parse_plan(stored_plan_, plan_path().string());
    } catch (const FormatError& error) {
      if (!replan) throw;
      note_(error.what());
      stored_plan_.clear();
    }
  });
  goes_on_ = comm::broadcast(comm_, static_cast<int>(static_cast<bool>(lock_)), 0) != 0;
  stored_plan_ = comm::broadcast_text(comm_, stored_plan_);
  if (stored_plan_.empty()) return std::nullopt;
  return parse_plan(stored_plan_, plan_path().string());
}

void RunDirectory::begin(const std::string& config) {
  on_root(comm_, [&] {
    if (lock_) return;  // the run is resumed
    make_directories(path_);
    lock_ = lock_directory(path_);
    const fs::path config_path = path_ / "config.json";
    if (fs::exists(config_path)) throw_holds_run(path_);
    write_file_durably(config_path, config);
    run_id_ = find_run_id(path_ / "run_id");
  });
}

void RunDirectory::use_plan(RunPlan plan, bool replan) {
  std::string text;
  on_root(comm_, [&] {
    if (!stored_plan_.empty()) {
      const RunPlan stored = parse_plan(stored_plan_, plan_path().string());
      const PlanChange change = compare_plans(stored, plan, replan);
      plan.supersedes = stored.supersedes;
      if (!change.changed) {
        text = stored_plan_;
        return;
      }
      note_(change.note);
      plan.supersedes.push_back(digest_of_plan(stored_plan_));
    }
    text = to_text(plan);
    write_file_durably(plan_path(), text);
  });
  text = comm::broadcast_text(comm_, text);
  plan_ = parse_plan(text, plan_path().string());
  plan_digest_ = digest_of_plan(text);
}

RunDirectory::Found RunDirectory::find_newest_checkpoint(const BatchLayout& batches, bool replan) {
  remove_unfinished_checkpoints(checkpoints());
  std::vector<std::string> skipped;
  const auto newest = newest_checkpoint(checkpoints(), &skipped);
  for (const std::string& reason : skipped) note_("skipped: " + reason);
  if (!newest) return {};
  Found found{.path = *newest, .checkpoint = load_checkpoint(*newest), .state = {}};
  const std::string where = (*newest / "state.json").string();
  found.state = parse_state(found.checkpoint.state, where);
  if (found.state.step != found.checkpoint.step) {
    throw FormatError(where + " belongs to step " + std::to_string(found.state.step) +
                      ", but its checkpoint to step " + std::to_string(found.checkpoint.step) +
                      "; remove this checkpoint");
  }
  check_state(found.state, batches, where);
  const std::string& plan = found.state.writer.plan;
  const bool known =
      plan == plan_digest_ || std::ranges::find(plan_.supersedes, plan) != plan_.supersedes.end();
  if (!known && !replan) {
    throw UsageError(newest->string() + " was made with another plan than " + plan_path().string() +
                     "; restore that plan, or resume with --replan");
  }
  return found;
}

// Removes what the run no longer needs besides `found`.
void RunDirectory::settle_on(Found& found, int keep) {
  std::optional<BestEvaluation>& best = found.state.best;
  const auto step = best ? std::optional(best->step) : std::nullopt;
  const bool is_kept = mark_best_checkpoint(checkpoints(), step);
  keep_newest_checkpoints(found.path, keep);
  note_("resuming from " + found.path.string());
  if (!best || is_kept) return;
  note_("the best checkpoint so far, of step " + std::to_string(best->step) +
        ", is missing; the best one is chosen from later evaluations");
  best.reset();
}

std::optional<RunState> RunDirectory::restore_newest_checkpoint(Model& held,
                                                                const NetTensors& tensors,
                                                                const BatchLayout& batches,
                                                                bool replan, int keep) {
  Found found;
  on_root(comm_, [&] { found = find_newest_checkpoint(batches, replan); });
  const bool is_there = !found.path.empty();
  if (comm::broadcast(comm_, static_cast<int>(is_there), 0) == 0) return std::nullopt;
  tensors.hand_out(held, [&](Model& part) {
    const Checkpoint& from = found.checkpoint;
    load_state_dict(part, from.model, (found.path / "model.safetensors").string());
    load_optimizer_state(part, from.optimizer, (found.path / "optimizer.safetensors").string());
    load_ema_state_dict(part, from.ema, (found.path / "ema.safetensors").string());
  });
  std::string state;
  on_root(comm_, [&] {
    settle_on(found, keep);
    state = to_text(found.state);
  });
  return parse_state(comm::broadcast_text(comm_, state), path_.string());
}

Checkpoint RunDirectory::checkpoint_of(RunState state) const {
  state.writer.plan = plan_digest_;
  return {.step = state.step, .model = {}, .optimizer = {}, .state = to_text(state)};
}

}  // namespace winnow::train
