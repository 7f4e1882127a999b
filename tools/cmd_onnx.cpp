#include <functional>
#include <memory>
#include <string>

#include "app/onnx/onnx.h"
#include "tools/command.h"
#include "tools/flags/flags.h"
#include "tools/run_flags.h"

namespace winnow::tools {

Command add_onnx(Verb program) {
  auto o = std::make_shared<OnnxRequest>();
  const Verb verb =
      program.add_verb("onnx", "Write a trained net as an ONNX model, for other programs to run");
  verb.add_option("run", o->run, "Run directory made by winnow train").required();
  verb.add_option("--to", o->to, "The file to write, as net.onnx").required();
  add_checkpoint_flags(verb, o->checkpoint);
  verb.add_option("--cache", o->cache,
                  "Cache that the net was trained on; its class names are compared with those of "
                  "the run, or stored if the run, of an older version, has none");
  verb.footer(
      R"(The model takes decoded pixels (u8, channels first, RGB) in the size of the training, any number of
images at once, and normalises them itself. It returns logits: take their softmax for the loss
cross_entropy, the sigmoid of each for bce and focal.
Its metadata_props contain the net, the epoch, the loss, resize_px and the classes, a JSON list in the
order of the logits. resize_px: scale the shorter side of an image to this many pixels, bilinear and
antialiased, then cut the centre; 0 if the net's input is not square: scale until it is covered.

Examples:
  winnow onnx run --to net.onnx --cache cache
  winnow onnx run --to best.onnx --checkpoint best
  winnow onnx run --to average.onnx --ema)");
  return {verb, false, [o](Session& session) { run_onnx(*o, session); }};
}

}  // namespace winnow::tools
