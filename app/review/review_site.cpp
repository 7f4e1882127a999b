#include "app/review/review_site.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <span>

#include "common/error.h"
#include "common/json.h"
#include "common/json_reader.h"
#include "common/utf8.h"

namespace winnow::app {
namespace {

constexpr std::uint64_t kMostGroups = 200;  // in one answer
constexpr int kPicturePx = 320;
constexpr int kFullPx = 4096;

std::optional<std::uint64_t> parse_number(std::string_view text) noexcept {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Parameters of a request.
class Asked {
 public:
  explicit Asked(const WebRequest& request) : parameters_(request.parameters) {}

  std::optional<std::string> text(std::string_view name) const {
    const auto found = parameters_.find(name);
    if (found == parameters_.end()) return std::nullopt;
    return found->second;
  }
  std::uint64_t number(std::string_view name, std::uint64_t usual) const {
    const auto value = text(name);
    if (!value) return usual;
    if (const auto number = parse_number(*value)) return *number;
    refuse(name);
  }
  // A parameter parsed by `parse`; nullopt if it is missing.
  template <class Parse>
  auto one_of(std::string_view name, const Parse& parse) const -> decltype(parse("")) {
    const auto value = text(name);
    if (!value) return std::nullopt;
    auto parsed = parse(*value);
    if (!parsed) refuse(name);
    return parsed;
  }

 private:
  [[noreturn]] static void refuse(std::string_view name) {
    throw UsageError(fmt::format("the parameter '{}' of the request is invalid", name));
  }

  const std::map<std::string, std::string, std::less<>>& parameters_;
};

std::optional<GroupReason> parse_reason(std::string_view name) noexcept {
  for (int i = 0; i < kGroupReasonCount; ++i) {
    const auto reason = static_cast<GroupReason>(i);
    if (reason_name(reason) == name) return reason;
  }
  return std::nullopt;
}

std::optional<dedup::Issue> parse_issue(std::string_view name) noexcept {
  const auto rows = dedup::issue_rows();
  const auto row = std::ranges::find(rows, name, &dedup::IssueRow::name);
  return row == rows.end() ? std::nullopt : std::optional(row->issue);
}

GroupFilter filter_of(const Asked& asked) {
  const auto bits = [&](const char* name, std::uint32_t usual) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(
        asked.number(name, usual), std::numeric_limits<std::uint32_t>::max()));
  };
  GroupFilter filter;
  filter.split = asked.one_of("split", [](std::string_view name) { return parse_split(name); });
  const auto reason = asked.text("reason");
  filter.issue = reason ? parse_issue(*reason) : std::nullopt;
  if (!filter.issue) filter.reason = asked.one_of("reason", parse_reason);
  if (const auto label = asked.text("class")) filter.label = from_utf8(*label);
  if (const auto folder = asked.text("folder")) filter.folder = from_utf8(*folder);
  filter.text = asked.text("text");
  filter.least = bits("least", 0);
  filter.most = bits("most", std::numeric_limits<std::uint32_t>::max());
  return filter;
}

Json said_json(const std::vector<dedup::Judgement>& said) {
  Json json = Json::array();
  for (const dedup::Judgement& judgement : said) {
    Json images = Json::array();
    for (const Hash128& image : judgement.images) images.push_back(to_hex(image));
    json.push_back({{dedup::member_of(judgement.about), dedup::verdict_name(judgement.verdict)},
                    {"images", images}});
  }
  return json;
}

// The verdict that a request applies to many groups.
dedup::Verdict parse_rule(std::string_view body, dedup::About about) {
  const JsonReader json(body, {.name = "the request", .remedy = "load the page again"});
  const JsonReader name = json.at(dedup::member_of(about));
  const auto verdict = dedup::parse_verdict(about, name.text());
  // Which image of a group to keep cannot be decided for many groups at once.
  const bool is_of_one = about == dedup::About::kDuplicates && verdict == dedup::Verdict::kKeep;
  if (!verdict || is_of_one)
    name.fail("is a judgement that cannot be applied to many groups at once");
  return *verdict;
}

// The judgement of a whole group, as the page makes it. Equal files count once.
dedup::Judgement judgement_of(const GalleryGroup& group, dedup::Verdict verdict,
                              dedup::About about) {
  dedup::Judgement judgement{.verdict = verdict, .images = {}, .about = about};
  for (const GalleryMember& member : group.members) {
    if (std::ranges::find(judgement.images, member.hash) != judgement.images.end()) continue;
    judgement.images.push_back(member.hash);
    judgement.names.push_back(member.name);
  }
  return judgement;
}

WebReply json_reply(std::string body) {
  return {.type = "application/json", .body = std::move(body)};
}

}  // namespace

