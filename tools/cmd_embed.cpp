#include <memory>

#include "app/embed/embed.h"
#include "common/json.h"
#include "tools/command.h"
#include "tools/flags/flags.h"
#include "tools/numbers.h"
#include "tools/run_flags.h"

namespace winnow::tools {

Command add_embed(Verb program) {
  auto o = std::make_shared<EmbedRequest>();
  const Verb verb =
      program.add_verb("embed", "Compute a feature vector for every image, or store yours");
  verb.add_option("source", o->embed.source,
                  "Run directory made by winnow train, a safetensors file with torchvision's "
                  "names, or a .npy file with a vector in each row")
      .required();
  verb.add_option("cache", o->embed.cache, "Cache whose images get the features").required();
  verb.add_option("--name", o->name, "Name of the features").show_default();
  verb.add_option("--dtype", o->dtype,
                  "Type of the stored numbers: f16, or i8 with a scale for each image, which takes "
                  "half the space")
      .one_of({"f16", "i8"})
      .show_default();
  verb.add_option("--names", o->names,
                  "For a .npy file: a file with the image name of each row, one name a line, as in "
                  "the cache's ledger.jsonl");
  add_checkpoint_flags(verb, o->embed.checkpoint);
  add_file_net_flags(verb, "safetensors", o->embed.file);
  verb.add_option("--backend", o->embed.backend, "Backend that computes").show_default();
  verb.add_option("--compute-dtype", o->compute_dtype, "Precision of activations")
      .one_of({"f32", "bf16", "f16", "tf32"})
      .show_default();
  verb.add_option("--threads", o->threads, "Number of CPU cores; 0: this process's share")
      .check(cores())
      .show_default();
  verb.add_flag("--whiten", o->whiten,
                "Whiten the vectors: subtract their mean, and make their numbers uncorrelated with "
                "variance 1 over the images");
  verb.add_flag("--json", o->json, "Print one JSON object on stdout");
  verb.footer(
      R"(The vector of an image is the input of the net's last fully connected layer; images are prepared as
by winnow eval. Images of all splits get one. Features are stored in the cache, at
features/NAME.features; features of the same name are replaced.

Examples:
  winnow embed run cache
  winnow embed run cache --checkpoint best --name best
  winnow embed resnet50.safetensors cache --net resnet50 --dtype i8
  winnow embed vectors.npy cache --names names.txt --name clip
  winnow embed twins cache --whiten                # a run of --loss barlow_twins
  winnow dedup cache --features default --cosine 0.97)");
  return {verb, false, [o](Session& session) { run_embed(*o, session); }, /*stops=*/true};
}

}  // namespace winnow::tools
