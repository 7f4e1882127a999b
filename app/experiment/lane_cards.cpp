#include "app/experiment/lane_cards.h"

#include <algorithm>
#include <string_view>

namespace winnow::app {
namespace {

bool computes_on_cards(const std::vector<std::string>& words) {
  bool cards = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--backend") cards = i + 1 < words.size() && words[i + 1] == "cudnn";
    if (words[i].starts_with("--backend=")) cards = words[i] == "--backend=cudnn";
  }
  return cards;
}

}  // namespace

std::vector<std::string> visible_cards(const std::optional<std::string>& set, std::size_t count) {
  std::vector<std::string> cards;
  if (!set) {
    for (std::size_t i = 0; i < count; ++i) cards.push_back(std::to_string(i));
    return cards;
  }
  std::string_view rest = *set;
  while (!rest.empty()) {
    const std::string_view card = rest.substr(0, rest.find(','));
    if (card.empty() || card.starts_with('-')) break;
    cards.emplace_back(card);
    rest.remove_prefix(std::min(card.size() + 1, rest.size()));
  }
  return cards;
}

std::optional<std::string> card_of_lane(const std::vector<std::string>& cards, std::size_t lane,
                                        const std::vector<std::string>& words) {
  if (cards.size() < 2 || !computes_on_cards(words)) return std::nullopt;
  return cards[lane % cards.size()];
}

}  // namespace winnow::app
