#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "train/graph/graph.h"
#include "train/model/model.h"

namespace winnow::train {

// Names of the classes that a net predicts, one for each output. Comparing numbers of outputs is
// not enough: data sets with the same classes may order them differently, and other data sets may
// have as many classes.

// Returns class names in the form of Model::classes: to_utf8() of each.
std::vector<std::string> class_names(const std::vector<std::string>& classes);

// Returns the first name that only one of two lists of classes has, as text: "'cat', which is in
// cache but not in run". Empty if both have the same names, in any order.
// run, cache  What the text calls the lists `trained` and `wanted`.
std::string first_other_class(const std::vector<std::string>& trained, const std::string& run,
                              const std::vector<std::string>& wanted, const std::string& cache);

// For each of `names`, its index in `wanted`, which has the same names. Throws Error for a name
// that is missing there.
std::vector<std::int32_t> places_in(const std::vector<std::string>& names,
                                    const std::vector<std::string>& wanted);

// How to bring the rows of the net's last fully connected layer, which computes the logits, into
// another order of classes.
struct ClassOrder {
  std::vector<std::int32_t> from;       // for each row in the wanted order, its current index
  std::vector<std::string> parameters;  // names of the parameters that have one row for each class
};

// Computes the reordering from the class names `trained` to `wanted`, which has the same names.
// Throws  UsageError if the net does not end in a fully connected layer.
ClassOrder find_class_order(const std::vector<std::string>& trained, const Graph& graph,
                            const std::vector<std::string>& wanted);

// Reorders the rows of a parameter in ClassOrder::parameters. `from`: ClassOrder::from.
void order_rows(std::vector<float>& rows, const std::vector<std::int32_t>& from);

// Reorders the rows of the net's last fully connected layer from model.classes to `wanted`, which
// has the same names. Call it before averages of the weights are started.
// Throws  UsageError if the net does not end in a fully connected layer.
void order_classes(Model& model, const Graph& graph, const std::vector<std::string>& wanted);

// Writes and reads class names as an entry of a safetensors file's metadata, a JSON list. Without
// names there is no entry, and the other way round. An entry of another program that is not a list
// of distinct texts is ignored.
inline constexpr const char* kClassesEntry = "classes";
void add_classes(std::map<std::string, std::string>& metadata,
                 const std::vector<std::string>& classes);
std::vector<std::string> classes_in(const std::map<std::string, std::string>& metadata);

}  // namespace winnow::train
