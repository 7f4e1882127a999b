#include "train/step/not_finite.h"

#include <sstream>

namespace winnow::train {
namespace {

// Text such as " (samples 4, 17 and 3 more)".
std::string ids_of(const NotFiniteRank& rank) {
  if (rank.samples == 0) return {};
  std::string text = rank.samples == 1 ? " (sample " : " (samples ";
  for (std::size_t i = 0; i < rank.first_ids.size(); ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(rank.first_ids[i]);
  }
  const std::uint64_t more = rank.samples - rank.first_ids.size();
  return text + (more > 0 ? " and " + std::to_string(more) + " more)" : ")");
}

}  // namespace

std::string describe_not_finite(std::int64_t step, const std::vector<NotFiniteRank>& ranks,
                                const std::string& tensor, double loss_scale) {
  std::string text;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    if (ranks[r].loss_is_finite) continue;
    text += (text.empty() ? "the loss is not finite on rank " : ", on rank ") + std::to_string(r) +
            ids_of(ranks[r]);
  }
  if (text.empty()) {
    text = tensor.empty() ? "the losses are finite on every rank, but a sum of losses or gradients "
                            "is not finite"
                          : "the loss is finite on every rank, a gradient is not finite";
  }
  text = "step " + std::to_string(step) + ": " + text;
  if (tensor.empty()) return text;
  text += "; in the backward pass, the first gradient with NaN or infinity is that of " + tensor;
  if (loss_scale == 1) return text;
  std::ostringstream factor;
  factor << loss_scale;
  return text + ", with the loss scaled by " + factor.str();
}

}  // namespace winnow::train