ServedPage without_inline(std::string html) {
  const auto take_out = [&html](std::string_view begin, std::string_view end,
                                std::string_view instead) {
    const std::size_t from = html.rfind(begin);
    const std::size_t to = html.find(end, from == std::string::npos ? 0 : from);
    if (from == std::string::npos || to == std::string::npos) return std::string();
    const std::size_t inner = from + begin.size();
    std::string text = html.substr(inner, to - inner);
    html.replace(from, to + end.size() - from, instead);
    return text;
  };
  ServedPage page;
  page.script = take_out("<script>", "</script>", R"(<script src="page.js"></script>)");
  page.style = take_out("<style>", "</style>", R"(<link rel="stylesheet" href="page.css"/>)");
  page.html = std::move(html);
  return page;
}

std::vector<dedup::Judgement> parse_judgements(std::string_view body) {
  const JsonReader json(body, {.name = "the request", .remedy = "load the page again"});
  const std::vector<JsonReader> items =
      json.json().is_array() ? json.items() : std::vector<JsonReader>{json};
  std::vector<dedup::Judgement> judgements;
  for (const JsonReader& item : items) judgements.push_back(dedup::parse_judgement(item));
  return judgements;
}

ReviewSite::ReviewSite(Parts parts)
    : parts_(std::move(parts)), verdicts_(parts_.groups.images(), parts_.about) {
  const std::span<const dedup::Review> reviews(&parts_.log.review(), 1);
  for (const dedup::Judgement& judgement : dedup::last_said(reviews)) verdicts_.apply(judgement);
}

std::uint64_t ReviewSite::left() const {
  const std::lock_guard lock(mutex_);
  return verdicts_.left();
}

WebReply ReviewSite::answer(const WebRequest& request) {
  const std::string_view path = request.path;
  constexpr std::string_view kPictures = "picture/";
  if (request.is_post) {
    if (path == "judgements") return judgements(request);
    if (path == "judgements/all") return judge_all(request);
  } else if (path.empty()) {
    return {.type = "text/html; charset=utf-8", .body = parts_.page.html};
  } else if (path == "page.js") {
    return {.type = "text/javascript; charset=utf-8", .body = parts_.page.script};
  } else if (path == "page.css") {
    return {.type = "text/css; charset=utf-8", .body = parts_.page.style};
  } else if (path == "groups") {
    return groups(request);
  } else if (path.starts_with(kPictures)) {
    return picture(path.substr(kPictures.size()), request);
  }
  return {.status = 404, .body = "nothing is here\n"};
}

