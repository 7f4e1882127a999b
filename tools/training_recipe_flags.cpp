#include "tools/training_recipe_flags.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <span>
#include <vector>

#include "app/page/html.h"
#include "app/train/net_list.h"
#include "app/train/training_recipes.h"
#include "common/comm/agreement.h"
#include "common/error.h"
#include "common/file.h"
#include "pipeline/load/dataset.h"
#include "pipeline/store/cache.h"
#include "train/optim/learning_rate.h"
#include "train/optim/optimizer.h"
#include "train/optim/recipe_options.h"
#include "train/run/options.h"
#include "train/run/record/chosen_net.h"
#include "train/run/record/setup.h"

namespace winnow::tools {
namespace {

namespace fs = std::filesystem;
using Settings = std::vector<RecipeSetting>;

constexpr const char* kOwn = "own";
constexpr const char* kNone = "none";

// 0: not given, or not above 0, which the flag's own check reports.
double number_given(Verb train, const std::string& flag) {
  const double number = train.flag(flag).number();
  return std::isfinite(number) && number > 0 ? number : 0;
}

std::string text_given(Verb train, const std::string& flag, const std::string& otherwise) {
  if (!train.has(flag)) return otherwise;  // a verb that starts no run
  const Flag option = train.flag(flag);
  return option.given() ? option.texts().front() : otherwise;
}

// Whether `flag` is an option of other rows, but not of this one.
bool is_of_another(const std::string& flag, const std::vector<train::Option>& all,
                   std::span<const train::Option> of_row) {
  const auto is_it = [&](const train::Option& option) {
    const std::string name = train::flag_of(option);
    return flag == name || flag == "--no-" + name.substr(2);
  };
  return std::ranges::any_of(all, is_it) && std::ranges::none_of(of_row, is_it);
}

train::NetChoice net_of(Verb train) {
  const train::NetChoice net{.name = text_given(train, "--net", train::TrainOptions().net.name)};
  return train::net_of_run(net, text_given(train, "--out", ""),
                           text_given(train, "--resume", "no") == "auto");
}

const RecipeSetting& setting_of(const Settings& settings, std::string_view flag) {
  return *std::ranges::find(settings, flag, &RecipeSetting::flag);
}

// Gives `train` the settings that the user did not give. Leaves out options of an optimiser or a
// schedule if another one was given, and a last rate if this schedule has none.
void give(Verb train, const Settings& settings) {
  const auto chosen = [&](const char* flag) {
    return text_given(train, flag, setting_of(settings, flag).values.front());
  };
  const train::Optimizer& optimizer = train::find_optimizer(chosen("--optimizer"));
  const train::LrSchedule& schedule = train::find_lr_schedule(chosen("--sched"));
  for (const RecipeSetting& setting : settings) {
    const Flag option = train.flag(setting.flag);
    const bool ends = schedule.has_end || number_given(train, "--cooldown-epochs") > 0;
    if (setting.flag == "--lr-end" && !ends) continue;
    if (option.given() ||
        is_of_another(setting.flag, train::optimizer_options(), optimizer.options) ||
        is_of_another(setting.flag, train::lr_schedule_options(), schedule.options)) {
      continue;
    }
    if (setting.values.empty()) {
      option.give({setting.flag.starts_with("--no-") ? "false" : "true"});
    } else {
      option.give(setting.values);
    }
  }
}

// A recipe that was named. Its batch and epochs are its own.
TakenRecipe take_named(Verb train, const std::string& name) {
  const RecipeTask task{.batch = number_given(train, "--batch-size"),
                        .epochs = number_given(train, "--epochs"),
                        .net = text_given(train, "--net", "")};
  give(train, settings_of(find_training_recipe(name), task));
  return {.own = {}, .sentence = "recipe " + name};
}

// --image-size; 0: not given.
int image_size_of(Verb train) {
  return static_cast<int>(
      std::min<double>(number_given(train, "--image-size"), train::kMostSidePx));
}

// The shorter side of the training images; 0: unknown, or the cache cannot be read.
int side_px_of(Verb train) {
  if (const int given = image_size_of(train); given > 0) return given;
  const fs::path cache = text_given(train, "cache", "");
  if (cache.empty()) return 0;
  try {
    const pipeline::DatasetInfo info =
        describe(pipeline::Cache::open(cache, pipeline::OpenOptions::without_shards()));
    return std::min(info.height_px, info.width_px);
  } catch (const Error&) {
    return 0;  // reported when it is trained on
  }
}

// The name of the net's default recipe; for a resumed run, of the recipe it began with. Empty:
// none, or net or run are unknown, which is reported when training begins.
std::string name_of_own(Verb train) {
  try {
    const fs::path config = fs::path(text_given(train, "--out", "")) / "config.json";
    if (text_given(train, "--resume", "no") == "auto" && fs::exists(config)) {
      return train::parse_config(read_text(config), config.string()).own_recipe;
    }
    const std::string loss = text_given(train, "--loss", train::LossOptions().name);
    if (!train::find_loss(loss).reads_labels()) return "barlow-twins";
    if (train.flag("--init-from").given()) return "finetune";
    return std::string(own_recipe(net_of(train), side_px_of(train)).name);
  } catch (const Error&) {
    return {};
  }
}

// The net's default recipe, by its name. Batch and epochs are the program's defaults if they are
// not given.
TakenRecipe take_own(Verb train, const std::string& name) {
  if (name.empty()) return {};
  const train::TrainOptions initial;
  RecipeTask task{.batch = number_given(train, "--batch-size"),
                  .epochs = number_given(train, "--epochs")};
  if (task.batch == 0) task.batch = static_cast<double>(initial.batch.batch);
  if (task.epochs == 0) task.epochs = initial.recipe.epochs;
  Settings settings = settings_of(find_training_recipe(name), task);
  std::erase_if(settings, [](const RecipeSetting& setting) {
    return setting.flag == "--batch-size" || setting.flag == "--epochs";
  });
  const std::string optimizer = setting_of(settings, "--optimizer").values.front();
  if (const std::string given = text_given(train, "--optimizer", optimizer); given != optimizer) {
    const auto known = train::optimizers();
    if (std::ranges::find(known, given, &train::Optimizer::name) == known.end()) return {};
    return {.own = {},
            .sentence = fmt::format("recipe: the plain defaults with {}; {}, which goes with this "
                                    "net, is for {}",
                                    given, name, optimizer)};
  }
  give(train, settings);
  return {.own = name,
          .sentence = fmt::format(
              "recipe {}, {}, for batches of {:g}, {:g} epochs (or --recipe none)", name,
              name == "barlow-twins" ? "this loss's" : "this net's", task.batch, task.epochs)};
}

// The stages that were asked for, if any.
train::LocalOptions local_of(Verb train) {
  train::LocalOptions local;
  if (!train.has("--local")) return local;
  local.updates = text_given(train, "--local", local.updates);
  local.stages = text_given(train, "--stages", local.stages);
  local.balance = text_given(train, "--balance", local.balance);
  local.head = text_given(train, "--local-head", local.head);
  return local;
}

// Where the net can be cut, with the options that were given.
std::string borders_of(Verb train, const train::NetChoice& net, int side_px) {
  train::LossOptions loss;
  loss.name = text_given(train, "--loss", loss.name);
  return net_borders(net, side_px, local_of(train), loss);
}

std::string as_comments(const std::string& text) {
  std::string lines = "# ";
  for (const char c : text) lines += c == '\n' ? std::string("\n# ") : std::string(1, c);
  return lines + "\n";
}

bool takes_own(Verb train) { return text_given(train, "--recipe", kOwn) == kOwn; }

// An equivalent command of `train`, with its recipe written out.
std::string shown(Verb train) {
  const auto or_else = [&](const std::string& name, const char* word) {
    const Flag option = train.flag(name);
    return option.given() ? shell_word(option.texts().front()) : std::string(word);
  };
  std::string text = "winnow train " + or_else("cache", "CACHE") + " --out " +
                     or_else("--out", "RUN") + " \\\n  --recipe " + kNone;
  for (const Flag option : train.all_flags()) {
    constexpr std::array kSaid{"recipe", "show", "out"};
    const std::string name = option.long_name();
    if (!option.given() || name.empty()) continue;
    if (std::ranges::find(kSaid, name) != kSaid.end()) continue;
    const bool off = option.is_switch() && option.texts().back() == "false";
    text += " \\\n  --" + (off ? "no-" + name : name);
    if (option.is_switch()) continue;
    for (const std::string& value : option.texts()) text += " " + shell_word(value);
  }
  return text;
}

}  // namespace

void add_training_recipe_flags(Verb train, TakenRecipe& taken) {
  // Not in a group: callbacks of groups come later, and find what is added here.
  train
      .on_option<std::string>(
          "--recipe",
          [train, &taken](const std::string& name) {
            if (!train.called() || name == kNone || name == kOwn) return;
            train.take_environment();
            try {
              taken = take_named(train, name);
            } catch (const UsageError& error) {
              refuse_value("--recipe", error.what());
            }
          },
          "Flags that go together (see --help-all); flags that are given take precedence. own: the "
          "net's default recipe, for this batch and these epochs; none: the plain defaults")
      .show_default(kOwn)
      .even_if_not_given();  // also if it is not given, and for a verb that is not called
  train.on_switch(
      "--show",
      [train](bool) {
        train.take_environment();
        const train::NetChoice net = net_of(train);
        const int side_px = image_size_of(train);
        if (takes_own(train)) take_own(train, name_of_own(train));
        print_and_end(fmt::format("# {}\n# {}\n{}{}", net_list_head(), net_row(net, side_px),
                                  as_comments(borders_of(train, net, side_px)), shown(train)));
      },
      "Print the net's size and cost and the equivalent command without --recipe; train nothing");
}

void take_own_recipe(Verb train, TakenRecipe& taken, comm::Communicator& comm) {
  if (!takes_own(train)) return;
  std::string name;
  on_root(comm, [&] { name = name_of_own(train); });
  name = comm::broadcast_text(comm, name);
  on_all(comm, [&] { refusals_as_usage_errors([&] { taken = take_own(train, name); }); });
}

}  // namespace winnow::tools
