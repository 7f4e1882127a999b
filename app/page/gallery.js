// The page of groups of duplicates, and of pictures by themselves, each a group of one file that has `scores`.
// It draws from a source: the groups that are in the page, or those that `winnow review` serves. Nothing is
// fetched from elsewhere, and names are only ever set as text.
"use strict";
(() => {
  const PAGE = 30; // groups drawn at a time
  const AHEAD = 1500; // px below what is seen that are drawn
  const REASONS = ["leak", "conflict", "chain", "near"];
  const REASON_WORDS = {
    leak: "leak: it reaches into another split",
    conflict: "conflict: labels differ",
    chain: "chain: some are further apart than the threshold",
    near: "near: close to the threshold",
  };
  // What is judged: keys, verdicts and words of it, and the member of a line that has the verdict.
  const GROUPS = {
    noun: ["group", "groups"], title: "Group", member: "verdict",
    actions: [["1", "duplicate", "Duplicate"], ["2", "different", "Not a duplicate"], ["3", "keep", "Keep this one"], ["0", "unsure", "Unsure"]],
    said: { duplicate: "duplicate", different: "not a duplicate", keep: "one is kept", unsure: "unsure" },
  };
  const PICTURES = {
    noun: ["picture", "pictures"], title: "Picture", member: "image_verdict",
    actions: [["1", "keep", "Keep"], ["2", "drop", "Drop"], ["0", "unsure", "Unsure"]],
    said: { keep: "keep", drop: "drop", unsure: "unsure" },
  };
  const kindOf = (group) => (group.scores ? PICTURES : GROUPS);
  // How many there are of each kind of the page.
  const countKinds = (groups) => new Map(KINDS.map((kind) => [kind, groups.filter((group) => kindOf(group) === kind).length]));

  const byId = (id) => document.getElementById(id);
  const take = (id) => {
    const element = byId(id);
    const value = JSON.parse(element.textContent);
    element.remove(); // as text it would stay in memory a second time
    return value;
  };

  // ---- Words and elements ----

  // Characters that command a terminal, turn the direction of text or are no UTF-8 (common/utf8.h), as \x1B.
  const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\uef80-\uefff]/g;
  const visible = (text) =>
    text.replace(UNSEEN, (c) => {
      const code = c.charCodeAt(0);
      const byte = code >= 0xef80 && code <= 0xefff ? code - 0xef00 : code;
      const digits = byte.toString(16).toUpperCase();
      return byte < 256 ? "\\x" + digits.padStart(2, "0") : "\\u" + digits.padStart(4, "0");
    });
  const number = (value) => value.toLocaleString("en");
  const sure = (probability) => (probability >= 0.999 ? "over 99.9 % sure" : `${(100 * probability).toFixed(1)} % sure`);
  const bits = (value) => (value === 1 ? "1 bit" : `${value} bits`);
  const splitWords = (split) => (split === "none" ? "no split" : split);
  const folderWords = (folder) => (folder === "" ? "no folder" : visible(folder));
  const baseName = (name) => visible(name.slice(name.lastIndexOf("/") + 1));

  function make(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children);
    return element;
  }
  const isolated = (text) => make("bdi", {}, text);
  const issueWords = (issue) => issue.replaceAll("_", " ");

  // ---- Sources ----

  // Of a picture, the issue it is listed by.
  const issueOf = (group, query) => (query.reason in group.scores ? query.reason : group.reasons[0]);
  const rank = (group, query) => {
    if (group.scores) return REASONS.length + 1 + (group.reasons.length > 0 ? ISSUES.indexOf(issueOf(group, query)) : ISSUES.length);
    const first = REASONS.findIndex((reason) => group.reasons.includes(reason));
    return first < 0 ? REASONS.length : first;
  };
  const scoreOf = (group, query) => (group.scores ? (group.scores[issueOf(group, query)] ?? 1) : 0);
  const folderKey = (group) => group.folders.join("\n");

  function matches(group, query) {
    if (group.distance < query.least || group.distance > query.most) return false;
    if (query.split && !group.splits.includes(query.split)) return false;
    if (query.folder !== null && !group.folders.includes(query.folder)) return false;
    if (query.reason && !group.reasons.includes(query.reason)) return false;
    if (query.class !== null && !group.members.some((m) => m.labels.includes(query.class))) return false;
    if (query.text === "") return true;
    const text = query.text.toLowerCase();
    const holds = (value) => visible(value).toLowerCase().includes(text);
    return group.members.some((m) => m.id === text || holds(m.name) || m.labels.some(holds));
  }

  // The groups in the page. What is judged is kept where the browser keeps things for pages, if it does.
  function staticSource(groups, { key, first_line: firstLine }) {
    const place = "winnow.review " + key;
    const judged = new Map();
    try {
      for (const [group, batches] of JSON.parse(localStorage.getItem(place) || "[]")) judged.set(group, batches);
    } catch {
      judged.clear();
    }
    const shared = new Map(); // how many groups a set of folders has
    for (const group of groups) shared.set(folderKey(group), (shared.get(folderKey(group)) || 0) + 1);
    const orders = {
      reason: (a, b, query) => rank(a, query) - rank(b, query) || scoreOf(a, query) - scoreOf(b, query) || b.distance - a.distance,
      distance: (a, b) => b.distance - a.distance,
      folders: (a, b) =>
        shared.get(folderKey(b)) - shared.get(folderKey(a)) || (folderKey(a) < folderKey(b) ? -1 : folderKey(a) > folderKey(b) ? 1 : 0),
      size: (a, b) => b.size - a.size,
      number: () => 0,
    };
    return {
      totals: countKinds(groups),
      saves: true,
      async list(query, first, count) {
        const found = groups
          .filter((g) => matches(g, query) && !(query.todo && judged.has(g.number)))
          .sort((a, b) => orders[query.sort](a, b, query) || a.number - b.number);
        return { total: found.length, counts: countKinds(found), groups: found.slice(first, first + count) };
      },
      batchesOf: (group) => judged.get(group.number) || [],
      // What stands of groups from now on: [group, batches] of each.
      async put(changes) {
        for (const [group, batches] of changes) {
          if (batches.length > 0) judged.set(group.number, batches);
          else judged.delete(group.number);
        }
        try {
          localStorage.setItem(place, JSON.stringify([...judged]));
        } catch {
          return "Judgements last as long as this page is open: save them.";
        }
        return "";
      },
      // Of all of a kind that pass and were not judged.
      async judgeAll(query, kind, verdict) {
        return judgeThese(this, groups.filter((g) => matches(g, query)), kind, verdict);
      },
      judgedCount: () => judged.size,
      judgedCounts: () => countKinds(groups.filter((group) => judged.has(group.number))),
      file() {
        const lines = [{ schema: "winnow.review/1" }];
        if (firstLine) lines.push(firstLine);
        for (const batches of judged.values()) for (const batch of batches) lines.push(...batch.lines);
        return lines.map((line) => JSON.stringify(line) + "\n").join("");
      },
    };
  }

  // What a server says is in force of a group: in one word, and the lines, which have no names.
  function toldBatches({ verdict, lines }, { scores, members }) {
    const names = new Map(members.map((member) => [member.hash, member.name]));
    const named = lines.map((line) => ({ ...line, names: line.images.map((image) => names.get(image) || "") }));
    if (scores) return [{ verdict, scope: "all", lines: named }];
    const keeps = named.filter((line) => line.verdict === "keep");
    const others = named.filter((line) => line.verdict !== "keep");
    const batches = keeps.map((line) => ({ verdict: "keep", scope: "keep", lines: [line] }));
    if (others.length > 0 || keeps.length === 0) batches.unshift({ verdict, scope: "all", lines: others });
    return batches;
  }

  // What `winnow review` serves: it keeps the judgements, too.
  function serverSource() {
    const judged = new Map(); // batches, made here or told
    const before = new Map(); // what the server told
    const asked = (query) => {
      const words = new URLSearchParams({ sort: query.sort, least: query.least, most: query.most });
      for (const name of ["text", "split", "reason"]) if (query[name]) words.set(name, query[name]);
      for (const name of ["class", "folder"]) if (query[name] !== null) words.set(name, query[name]);
      if (query.todo) words.set("todo", "1");
      return words;
    };
    const post = async (path, what) => {
      const headers = { "Content-Type": "application/json" };
      const answer = await fetch(path, { method: "POST", headers, body: JSON.stringify(what) });
      if (!answer.ok) throw new Error(await answer.text());
      const { saved, left } = await answer.json();
      return { saved, note: left === undefined || left === null ? "" : `${number(left)} ${NOUN[1]} are left.` };
    };
    const forget = () => {
      judged.clear();
      before.clear();
    };
    return {
      totals: null,
      saves: false,
      async list(query, first, count) {
        const answer = await fetch(`groups?first=${first}&count=${count}&${asked(query)}`);
        if (!answer.ok) throw new Error(await answer.text());
        const found = await answer.json();
        for (const [group, verdict] of Object.entries(found.judged)) before.set(Number(group), { verdict, lines: found.said[group] });
        return { ...found, counts: new Map([[KINDS[0], found.total]]) }; // it serves one kind at a time
      },
      batchesOf(group) {
        const told = before.get(group.number);
        if (!judged.has(group.number) && told) judged.set(group.number, toldBatches(told, group));
        return judged.get(group.number) || [];
      },
      async put(changes) {
        const lines = [];
        for (const [group, batches] of changes) {
          const old = this.batchesOf(group);
          const kept = new Set(batches.flatMap((batch) => batch.lines.map(setOf)));
          const gone = old.filter((batch) => !batches.includes(batch)).flatMap((batch) => batch.lines);
          lines.push(...gone.filter((line) => !kept.has(setOf(line))).map((line) => ({ [kindOf(group).member]: "none", images: line.images })));
          lines.push(...batches.filter((batch) => !old.includes(batch)).flatMap((batch) => batch.lines));
        }
        const { note } = await post("judgements", lines);
        for (const [group, batches] of changes) judged.set(group.number, batches);
        return note;
      },
      async judgeAll(query, kind, verdict) {
        const { saved, note } = await post("judgements/all?" + asked(query), { [kind.member]: verdict });
        forget(); // what is shown next is told anew
        const undo = async () => {
          const back = await post("judgements/all", { [kind.member]: "none" });
          forget();
          return back.note;
        };
        return { count: saved, note, undo };
      },
      judgedCount: () => [...judged.values()].filter((batches) => batches.length > 0).length,
    };
  }

  // ---- Judgements ----

  const setOf = (line) => [...line.images].sort().join();

  // A line of the review file about these members; images that are the same file count once.
  function lineOf(kind, verdict, members) {
    const seen = new Map();
    for (const member of members) if (!seen.has(member.hash)) seen.set(member.hash, member.name);
    return { [kind.member]: verdict, images: [...seen.keys()], names: [...seen.values()] };
  }

  // What was said of a group and stands beside `batch`.
  const standsBeside = (batch) => (old) => {
    if (batch.scope === "keep") return old.scope !== "keep";
    if (old.scope === "keep") return true;
    return batch.scope === "one" && old.scope === "one" && old.lines[0].images[0] !== batch.lines[0].images[0];
  };

  // Of a group: the member that was chosen by hand, or all. Null where nothing can be said.
  function batchOf(group, verdict, chosen, byHand) {
    const member = group.members[chosen];
    const kind = kindOf(group);
    if (kind === PICTURES) return { verdict, scope: "all", lines: [lineOf(kind, verdict, group.members)] };
    if (verdict === "keep") return { verdict, scope: "keep", lines: [lineOf(kind, verdict, [member])] };
    const others = group.members.filter((m) => m.hash !== member.hash);
    if (others.length === 0) return null;
    if (verdict === "different" && byHand && others.length > 1) {
      const pairs = [...new Map(others.map((m) => [m.hash, m])).values()];
      if (pairs.length > 1) {
        return { verdict, scope: "one", lines: pairs.map((m) => lineOf(kind, verdict, [member, m])) };
      }
    }
    return { verdict, scope: "all", lines: [lineOf(kind, verdict, group.members)] };
  }

  // Of those of these groups that are of a kind and that nothing was said of: how many it is of, and what
  // takes it back where nothing else was said since.
  async function judgeThese(source, groups, kind, verdict) {
    const changes = [];
    for (const group of groups) {
      if (kindOf(group) !== kind) continue;
      const batch = source.batchesOf(group).length === 0 ? batchOf(group, verdict, 0, false) : null;
      if (batch) changes.push([group, [batch]]);
    }
    const note = changes.length > 0 ? await source.put(changes) : "";
    const undo = () => source.put(changes.filter(([group, batches]) => source.batchesOf(group) === batches).map(([group]) => [group, []]));
    return { count: changes.length, note, undo };
  }

  // ---- The page ----

  const config = take("config");
  if (config.compared) REASON_WORDS.chain = "chain: some are not shown to be one picture";
  const ISSUES = config.issues.map((issue) => issue.name);
  const KINDS = [...(config.duplicates ? [GROUPS] : []), ...(config.pictures ? [PICTURES] : [])];
  const NOUN = KINDS.length === 1 ? KINDS[0].noun : ["group or picture", "groups and pictures"];
  const fates = config.fates || {};
  const source = config.source === "server" ? serverSource() : staticSource(take("groups"), config);
  const root = byId("gallery");
  const shown = []; // {group, article, chosen, byHand, onTheirWay: judgements that are not saved yet}
  let more = false; // whether there are groups behind those shown
  let passing = new Map(); // how many of each kind, shown or not
  let current = -1;
  let drawing = 0; // a number that tells the newest drawing from older ones
  let loading = null; // what is on its way

  const said = make("p", { class: "said", role: "status", "aria-live": "polite" });
  const SAID_MS = 6000; // that a message is seen, wherever one has scrolled to
  let fading = 0;
  const say = (text, stays = false) => {
    said.textContent = text;
    said.classList.remove("old");
    clearTimeout(fading);
    if (!stays) fading = setTimeout(() => said.classList.add("old"), SAID_MS);
  };

  // The tools above the groups.
  const option = (value, words) => make("option", { value }, words);
  const choose = (name, words, options) => {
    const select = make("select", { name, onchange: () => draw() }, ...options);
    return { select, label: make("label", {}, make("span", {}, words), select) };
  };
  const listed = (values, words) => values.map((value, place) => option(String(place), words(value)));
  const any = option("", "any");
  const facets = config.facets;
  const tools = {
    text: make("input", { type: "search", name: "text", placeholder: "name, label or id", oninput: () => drawSoon() }),
    sort: choose("sort", "sort by", [
      option("reason", config.duplicates ? "reason, then distance" : "issue, the worst first"),
      ...(config.duplicates ? [option("distance", "distance")] : []),
      option("folders", config.duplicates ? "folders shared" : "folder, those of most first"),
      ...(config.duplicates ? [option("size", "size")] : []), option("number", "number"),
    ]),
    reason: choose("reason", config.duplicates ? "reason" : "issue", [
      any, ...(config.duplicates ? REASONS.map((reason) => option(reason, REASON_WORDS[reason])) : []),
      ...config.issues.map(({ name, what }) => option(name, `${issueWords(name)}: ${what}`)),
    ]),
    split: choose("split", "split", [any.cloneNode(true), ...facets.splits.map((split) => option(split, split))]),
    class: choose("class", "class", [any.cloneNode(true), ...listed(facets.classes, visible)]),
    folder: choose("folder", "folder", [any.cloneNode(true), ...listed(facets.folders, folderWords)]),
    least: range("least", "distance from", 0),
    most: range("most", "to", config.most_distance),
    todo: make("input", { type: "checkbox", name: "todo", onchange: () => draw() }),
    goesOn: make("input", { type: "checkbox", name: "goes_on", onchange: () => setGoingOn(tools.goesOn.checked) }),
    count: make("output", { class: "count" }),
    save: make("button", { type: "button", class: "save", onclick: save }, "Save judgements"),
    back: make("button", { type: "button", class: "back", hidden: true, onclick: () => undoMany() }, make("kbd", {}, "U"), " Take back"),
  };
  function range(name, words, value) {
    const output = make("output", {}, String(value));
    const input = make("input", { type: "range", name, min: 0, max: config.most_distance, value });
    input.addEventListener("input", () => {
      output.textContent = input.value;
      drawSoon();
    });
    return { input, label: make("label", {}, make("span", {}, words, " ", output), input) };
  }
  const labelled = (words, element) => make("label", {}, make("span", {}, words), element);
  const pick = (select, values) => (select.value === "" ? null : values[Number(select.value)]);
  const query = () => ({
    text: tools.text.value.trim(),
    sort: tools.sort.select.value,
    reason: tools.reason.select.value,
    split: tools.split.select.value,
    class: pick(tools.class.select, facets.classes),
    folder: pick(tools.folder.select, facets.folders),
    least: Number(tools.least.input.value),
    most: Number(tools.most.input.value),
    todo: tools.todo.checked,
  });

  function toolbar() {
    const form = make("form", { class: "tools", role: "search", "aria-label": "Groups to show" });
    form.addEventListener("submit", (event) => event.preventDefault());
    form.append(labelled("find", tools.text));
    form.append(tools.sort.label, tools.reason.label);
    if (facets.splits.length > 1) form.append(tools.split.label);
    if (facets.classes.length > 1) form.append(tools.class.label);
    if (facets.folders.length > 1) form.append(tools.folder.label);
    if (config.most_distance > 0) form.append(tools.least.label, tools.most.label);
    form.append(make("label", { class: "check" }, tools.todo, make("span", {}, "not judged yet")));
    form.append(make("label", { class: "check" }, tools.goesOn, make("span", {}, "go on after a judgement ", make("kbd", {}, "n"))));
    const end = make("div", { class: "end" }, tools.count);
    end.append(tools.back, make("button", { type: "button", class: "many", onclick: () => many.open() }, make("kbd", {}, "a"), " Judge many"));
    if (source.saves) end.append(tools.save);
    end.append(make("button", { type: "button", onclick: () => help.showModal() }, "Keys ", make("kbd", {}, "?")));
    form.append(end);
    return form;
  }

  const form = toolbar();

  // One member of a group.
  const FATES = {
    kept: "stays", duplicate: "goes", leak: "goes: leak", conflict: "goes: labels differ", moved: "stays",
    issue: "goes: issue", review: "goes: judged",
  };
  function fateWords(member) {
    if (member.used_in) return `moves to ${member.used_in}`;
    if (member.weight > 0 && member.weight < 1) return `stays, weight ${member.weight.toFixed(2)}`;
    if (member.weight > 0 && member.fate !== "moved") return fates.kept ?? "stays";
    return fates[member.fate] ?? FATES[member.fate] ?? member.fate;
  }
  const stays = (member) => member.weight > 0;
  const editWords = (member) => `${member.edit} (${sure(member.probability)})`;

  function picture(member, alt) {
    if (!member.picture) return make("span", { class: "nothing" }, "no picture");
    const image = make("img", { src: member.picture, alt, decoding: "async", loading: "lazy" });
    if (Math.max(member.width, member.height) < 96) image.className = "tiny";
    return image;
  }

  function card(entry, place) {
    const member = entry.group.members[place];
    const odd = entry.group.reasons.includes("conflict");
    const labels = member.labels.map(visible).join(", ") || "no label";
    const folder = member.name.slice(0, Math.max(0, member.name.lastIndexOf("/")));
    const button = make(
      "button",
      {
        type: "button", class: "picture", "aria-pressed": "false",
        "aria-label": `${visible(member.name)}: ${[fateWords(member), splitWords(member.split), labels].filter(Boolean).join(", ")}`,
        onclick: () => {
          setCurrent(shown.indexOf(entry), false);
          if (entry.chosen === place && entry.byHand) compare.open(entry);
          pickMember(entry, place, true);
        },
      },
      picture(member, ""),
    );
    const fate = make("p", { class: "fate" }, fateWords(member));
    if (member.distance > 0) fate.append(make("span", {}, ` ${bits(member.distance)}`));
    if (fate.textContent === "") fate.hidden = true;
    return make(
      "li",
      { class: stays(member) ? "stays" : "goes" },
      button,
      fate,
      make("p", { class: "name", title: visible(member.name) }, isolated(baseName(member.name))),
      make("p", { class: odd ? "labels odd" : "labels" }, isolated(labels), ...(member.remark ? [", ", isolated(visible(member.remark))] : [])),
      ...(member.edit ? [make("p", { class: "edit" }, editWords(member))] : []),
      make("p", { class: "soft" }, `${splitWords(member.split)} · ${member.width} × ${member.height}`),
      make("p", { class: "soft" }, entry.group.folders.length > 1 ? isolated(folderWords(folder)) : ""),
    );
  }

  function pickMember(entry, place, byHand) {
    entry.chosen = place;
    entry.byHand = entry.byHand || byHand;
    entry.article.querySelectorAll("button.picture").forEach((button, i) => {
      button.setAttribute("aria-pressed", String(i === place));
    });
    showVerdict(entry);
    compare.follow(entry);
  }

  const titleOf = (group) => `${kindOf(group).title} ${number(group.number)}`;

  function actions(entry) {
    const bar = make("div", { class: "actions", role: "group", "aria-label": `Judge ${titleOf(entry.group)}` });
    for (const [key, verdict, words] of kindOf(entry.group).actions) {
      bar.append(
        make("button", { type: "button", "data-verdict": verdict, "aria-pressed": "false", onclick: () => judge(entry, verdict) },
          make("kbd", {}, key), ` ${words}`),
      );
    }
    bar.append(
      make("button", { type: "button", onclick: () => undo(entry) }, make("kbd", {}, "u"), " Undo"),
      make("button", { type: "button", class: "compare", onclick: () => compare.open(entry) },
        make("kbd", {}, "x"), entry.group.scores ? " Larger" : " Compare"),
    );
    return bar;
  }

  const reasonTag = (reason) => make("span", { class: `tag ${reason}`, title: REASON_WORDS[reason] }, reason);
  function issueTag(name, { scores }) {
    const { what, threshold } = config.issues[ISSUES.indexOf(name)];
    const title = `${what}: ${scores[name]}, and below ${threshold} is an issue`;
    return make("span", { class: "tag", title }, `${issueWords(name)} ${Number(scores[name].toPrecision(2))}`);
  }

  function article(entry) {
    const { group } = entry;
    const id = `group-${group.number}`;
    const facts = group.scores ? [] : [bits(group.distance)];
    if (group.probability) facts.push(sure(group.probability));
    if (group.diameter > group.distance) facts.push(`up to ${bits(group.diameter)} apart`);
    if (!group.scores) facts.push(`${number(group.size)} images`, group.splits.map(splitWords).join(" + "));
    else if (group.size > 1) facts.push(`the same file ${number(group.size)} times`);
    const title = make("h3", { id }, titleOf(group));
    const tags = group.reasons.map((reason) => (group.scores ? issueTag : reasonTag)(reason, group));
    const more = group.size - group.members.length;
    const element = make(
      "article",
      { class: group.scores ? "group alone" : group.members.length > 4 ? "group wide" : "group", tabindex: "-1", "aria-labelledby": id },
      make("header", {}, title, ...tags, make("span", { class: "soft" }, facts.join(" · ")), make("span", { class: "verdict" })),
      make("p", { class: "soft folders" }, isolated(group.folders.map(folderWords).join("  |  "))),
      make("ul", { class: "members" }, ...group.members.map((_, place) => card(entry, place))),
    );
    const covers = group.scores ? "" : ", which a judgement here does not cover";
    if (more > 0) element.append(make("p", { class: "soft" }, `and ${number(more)} more${covers}`));
    element.append(actions(entry));
    element.addEventListener("focusin", () => setCurrent(shown.indexOf(entry), false));
    return element;
  }

  function showVerdict(entry) {
    const batches = source.batchesOf(entry.group);
    const said = batches.map((batch) => batch.verdict);
    const words = batches.map((batch) => {
      if (batch.scope === "keep" && batch.lines.length === 1) return `keep ${baseName(batch.lines[0].names[0])}`;
      if (batch.scope === "one") return `${baseName(batch.lines[0].names[0])} is no duplicate`;
      return kindOf(entry.group).said[batch.verdict];
    });
    entry.article.classList.toggle("judged", batches.length > 0);
    entry.article.querySelector(".verdict").replaceChildren(words.length > 0 ? isolated(words.join(", ")) : "");
    entry.article.querySelectorAll("[data-verdict]").forEach((button) => {
      button.setAttribute("aria-pressed", String(said.includes(button.dataset.verdict)));
    });
    const judged = source.judgedCount();
    tools.save.textContent = judged > 0 ? `Save judgements (${number(judged)})` : "Save judgements";
    tools.save.disabled = judged === 0;
  }

  // ---- Going on after a judgement ----

  const GOES_ON = "winnow goes on"; // where the browser keeps it
  let goesOn = true;
  try {
    goesOn = localStorage.getItem(GOES_ON) !== "no";
  } catch {
    // as at first
  }
  tools.goesOn.checked = goesOn;
  function setGoingOn(value) {
    goesOn = value;
    tools.goesOn.checked = value;
    try {
      localStorage.setItem(GOES_ON, value ? "yes" : "no");
    } catch {
      // it holds as long as this page is open
    }
    say(value ? `A judgement goes on to the next ${NOUN[0]} without one. n switches that.` : `A judgement stays at its ${NOUN[0]}. n switches that.`);
  }

  // Whether nothing is said of it, nor about to be, and something can be.
  const isOpen = ({ group, onTheirWay }) =>
    onTheirWay === 0 && source.batchesOf(group).length === 0 && (group.scores !== undefined || group.members.some((m) => m.hash !== group.members[0].hash));

  // To the first open one behind a place, else to the first of all. False: none is left.
  async function goOn(from) {
    for (let place = from + 1; place < shown.length || more; place += 1) {
      if (place >= shown.length) await drawMore();
      if (place >= shown.length) break;
      if (isOpen(shown[place])) {
        setCurrent(place, true);
        return true;
      }
    }
    const place = shown.findIndex(isOpen);
    if (place >= 0) setCurrent(place, true);
    return place >= 0;
  }

  // When the page is opened: where one has left. Of more judged groups than are drawn at first none is drawn.
  async function beginWhereLeft() {
    if (!goesOn || !shown.some((entry) => source.batchesOf(entry.group).length > 0)) return;
    if (more && !shown.some(isOpen)) {
      tools.todo.checked = true;
      await draw();
      say(`Only ${NOUN[1]} that are not judged yet are shown.`);
    }
    setCurrent(shown.findIndex(isOpen), true);
  }

  // One thing after the other is asked of the source: what a list leaves out depends on what was judged.
  let last = Promise.resolve();
  const inTurn = (ask) => (last = last.then(ask, ask));

  // `change` makes what stands of a group of what stood.
  async function put(entry, change, words) {
    let isSaved = true;
    entry.onTheirWay += 1;
    try {
      const note = await inTurn(() => source.put([[entry.group, change(source.batchesOf(entry.group))]]));
      say(`${titleOf(entry.group)}: ${words}. ${note}`);
    } catch (error) {
      say(`${titleOf(entry.group)}: this was not saved: ${error.message}`, true);
      isSaved = false;
    }
    entry.onTheirWay -= 1;
    showVerdict(entry);
    if (!isSaved) setCurrent(shown.indexOf(entry), true);
    else if (shown[current] === entry) compare.follow(entry);
  }

  let lastJudged = null; // an entry
  // Does not wait until it is saved: the next key is of the next group.
  async function judge(entry, verdict) {
    const batch = batchOf(entry.group, verdict, entry.chosen, entry.byHand);
    if (batch) {
      lastJudged = entry;
      put(entry, (old) => [...old.filter(standsBeside(batch)), batch], kindOf(entry.group).said[verdict]);
    } else {
      say(`${titleOf(entry.group)}: these are the same file, byte for byte; there is nothing to judge.`);
    }
    if (goesOn) await goOn(shown.indexOf(entry));
  }

  function judgeByKey(entry, key) {
    const row = entry && kindOf(entry.group).actions.find(([name]) => name === key);
    return row ? judge(entry, row[1]) : Promise.resolve();
  }

  // Of this one; where nothing was said of it, of the one that was judged last.
  function undo(entry) {
    const isLast = isOpen(entry) && shown.includes(lastJudged);
    const of = isLast ? lastJudged : entry;
    if (isLast) setCurrent(shown.indexOf(of), true);
    lastJudged = null;
    return put(of, (old) => old.slice(0, -1), "taken back");
  }

  // What was judged of many last, and takes it back: {count, undo, redraw}.
  let lastMany = null;
  function setLastMany(judged) {
    lastMany = judged;
    tools.back.hidden = judged === null;
    if (judged) tools.back.replaceChildren(make("kbd", {}, "U"), ` Take back ${counted(judged.count, judged.kind.noun)}`);
  }
  const counted = (count, noun) => (count === 1 ? `1 ${noun[0]}` : `${number(count)} ${noun[1]}`);
  // "5 groups", or of a page of both kinds "5 groups and 1 picture".
  const countedKinds = (counts) => [...counts].map(([kind, count]) => counted(count, kind.noun)).join(" and ");
  // The same with how many there are in all, where these are not all: "2 of 5 groups and 1 picture".
  const countedOf = (counts, totals) =>
    [...counts].map(([kind, count]) => {
      const all = totals ? totals.get(kind) : count;
      return count === all ? counted(count, kind.noun) : `${number(count)} of ${counted(all, kind.noun)}`;
    }).join(" and ");

  // `entries`: those judged, where it is not all that pass the filters.
  async function judgeMany(entries, kind, verdict) {
    if (!entries) say("All that pass are being judged …", true);
    try {
      const done = await inTurn(() =>
        entries ? judgeThese(source, entries.map((entry) => entry.group), kind, verdict) : source.judgeAll(query(), kind, verdict));
      if (done.count > 0) setLastMany({ ...done, kind, redraw: !entries });
      say(done.count > 0 ? `${counted(done.count, kind.noun)}: ${kind.said[verdict]}. ${done.note} U takes all of it back.`
                         : "There is nothing to judge: all of them are judged, or the same file.");
      if (entries) setCurrent(shown.indexOf(entries.at(-1)) + 1, true);
      await showMany(!entries);
    } catch (error) {
      say(`This was not saved: ${error.message}`, true);
    }
  }

  async function undoMany() {
    if (!lastMany) {
      say(`Nothing was judged of many ${NOUN[1]} that could be taken back.`);
      return;
    }
    const { count, kind, undo, redraw } = lastMany;
    say(`${counted(count, kind.noun)} are being taken back …`, true);
    try {
      const note = await inTurn(undo);
      setLastMany(null);
      say(`${counted(count, kind.noun)}: taken back. ${note}`);
      await showMany(redraw);
    } catch (error) {
      say(`This was not taken back: ${error.message}`, true);
    }
  }

  async function showMany(redraw) {
    if (redraw) await draw();
    for (const entry of shown) showVerdict(entry);
  }

  function save() {
    const address = URL.createObjectURL(new Blob([source.file()], { type: "application/jsonl" }));
    const link = make("a", { href: address, download: "review.jsonl" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
    say(`What was said of ${countedKinds(source.judgedCounts())} is saved as review.jsonl.`);
  }

  // ---- Drawing ----

  const groups = make("div", {
    class: config.pictures ? "groups pictures" : "groups", role: "feed",
    "aria-label": config.duplicates ? "Groups of duplicates" : "Pictures with issues",
  });
  const end = make("p", { class: "soft more" });

  // What is on its way already is waited for, in place of asking for more.
  function drawMore(count = PAGE) {
    if (loading) return loading;
    const load = loadMore(count).finally(() => {
      if (loading === load) loading = null;
    });
    loading = load;
    return load;
  }

  async function loadMore(count) {
    const mine = drawing;
    do {
      if (!(await loadOnce(count, mine))) return;
    } while (more && isNear(end));
  }

  // Whether more may be drawn behind it.
  async function loadOnce(count, mine) {
    try {
      let first = 0;
      const found = await inTurn(() => {
        const asked = query();
        // Those that were judged since are no longer among those not judged yet.
        const before = asked.todo ? shown.filter((entry) => source.batchesOf(entry.group).length === 0) : shown;
        first = before.length;
        return source.list(asked, first, count);
      });
      if (mine !== drawing) return false;
      for (const group of found.groups) {
        const going = group.members.findIndex((member) => !stays(member));
        const chosen = going > 0 ? going : Math.min(1, group.members.length - 1);
        const entry = { group, article: null, chosen, byHand: false, onTheirWay: 0 };
        entry.article = article(entry);
        shown.push(entry);
        groups.append(entry.article);
        pickMember(entry, entry.chosen, false);
      }
      passing = found.counts;
      more = found.groups.length > 0 && first + found.groups.length < found.total;
      tools.count.textContent = countedOf(found.counts, source.totals);
      end.replaceChildren(shown.length === 0 ? `No ${NOUN[0]} is like that.` : "");
      if (more && source.saves) {
        const words = `Show all ${number(found.total)}, to print them`;
        end.replaceChildren(make("button", { type: "button", onclick: () => drawMore(found.total) }, words));
      }
      return true;
    } catch (error) {
      end.textContent = `The ${NOUN[1]} could not be read: ${error.message}`;
      return false;
    }
  }

  const isNear = (element) => element.getBoundingClientRect().top < innerHeight + AHEAD;

  function draw() {
    drawing += 1;
    loading = null;
    shown.length = 0;
    current = -1;
    groups.replaceChildren();
    return drawMore();
  }
  let waiting = 0;
  function drawSoon() {
    clearTimeout(waiting);
    waiting = setTimeout(draw, 120);
  }

  function setCurrent(place, move) {
    if (place < 0 || place >= shown.length) return;
    if (current >= 0 && shown[current]) shown[current].article.classList.remove("current");
    current = place;
    const { article: element } = shown[place];
    element.classList.add("current");
    if (move) {
      element.focus({ preventScroll: true });
      element.scrollIntoView({ block: "start" });
      compare.follow(shown[place]);
    }
    if (place + 5 > shown.length && more) drawMore();
  }

  async function step(by) {
    if (current + by >= shown.length && more) await drawMore();
    setCurrent(Math.min(Math.max(current + by, 0), shown.length - 1), true);
  }

  function stepMember(by) {
    const entry = shown[current];
    if (!entry) return;
    const count = entry.group.members.length;
    if (entry.group.scores && count === 1) {
      step(by);
      return;
    }
    pickMember(entry, (entry.chosen + by + count) % count, true);
  }

  // ---- Two pictures, compared ----

  const compare = (() => {
    const LEAST_SIDE = 240; // px, of the longer side of a picture, of which two fill the window
    const MOST_SIDE = 1100;
    const sideNow = () => Math.round(Math.min(MOST_SIDE, Math.max(LEAST_SIDE, Math.min((innerWidth - 120) / 2, innerHeight - 300))));
    let entry = null;
    let mode = "side";
    let timer = 0;
    let first = true; // which of the two a blink shows
    let newest = 0;
    const canvases = [make("canvas", {}), make("canvas", {})];
    const captions = [make("figcaption", {}), make("figcaption", {})];
    const figures = canvases.map((canvas, i) => make("figure", {}, canvas, captions[i]));
    const title = make("h2", {});
    const verdict = make("span", { class: "verdict" });
    const modes = [["s", "side", "Side by side"], ["x", "blink", "Blink"], ["d", "difference", "Difference"]].map(([key, name, words]) =>
      make("button", { type: "button", "data-mode": name, onclick: () => show(name) }, make("kbd", {}, key), ` ${words}`));
    const verdicts = KINDS.flatMap((kind) => kind.actions.map(([key, verdict, words]) =>
      ({ kind, button: make("button", { type: "button", onclick: () => judge(entry, verdict) }, make("kbd", {}, key), ` ${words}`) })));
    const dialog = make(
      "dialog",
      { class: "compare", "aria-label": "Two pictures compared", onclose: () => { if (!dialog.open) { clearInterval(timer); entry = null; } } },
      make("header", {}, title, verdict),
      make("div", { class: "figures" }, ...figures),
      make("div", { class: "actions" }, ...modes, make("span", { class: "gap" }), ...verdicts.map(({ button }) => button),
        make("button", { type: "button", onclick: () => dialog.close() }, make("kbd", {}, "Esc"), " Close")),
    );

    const partner = () => (entry.chosen === 0 && entry.group.members.length > 1 ? 1 : 0);
    // One alone of a picture by itself.
    const pair = () => [...(entry.group.scores ? [] : [entry.group.members[partner()]]), entry.group.members[entry.chosen]];

    function load(address) {
      return new Promise((done) => {
        const image = new Image();
        image.onload = () => done(image);
        image.onerror = () => done(null);
        image.src = address;
      });
    }

    function paint(canvas, image, width, height) {
      canvas.width = width;
      canvas.height = height;
      const context = canvas.getContext("2d", { willReadFrequently: true });
      context.imageSmoothingEnabled = image !== null && Math.max(image.width, image.height) >= 96;
      if (image) context.drawImage(image, 0, 0, width, height);
      return context;
    }

    // The absolute difference, four times as strong, so that small ones show.
    function subtract(a, b, width, height) {
      const one = a.getImageData(0, 0, width, height);
      const other = b.getImageData(0, 0, width, height).data;
      for (let i = 0; i < other.length; i += 1) {
        if (i % 4 !== 3) one.data[i] = Math.min(255, 4 * Math.abs(one.data[i] - other[i]));
      }
      a.putImageData(one, 0, 0);
    }

    function caption(place, member) {
      const apart = (member.distance > 0 ? `, ${bits(member.distance)} from the one that stays` : "") + (member.edit ? `, ${editWords(member)}` : "");
      captions[place].replaceChildren(make("b", { class: stays(member) ? "stays" : "goes" }, fateWords(member) + apart), " ",
        isolated(visible(member.name)), ` · ${member.labels.map(visible).join(", ") || "no label"} · ${splitWords(member.split)} · ${member.width} × ${member.height}`);
    }

    async function render() {
      const mine = (newest += 1);
      clearInterval(timer);
      const members = pair();
      const images = await Promise.all(members.map((m) => load(source.saves ? m.picture : m.picture + "?full=1")));
      if (mine !== newest || entry === null) return;
      const alone = members.length === 1;
      for (const { kind, button } of verdicts) button.hidden = kind !== kindOf(entry.group);
      title.textContent = titleOf(entry.group);
      verdict.textContent = entry.article.querySelector(".verdict").textContent;
      members.forEach((member, i) => caption(i, member));
      for (const button of modes) {
        button.setAttribute("aria-pressed", String(button.dataset.mode === mode));
        button.hidden = alone;
      }
      const side = sideNow();
      const scale = (image) => side / Math.max(image.width, image.height);
      const shape = images[0] || images[1] || { width: side, height: side };
      const width = Math.max(1, Math.round(shape.width * scale(shape)));
      const height = Math.max(1, Math.round(shape.height * scale(shape)));
      figures[0].hidden = false;
      figures[1].hidden = alone || mode === "difference";
      captions[1].hidden = false;
      if (mode === "side") {
        images.forEach((image, i) => {
          const k = image ? scale(image) : 1;
          paint(canvases[i], image, Math.round((image || shape).width * k), Math.round((image || shape).height * k));
        });
        return;
      }
      const contexts = images.map((image, i) => paint(canvases[i], image, width, height));
      if (mode === "difference") {
        if (images[0] && images[1]) subtract(contexts[0], contexts[1], width, height);
        captions[0].replaceChildren("what differs between ", isolated(baseName(members[0].name)), " and ",
          isolated(baseName(members[1].name)), ", four times as strong: black is equal");
        return;
      }
      const turn = () => {
        figures[first ? 0 : 1].hidden = false;
        figures[first ? 1 : 0].hidden = true;
        first = !first;
      };
      turn();
      timer = setInterval(turn, 600);
    }

    function show(name) {
      mode = entry && entry.group.scores ? "side" : name;
      first = true;
      if (entry) render();
    }
    return {
      dialog,
      isOpen: () => dialog.open, // its event "close" comes later than the next key may
      open(of, how = "side") {
        entry = of;
        if (!dialog.open) dialog.showModal();
        show(how);
      },
      // The same of what is looked at now.
      follow(of) {
        if (!dialog.open) return;
        entry = of;
        if (entry.group.scores) mode = "side";
        render();
      },
      // A key: pressed again it goes back to side by side.
      toggle(of, name) {
        if (!dialog.open) this.open(of, name);
        else show(mode === name ? "side" : name);
      },
    };
  })();

  // ---- Many groups at once ----

  // Those of which half is seen, or which fill half of what is seen.
  function onScreen() {
    const isSticky = getComputedStyle(form).position === "sticky"; // else its end lies over the groups below
    const top = isSticky ? Math.max(0, form.getBoundingClientRect().bottom) : 0;
    const bottom = isSticky ? innerHeight : tools.count.parentElement.getBoundingClientRect().top;
    return shown.filter((entry) => {
      const { top: from, bottom: to } = entry.article.getBoundingClientRect();
      const seen = Math.min(to, bottom) - Math.max(from, top);
      return seen > 0 && 2 * seen >= Math.min(to - from, bottom - top);
    });
  }

  function filterWords() {
    const { text, reason, split, class: label, folder, least, most, todo } = query();
    return [
      text && `“${visible(text)}” is in a name, a label or an id`, reason && `${reason in REASON_WORDS ? "reason" : "issue"} ${issueWords(reason)}`, split && `split ${split}`,
      label !== null && `class ${visible(label)}`, folder !== null && `folder ${folderWords(folder)}`,
      (least > 0 || most < config.most_distance) && `distance from ${least} to ${bits(most)}`, todo && "not judged yet",
    ].filter(Boolean).join("; ");
  }

  const many = (() => {
    let entries = [];
    const choices = ["screen", "all"].map((value) => {
      const words = make("span", {});
      return { words, input: make("input", { type: "radio", name: "many", value, checked: value === "screen" }) };
    });
    // Where there are both kinds, the keys are of the first.
    const rows = KINDS.flatMap((kind, place) =>
      kind.actions.filter(([, verdict]) => kind === PICTURES || verdict !== "keep")
        .map(([key, verdict, words]) => ({ kind, verdict, words, key: place === 0 ? key : null })));
    const buttons = rows.map(({ kind, verdict, words, key }) =>
      make("button", { type: "button", "data-many": verdict, onclick: () => judge(kind, verdict) },
        ...(key ? [make("kbd", {}, key), " "] : [`${kind.noun[1]}: `]), words));
    const dialog = make(
      "dialog",
      { class: "many", "aria-label": `Judge many ${NOUN[1]}` },
      make("h2", {}, `Judge many ${NOUN[1]}`),
      ...choices.map(({ input, words }) => make("label", { class: "choice" }, input, words)),
      make("p", { class: "soft" }, `What was said of a ${NOUN[0]} before stays as it is. `, make("kbd", {}, "a"), " chooses the other, ",
        make("kbd", {}, "U"), " takes the whole back."),
      make("div", { class: "actions" }, ...buttons,
        make("button", { type: "button", onclick: () => dialog.close() }, make("kbd", {}, "Esc"), " Close")),
    );
    function open() {
      entries = onScreen();
      const numbers = entries.slice(0, 8).map((entry) => number(entry.group.number)).join(", ") + (entries.length > 8 ? " and so on" : "");
      choices[0].words.textContent = `${countedKinds(countKinds(entries.map((entry) => entry.group)))} on the screen${entries.length > 0 ? `: ${numbers}` : ""}`;
      const one = [...passing.values()].reduce((sum, count) => sum + count, 0) === 1;
      choices[1].words.textContent = `${one ? `the one ${NOUN[0]} that passes` : `all ${countedKinds(passing)} that pass`}: ${filterWords() || "no filter is set"}`;
      choices[0].input.checked = true;
      dialog.showModal();
    }
    function judge(kind, verdict) {
      dialog.close();
      return judgeMany(choices[0].input.checked ? entries : null, kind, verdict);
    }
    return {
      dialog,
      open,
      isOpen: () => dialog.open,
      // Whether it is one of its keys.
      press(key) {
        const row = rows.find((one) => one.key === key);
        if (row) judge(row.kind, row.verdict);
        if (key === "a") choices[choices[0].input.checked ? 1 : 0].input.checked = true;
        return row !== undefined || key === "a";
      },
    };
  })();

  // ---- Keys ----

  const ofKinds = (words) => KINDS.map((kind) => words[KINDS.length === 1 || kind === GROUPS ? kind.title : "both"]).join("; ");
  const KEYS = [
    ["j", `next ${NOUN[0]}`, () => step(1)],
    ["k", `previous ${NOUN[0]}`, () => step(-1)],
    ["l", config.duplicates ? "next picture of the group (also →)" : "as j (also →)", () => stepMember(1)],
    ["h", config.duplicates ? "previous picture of the group (also ←)" : "as k (also ←)", () => stepMember(-1)],
    ["x", config.duplicates ? "compare: blink" : "larger", (entry) => entry && compare.toggle(entry, "blink")],
    ...(config.duplicates ? [
      ["d", "compare: difference", (entry) => entry && compare.toggle(entry, "difference")],
      ["s", "compare: side by side", (entry) => entry && compare.open(entry, "side")],
    ] : []),
    ["1", ofKinds({ Group: "judge: they are duplicates", Picture: "judge: keep, whatever its issues", both: "keep a picture by itself, whatever its issues" }),
      (entry) => judgeByKey(entry, "1")],
    ["2", ofKinds({ Group: "judge: they are no duplicates; in a group of three or more, that the picture you chose is none",
      Picture: "judge: drop", both: "drop a picture by itself" }), (entry) => judgeByKey(entry, "2")],
    ...(config.duplicates ? [["3", "judge: keep the chosen picture", (entry) => judgeByKey(entry, "3")]] : []),
    ["0", "judge: unsure", (entry) => judgeByKey(entry, "0")],
    ["u", `take back what was last said of the ${NOUN[0]}, or of the one judged last`, (entry) => entry && undo(entry)],
    ["n", `go on to the next ${NOUN[0]} after a judgement, or stay`, () => setGoingOn(!goesOn)],
    ["a", "judge many: those on the screen, or all that pass the filters", () => !compare.isOpen() && many.open()],
    ["U", "take back the whole of what was last judged of many", () => undoMany()],
    ["/", "find and filter", () => tools.text.focus()],
    ["?", "these keys", () => (help.open ? help.close() : help.showModal())],
  ];
  const help = make(
    "dialog",
    { class: "help", "aria-label": "Keys" },
    make("h2", {}, "Keys"),
    make("dl", {}, ...KEYS.flatMap(([key, words]) => [make("dt", {}, make("kbd", {}, key)), make("dd", {}, words)])),
    make("button", { type: "button", onclick: () => help.close() }, make("kbd", {}, "Esc"), " Close"),
  );
  const ARROWS = { ArrowRight: "l", ArrowLeft: "h" };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (many.isOpen()) {
      if (many.press(event.key)) event.preventDefault();
      return;
    }
    const inField = event.target.matches && event.target.matches("input, select, textarea");
    if (inField && event.key === "Escape") event.target.blur();
    if (inField) return;
    const key = ARROWS[event.key] || event.key;
    const row = KEYS.find(([name]) => name === key);
    if (!row || (help.open && key !== "?")) return;
    event.preventDefault();
    keys = keys.then(() => press(key, row[2]), () => press(key, row[2]));
  });

  // A key waits for what the one before moves to.
  let keys = Promise.resolve();
  function press(key, act) {
    if (current < 0 && !"jk/?aUn".includes(key)) setCurrent(0, true);
    return act(shown[current]);
  }

  // ---- Beginning ----

  root.replaceChildren(form, said, groups, end, compare.dialog, many.dialog, help);
  new IntersectionObserver((seen) => {
    if (seen.some((one) => one.isIntersecting) && more) drawMore();
  }, { rootMargin: `${AHEAD}px` }).observe(end);
  window.addEventListener("beforeprint", () => {
    for (const image of groups.querySelectorAll("img")) image.loading = "eager";
  });
  draw().then(() => {
    tools.save.disabled = source.judgedCount() === 0;
    if (source.saves && source.judgedCount() > 0) say(`${countedKinds(source.judgedCounts())} were judged here before.`);
    return beginWhereLeft();
  }).then(() => {
    document.documentElement.dataset.ready = "1";
  });
})();
