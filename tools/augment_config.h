#pragma once

namespace CLI {
class App;
}

namespace winnow::tools {

// Makes `program` read a table [augment] in its configuration file as an augmentation recipe, whose
// steps are in the order of the lines.
//
//   [augment]
//   resized_crop = true                  # torchvision's parameters.
//   flip = "p=0.4"
//   [augment.erase]
//   p = 0.1                              # probability.
//   area = [0.02, 0.2]
//
// This is read as `augment = "resized_crop+flip:p=0.4+erase:p=0.1,area=0.02..0.2"` in [train],
// unless `augment` is given there. Not by toml++: CLI11 reads the rest of the file anyway, and
// tables of toml++ lose the order of their lines.
void read_augment_table(CLI::App& program);

}  // namespace winnow::tools
