#pragma once

namespace CLI {
class App;
}

namespace winnow::tools {

// Has `program` read a table [augment] in its configuration file, which says a recipe in the order
// of its lines:
//
//   [augment]
//   resized_crop = true                  # with torchvision's parameters
//   flip = "p=0.4"
//   [augment.erase]
//   p = 0.1
//   area = [0.02, 0.2]
//
// It is read as `augment = "resized_crop+flip:p=0.4+erase:p=0.1,area=0.02..0.2"` of [train], where
// that is not given itself. toml++ would not do: CLI11 reads the rest of the file all the same, and
// its tables forget the order of their lines.
void read_augment_table(CLI::App& program);

}  // namespace winnow::tools