WebReply ReviewSite::groups(const WebRequest& request) const {
  const Asked asked(request);
  const GroupFilter filter = filter_of(asked);
  const GroupOrder order = asked.one_of("sort", parse_group_order).value_or(GroupOrder::kReason);
  const std::uint64_t first = asked.number("first", 0);
  const std::uint64_t count = std::min(asked.number("count", 50), kMostGroups);
  const bool todo = asked.number("todo", 0) != 0;

  // May read the names of all images, which takes seconds: not under the lock, or judgements would
  // wait.
  std::vector<std::uint32_t> found = parts_.groups.find(filter, order);
  std::unique_lock lock(mutex_);
  if (todo) std::erase_if(found, [&](std::uint32_t n) { return verdicts_.of(n).has_value(); });
  const std::uint64_t begin = std::min<std::uint64_t>(first, found.size());
  const std::uint64_t end = std::min<std::uint64_t>(begin + count, found.size());
  const std::span<const std::uint32_t> page = std::span(found).subspan(begin, end - begin);
  Json judged = Json::object();
  Json said = Json::object();
  for (const std::uint32_t number : page) {
    const auto verdict = verdicts_.of(number);
    if (!verdict) continue;
    judged[std::to_string(number)] = dedup::verdict_name(*verdict);
    said[std::to_string(number)] = said_json(verdicts_.said(number));
  }
  lock.unlock();

  std::string described;
  for (const std::uint32_t number : page) {
    GalleryGroup group = parts_.groups.describe(number);
    for (GalleryMember& member : group.members) {
      member.picture = "picture/" + std::to_string(member.id);
    }
    described += (described.empty() ? "" : ",") + to_json(group);
  }
  return json_reply(fmt::format(
      R"({{"schema":"winnow.groups/1","total":{},"first":{},"groups":[{}],"judged":{},"said":{}}})",
      found.size(), first, described, judged.dump(), said.dump()));
}

WebReply ReviewSite::picture(std::string_view id, const WebRequest& request) const {
  const auto number = parse_number(id);
  const bool full = Asked(request).number("full", 0) != 0;
  std::string why = "there is no such picture, or it cannot be read";
  try {
    const auto jpeg =
        number ? parts_.pictures.jpeg(*number, full ? kFullPx : kPicturePx, full ? 92 : 85)
               : std::nullopt;
    if (jpeg) return {.type = "image/jpeg", .body = *jpeg, .may_be_kept = true};
  } catch (const Error& error) {  // for this record only: other pictures are shown
    why = error.what();
  }
  return {.status = 404, .body = why + "\n"};
}

WebReply ReviewSite::judgements(const WebRequest& request) {
  const std::vector<dedup::Judgement> all = parse_judgements(request.body);
  const std::lock_guard lock(mutex_);
  return save(all);
}

WebReply ReviewSite::save(const std::vector<dedup::Judgement>& judgements) {
  if (!judgements.empty()) parts_.log.append(judgements);
  for (const dedup::Judgement& judgement : judgements) verdicts_.apply(judgement);
  saved_ += judgements.size();
  return json_reply(
      fmt::format(R"({{"saved":{},"left":{}}})", judgements.size(), verdicts_.left()));
}

WebReply ReviewSite::judge_all(const WebRequest& request) {
  const dedup::Verdict verdict = parse_rule(request.body, parts_.about);
  if (verdict == dedup::Verdict::kNone) return take_back_all();
  const std::vector<std::uint32_t> found =
      parts_.groups.find(filter_of(Asked(request)), GroupOrder::kNumber);
  const std::lock_guard lock(mutex_);
  std::vector<std::uint32_t> numbers;
  std::vector<dedup::Judgement> all;
  for (const std::uint32_t number : found) {
    if (verdicts_.of(number)) continue;
    numbers.push_back(number);
    all.push_back(judgement_of(parts_.groups.describe(number), verdict, parts_.about));
  }
  WebReply reply = save(all);
  if (all.empty()) return reply;
  last_all_.clear();
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::ranges::sort(all[i].images);
    last_all_.emplace_back(numbers[i], std::move(all[i]));
  }
  return reply;
}

WebReply ReviewSite::take_back_all() {
  const std::lock_guard lock(mutex_);
  std::vector<dedup::Judgement> all;
  for (const auto& [number, judgement] : last_all_) {
    const bool is_in_force =
        std::ranges::any_of(verdicts_.said(number), [&](const dedup::Judgement& said) {
          return said.verdict == judgement.verdict && said.images == judgement.images;
        });
    if (is_in_force) {
      all.push_back(
          {.verdict = dedup::Verdict::kNone, .images = judgement.images, .about = judgement.about});
    }
  }
  WebReply reply = save(all);
  last_all_.clear();
  return reply;
}

}  // namespace winnow::app
