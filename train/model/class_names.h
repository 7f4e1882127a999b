#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "train/graph/graph.h"
#include "train/model/model.h"

namespace winnow::train {

// Names of the classes that a net predicts, one for each output. The number of outputs is not
// enough: data sets with the same classes may order them differently, and other data sets may have
// as many.

// The names in the form of Model::classes: to_utf8() of each.
std::vector<std::string> class_names(const std::vector<std::string>& classes);

// The first name that only one of the two has, in quotes, with the one that has it: "'cat', which
// cache has and run has not". Empty: both have the same names, in any order.
std::string first_other_class(const std::vector<std::string>& trained, const std::string& run,
                              const std::vector<std::string>& wanted, const std::string& cache);

// The position of each name in `wanted`, which has the same names. Throws Error for a missing name.
std::vector<std::int32_t> places_in(const std::vector<std::string>& names,
                                    const std::vector<std::string>& wanted);

// How to bring the rows of the net's last fully connected layer, which outputs the logits, into
// another order of classes.
struct ClassOrder {
  std::vector<std::int32_t> from;       // for each wanted row, its current position
  std::vector<std::string> parameters;  // parameters with these rows
};

// The reordering from `trained` to `wanted`, which has the same names.
// Throws UsageError if the net does not end in a fully connected layer.
ClassOrder find_class_order(const std::vector<std::string>& trained, const Graph& graph,
                            const std::vector<std::string>& wanted);

// Brings the rows of one of these parameters into the order `from`.
void order_rows(std::vector<float>& rows, const std::vector<std::int32_t>& from);

// Reorders the rows of the net's last fully connected layer to the order of `wanted`, which has the
// same names as model.classes.
// Call it before averages are made of the weights. Throws UsageError if the net does not end in a
// fully connected layer.
void order_classes(Model& model, const Graph& graph, const std::vector<std::string>& wanted);

// Writes and reads class names as an entry of a safetensors file's metadata: a JSON list.
// Without names there is no entry, and without an entry no names. An entry of other programs that
// is not a list of distinct texts counts as none.
inline constexpr const char* kClassesEntry = "classes";
void add_classes(std::map<std::string, std::string>& metadata,
                 const std::vector<std::string>& classes);
std::vector<std::string> classes_in(const std::map<std::string, std::string>& metadata);

}  // namespace winnow::train
