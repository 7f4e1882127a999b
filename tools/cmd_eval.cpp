#include <vector>

#include "app/eval/eval.h"
#include "common/json.h"
#include "pipeline/store/cache.h"
#include "tools/command.h"
#include "tools/flags/flags.h"
#include "tools/help.h"
#include "tools/numbers.h"
#include "tools/run_flags.h"
#include "train/evaluate/test_augmentation.h"

namespace winnow::tools {
namespace {

using Confusion = std::vector<std::vector<std::uint64_t>>;  // [label][prediction]

}  // namespace

Command add_eval(Verb program) {
  auto o = std::make_shared<EvalRequest>();
  const Verb verb =
      program.add_verb("eval", "Evaluate a run: accuracy with and without leaked images");
  verb.add_option("run", o->eval.run,
                  "Run directory made by winnow train, or a safetensors file with torchvision's "
                  "names")
      .required();
  verb.add_option("cache", o->caches, "Cache to evaluate on, or several").required();
  add_checkpoint_flags(verb, o->eval.checkpoint);
  verb.add_option("--head", o->eval.checkpoint.head,
                  "For a run with --local: evaluate the head of this stage, from 1, instead of the "
                  "whole net; 0: the whole net")
      .check(whole_in(0, kMostCount))
      .show_default();
  add_file_net_flags(verb, "a file", o->eval.file);
  verb.add_option("--split", o->splits,
                  "Split to evaluate: train, val, test, or holdout, the images that the run held "
                  "out with --holdout (default: test, else val, else holdout); repeatable")
      .one_each();
  verb.add_option("--selection", o->eval.data.selection,
                  "Selection that marks leaked images (default: the one of the training)");
  verb.add_option("--tta", o->eval.data.tta,
                  "Test-time augmentation: predict each image by the mean of several views of it");
  verb.add_flag("--allow-unlabelled", o->eval.data.allow_unlabelled,
                "For runs with --loss bce or focal: an image without labels counts as an image of "
                "no class, even if the run was trained without this flag");
  add_memory_flags(verb, o->memory);
  verb.add_option("--predictions", o->predictions, "Write a CSV of every image's prediction here");
  verb.add_flag("--logits", o->eval.with_logits,
                "Add a column logit_CLASS for each class to the predictions");
  verb.add_option("--backend", o->eval.backend, "Backend that computes").show_default();
  verb.add_option("--dtype", o->dtype, "Precision of activations")
      .one_of({"f32", "bf16", "f16", "tf32"})
      .show_default();
  verb.add_option("--threads", o->threads, "Number of CPU cores; 0: this process's share")
      .check(cores())
      .show_default();
  verb.add_flag("--json", o->json,
                "Print one JSON object on stdout, with the confusion matrix; for several splits or "
                "caches, one object a line");
  verb.footer("Test-time augmentations; they average probabilities unless they say otherwise:" +
              table_of(train::test_augmentations()) + R"(

Examples:
  winnow eval run cache
  winnow eval run cache --checkpoint best
  winnow eval run cache --tta mirror
  winnow eval run cache --head 1           # of a run with --local: the first stage's
  winnow eval run cache other-cache --split val --split test --json
  winnow eval run cache --split val --predictions predictions.csv --json
  winnow eval resnet20.safetensors cache --net resnet20 --predictions all.csv --logits)");
  return {verb, true, [o](Session& session) { run_eval(*o, session); }, /*stops=*/true};
}

}  // namespace winnow::tools
