#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "app/review/group_list.h"
#include "app/review/local_server.h"
#include "app/review/pictures.h"
#include "app/review/verdicts.h"
#include "dedup/review/review_log.h"

namespace winnow::app {

// A page with its script and style sheet as separate files, because the server's content security
// policy forbids inline ones.
struct ServedPage {
  std::string html;
  std::string script;
  std::string style;
};
// Moves the script and the style sheet out of an HTML page. The page must have one <style>, and
// only its last <script> may be executable.
ServedPage without_inline(std::string html);

// The web site of `winnow review`: answers its requests. Thread-safe.
//
// GET                   the page, its script and its style sheet
// GET groups            descriptions of the groups that pass the filter, with their judgements
// GET picture/ID        a JPEG of at most 320 px; with full=1 of at most 4096 px
// POST judgements       records one judgement or a list, as in a review file; durable before the
//                       reply
// POST judgements/all   judges all groups that pass the filter and have no judgement, by
//                       {"verdict": ...}, or {"image_verdict": ...} for single pictures. "none"
//                       undoes the last such request where no later judgement replaced it. Atomic.
class ReviewSite {
 public:
  // All references must outlive the site. `groups` and `log` must belong to the same selection.
  struct Parts {
    const GroupList& groups;
    Pictures& pictures;
    dedup::ReviewLog& log;
    ServedPage page;
    // Subject of the judgements: duplicates or single images.
    dedup::About about = dedup::About::kDuplicates;
  };
  explicit ReviewSite(Parts parts);

  // Answers one request. Throws UsageError, FormatError and SystemError; LocalServer turns them
  // into replies.
  WebReply answer(const WebRequest& request);

  // Number of judgements saved by this process.
  std::uint64_t saved() const noexcept { return saved_; }
  std::uint64_t left() const;  // number of groups without a judgement

 private:
  WebReply groups(const WebRequest& request) const;
  WebReply picture(std::string_view id, const WebRequest& request) const;
  WebReply judgements(const WebRequest& request);
  WebReply judge_all(const WebRequest& request);
  WebReply take_back_all();
  WebReply save(const std::vector<dedup::Judgement>& judgements);  // caller holds mutex_

  Parts parts_;
  mutable std::mutex mutex_;  // guards the members below, and the log
  Verdicts verdicts_;
  // The last result of judge_all(): numbers of the judged groups, each with its judgement, whose
  // images are ascending.
  std::vector<std::pair<std::uint32_t, dedup::Judgement>> last_all_;
  std::atomic<std::uint64_t> saved_{0};
};

// Parses the body of a request: one judgement or a list, in the format of a review file. Throws
// FormatError.
std::vector<dedup::Judgement> parse_judgements(std::string_view body);

}  // namespace winnow::app
