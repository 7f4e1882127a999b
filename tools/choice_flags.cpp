#include "tools/choice_flags.h"

#include "tools/numbers.h"

namespace winnow::tools {

std::vector<Flag> add_demand_flags(Verb verb, const std::string& prefix, ChoiceOptions& flags) {
  const Flag risk = verb.add_option(prefix + "risk", flags.risk,
                                    "Choose the threshold: the largest with fewer expected false "
                                    "pairs than this among all "
                                    "images; 0.5 by default")
                        .check(real_above(0, kMostRisk));
  const Flag precision =
      verb.add_option(prefix + "precision", flags.precision,
                      "Choose the threshold: the largest whose expected precision is at least this "
                      "(see winnow tune)")
          .in_shares()
          .check(real_in(0.0, 1.0))
          .excludes(risk);
  return {risk, precision};
}

std::vector<Flag> add_choice_flags(Verb verb, const std::string& prefix, ChoiceOptions& flags) {
  const Flag hash = verb.add_option(prefix + "hash", flags.hash,
                                    "Hash to compare; auto: of those stored the one that finds "
                                    "most; exact: equal files and pixels only")
                        .show_default();
  const Flag threshold =
      verb.add_option(prefix + "threshold", flags.threshold,
                      "Bits that may differ between duplicates (of phash, where no hash is named); "
                      "by default as "
                      "many as have fewer than 0.5 expected false pairs among these images")
          .check(whole_in(0, kMostBits));
  std::vector<Flag> options{hash, threshold};
  for (const Flag option : add_demand_flags(verb, prefix, flags)) {
    option.excludes(threshold);
    options.push_back(option);
  }
  options.push_back(add_quality_flag(verb, prefix, flags));
  return options;
}

Flag add_quality_flag(Verb verb, const std::string& prefix, ChoiceOptions& flags) {
  return verb
      .add_option(prefix + "least-quality", flags.least_quality,
                  "Images of less quality, 0 to 100, have too little in them to be compared by "
                  "codes; by default 50 for pdq, as its authors advise, and anything above 0 for "
                  "others")
      .check(real_in(0.0, 100.0));
}

std::vector<Flag> add_verify_flags(Verb verb, const std::string& prefix, ChoiceOptions& flags) {
  const Flag verify =
      verb.on_switch(
              prefix + "verify,!" + prefix + "no-verify",
              [&flags](bool is_on) { flags.verify = is_on; },
              "Look at the pictures: find cropped, framed, turned and partly covered copies too, "
              "and leave out what only has near codes. By default of up to 100,000 images that "
              "have "
              "details, where no other flag says what to compare")
          .last_holds();
  const Flag least =
      verb.add_option(prefix + "least-probability", flags.least_probability,
                      "Of " + prefix +
                          "verify: how probable it must be that two images show one picture; by "
                          "default 0.9, or as much more as leaves few false pairs to be expected")
          .check(real_in(0.5, 0.9999))
          .each([&flags](const std::string&) { flags.verify = flags.verify.value_or(true); });
  return {verify, least};
}

}  // namespace winnow::tools
