#include "train/backend/lower/activation.h"

#include "train/ops/activation.h"

namespace winnow::train {

Fill<kernels::Activate> activation_arguments(ValuePlaces& places, const Node& node) {
  return [kind = attributes_of<ActivationAttributes>(node).kind,
          of = elementwise_arguments(places, node)](const Slots& at) {
    return kernels::Activate{kind, of(at)};
  };
}

}  // namespace winnow::train
