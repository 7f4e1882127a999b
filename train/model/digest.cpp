#include "train/model/digest.h"

#include <span>

#include "common/checksum.h"

namespace winnow::train {

std::string digest_of(const Model& model) {
  Xxh3Stream hash;
  for (const Model::Tensor& tensor : model.tensors) {
    hash.update(std::as_bytes(std::span(tensor.about.name)));
    hash.update(std::as_bytes(std::span(tensor.data)));
  }
  return to_hex(hash.digest());
}

}  // namespace winnow::train
