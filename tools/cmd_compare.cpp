#include <filesystem>
#include <memory>

#include "app/compare/compare.h"
#include "app/experiment/compare.h"
#include "common/json.h"
#include "tools/command.h"
#include "tools/flags/flags.h"
#include "tools/numbers.h"
#include "tools/run_flags.h"

namespace winnow::tools {

Command add_compare(Verb program) {
  auto o = std::make_shared<CompareRequest>();
  const Verb verb = program.add_verb(
      "compare", "Compare runs on the same images: paired tests, and what differs");
  verb.add_option("runs", o->runs,
                  "Run directories made by winnow train, two or more, or those of winnow train "
                  "--folds; the first is the one that the others are compared with")
      .required();
  verb.add_option("--cache", o->eval.data.cache,
                  "Cache to evaluate on (default: that which the first run was evaluated on)");
  verb.add_option(
      "--split", o->eval.data.split,
      "Split to compare on: train, val, test, or holdout, the images that the runs held out with "
      "--holdout (default: test, else val, else holdout). Make choices on val or holdout: accuracy "
      "on test is too high for a run that was chosen on test");
  verb.add_option("--margin", o->margin_points,
                  "Largest accuracy loss, in points, that still counts as no loss; choose it "
                  "before you look. Without it no verdict is given")
      .check(real_in(1e-6, 100.0))
      .type_name("POINTS");
  add_checkpoint_flags(verb, o->eval.checkpoint);
  verb.add_option("--tta", o->eval.data.tta,
                  "Test-time augmentation, as for winnow eval; the same for all runs");
  verb.add_flag("--allow-unlabelled", o->eval.data.allow_unlabelled,
                "For runs with --loss bce or focal: an image without labels counts as an image of "
                "no class, even if a run was trained without this flag; no run predicts it right");
  verb.add_option("--threads", o->threads, "Number of CPU cores; 0: this process's share")
      .check(cores())
      .show_default();
  verb.add_option("--report", o->report,
                  "Write a page here, an HTML file: figures, curves, settings, and the images that "
                  "one run predicts right and another wrong");
  verb.add_flag("--json", o->json, "Print one JSON object on stdout");
  verb.footer(
      R"(Runs whose settings differ only in the seed form one recipe. Recipes are paired by seed, and their
difference has Student's t interval. For two single runs, McNemar's test compares these two nets only.
Folders of folds are paired fold by fold, on the images that each fold left out. Folds share training
images, so Student's interval would be too narrow: the corrected resampled t-test is used (Nadeau and
Bengio 2003). p-values of several recipes are corrected by Holm's method.

Examples:
  winnow compare plain deduplicated --report compared.html
  winnow compare plain-1 plain-2 plain-3 lars-1 lars-2 lars-3 --margin 0.5
  winnow compare sgd lars lamb --split val --json
  winnow compare tuning/runs/*/run --split holdout --report compared.html
  winnow compare sgd-folds lars-folds --margin 1 --report compared.html)");
  return {verb, false, [o](Session& session) { run_compare(*o, session); }, /*stops=*/true};
}

}  // namespace winnow::tools
