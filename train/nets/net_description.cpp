#include "train/nets/net_description.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace winnow::train {
namespace {

// Appends the blocks of a description to a net, in order.
class DescribedNet {
 public:
  DescribedNet(const NetDescription& description, const NetOptions& options)
      : description_(description), classes_(options.classes), net_(options), x_(net_.image()) {
    for (const BlockEntry& entry : description.entries) {
      if (entry.block->drops_path) dropping_ += std::max(1, entry.depth);
    }
  }

  Graph make() && {
    for (const BlockEntry& entry : description_.entries) {
      const std::string at = description_.where + ":" + std::to_string(entry.line) + ": ";
      try {
        add(entry);
      } catch (const ShapeError& error) {
        throw ShapeError(at + error.what());
      } catch (const UsageError& error) {
        throw UsageError(at + error.what());
      }
    }
    return std::move(net_).finish(x_);
  }

 private:
  void add(const BlockEntry& entry) {
    BlockValues values = entry.values;
    for (int i = 0; i < std::max(1, entry.depth); ++i) {
      if (i == 1 && values.has("stride")) values.set("stride", 1);
      if (!entry.block->takes_vectors && net_.shape(x_).size() != 4) {
        throw ShapeError(std::string(entry.block->name) +
                         " needs an image as input, but a linear layer comes before it");
      }
      x_ = entry.block->make(net_, place_of(entry, i), x_, values);
      check_new_tensors();
    }
  }

  BlockPlace place_of(const BlockEntry& entry, int i) {
    BlockPlace at{.name = entry.name, .classes = classes_};
    if (const std::size_t sign = entry.name.find('#'); sign != std::string::npos) {
      at.name.replace(sign, 1, std::to_string(counted_[entry.name]++));
    } else if (entry.depth > 0) {
      at.name += "." + std::to_string(i);
    }
    if (entry.block->drops_path) {
      at.drop_path_rate = description_.drop_path * number_++ / std::max(1, dropping_ - 1);
    }
    return at;
  }

  void check_new_tensors() {
    const std::vector<Value>& values = net_.graph().values;
    for (; checked_ < values.size(); ++checked_) {
      const Value& value = values[checked_];
      if (value.kind != ValueKind::kParameter && value.kind != ValueKind::kBuffer) continue;
      if (!names_.insert(value.name).second) {
        throw UsageError("an earlier block already has a tensor '" + value.name +
                         "'; rename one of the two blocks");
      }
      parameters_ += element_count(value.shape);
      if (parameters_ > kMostParameters) {
        throw UsageError("the net has more than " + std::to_string(kMostParameters) +
                         " parameters up to here");
      }
    }
  }

  const NetDescription& description_;
  const std::int64_t classes_;
  NetBuilder net_;
  ValueId x_;
  int dropping_ = 0;  // number of blocks with a drop path
  int number_ = 0;    // index of the next of them
  std::map<std::string, int> counted_;
  std::set<std::string> names_;  // names of parameters and buffers
  std::size_t checked_ = 0;      // values of the graph that were checked
  std::int64_t parameters_ = 0;
};

}  // namespace

Graph make_net(const NetDescription& description, const NetOptions& options) {
  return DescribedNet(description, options).make();
}

}  // namespace winnow::train
