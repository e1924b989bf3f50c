"use strict";
(() => {
  const PAGE = 50, CELLS = 360000, LONG = 600, NEAR = 3, SHORT = 120;
  const $ = (id) => document.getElementById(id);
  const make = (tag, props = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(props)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  };
  // Controls, marks that turn text round and halves of characters are shown, not obeyed.
  const plain = (text) => text.replace(/(?![\t\n])[\p{C}\p{Zl}\p{Zp}]/gu, "\ufffd");
  const short = (text, most = SHORT) => plain(text.length > most ? `${text.slice(0, most - 1)}…` : text);
  const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

  const theme = $("theme"), root = document.documentElement;
  const dark = () => (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const label = () => { theme.textContent = dark() ? "Light" : "Dark"; };
  theme.hidden = false;
  theme.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; label(); });
  label();

  if (!$("browser")) return;

  const unpack = async (code) => {
    const bytes = Uint8Array.from(atob(code), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  };

  const start = (data) => {
    for (const sample of data.samples) {
      sample.where = `${sample.path}:${sample.line}`;
      sample.words = `${sample.where}\n${sample.id}\n${sample.source}`.toLowerCase();
    }
    const rows = data.rows.map((row) => ({
      ...row,
      sample: data.samples[row.place],
      key: plain([row.model, row.seed, data.samples[row.place].id, row.transform, row.variant].join("/")),
      words: [row.model, row.transform, row.before.answer, row.after.answer].join("\n").toLowerCase(),
      size: row.least ? row.least.notes.length : row.notes.length,
    }));
    const read = {
      where: (row) => row.sample.where, model: (row) => row.model, transform: (row) => row.transform,
      before: (row) => row.before.answer, after: (row) => row.after.answer, size: (row) => row.size,
    };
    const state = { query: "", model: "", transform: "", least: "", sort: "", page: 1, v: "" };
    for (const name of ["model", "transform"])
      for (const value of [...new Set(rows.map(read[name]))].sort())
        $(name).append(make("option", { value }, short(value)));

    // Numbers by size, also those within texts; so that 9 stands before 10.
    const { compare } = new Intl.Collator("en", { numeric: true });
    const order = (x, y) => (x - y || (isNaN(x) || isNaN(y) ? compare(x, y) : 0));
    const found = () => {
      const words = state.query.toLowerCase().split(/\s+/).filter(Boolean);
      const kept = rows.filter((row) =>
        (!state.model || row.model === state.model) && (!state.transform || row.transform === state.transform) &&
        (!state.least || row.least) && words.every((word) => row.words.includes(word) || row.sample.words.includes(word)));
      if (state.sort) {
        const way = state.sort.startsWith("-") ? -1 : 1, by = read[state.sort.replace("-", "")];
        kept.sort((a, b) => way * order(by(a), by(b)));
      }
      return kept;
    };

    const address = (change = {}) => {
      const query = new URLSearchParams();
      for (const [name, value] of Object.entries({ ...state, ...change }))
        if (value && !(name === "page" && value === 1)) query.set(name, value);
      return `#${query}`;
    };
    // The address follows what is chosen, so that it can be handed on.
    const go = (change) => {
      Object.assign(state, { page: 1 }, change);
      history.replaceState(null, "", address());
      draw();
    };

    const item = (row) => {
      const link = make("a", { href: address({ v: row.key }) }, short(row.sample.where));
      link.addEventListener("click", () => { if (row.key === state.v) show(); });
      const cells = ["model", "transform", "before", "after"].map((name) => short(read[name](row)));
      cells.push(row.least ? `${row.size} of ${row.least.of}` : String(row.size));
      const line = make("tr", { role: "row" }, ...[link, ...cells].map((cell) => make("td", { role: "cell" }, cell)));
      line.lastChild.className = "number";
      if (row.key === state.v) line.setAttribute("aria-current", "true");
      return line;
    };

    const draw = () => {
      const kept = found(), pages = Math.max(1, Math.ceil(kept.length / PAGE));
      state.page = Math.min(Math.max(1, state.page), pages);
      $("count").textContent = `${kept.length.toLocaleString("en")} of ${count(rows.length, "violation")}`;
      $("list").tBodies[0].replaceChildren(...kept.slice((state.page - 1) * PAGE, state.page * PAGE).map(item));
      $("page").textContent = `page ${state.page} of ${pages}`;
      $("pager").hidden = pages === 1;
      $("prev").disabled = state.page === 1;
      $("next").disabled = state.page === pages;
      for (const head of $("list").tHead.rows[0].cells) {
        const { key } = head.firstElementChild.dataset;
        head.setAttribute("aria-sort", state.sort === key ? "ascending" : state.sort === `-${key}` ? "descending" : "none");
      }
      for (const name of ["query", "model", "transform"]) if ($(name).value !== state[name]) $(name).value = state[name];
      $("least").checked = Boolean(state.least);
      detail(rows.find((row) => row.key === state.v));
    };

    const show = () => { $("detail").focus({ preventScroll: true }); $("detail").scrollIntoView(); };
    const back = () => {
      const link = $("list").querySelector("[aria-current] a");
      (link || $("query")).focus();
    };

    const detail = (row) => {
      const place = $("detail");
      place.hidden = !state.v;
      place.replaceChildren();
      if (!state.v) return;
      if (!row) { place.append("The link names a violation that is not on this page."); return; }
      const { sample, least } = row, close = make("button", { type: "button" }, "Back to the list");
      close.addEventListener("click", back);
      place.append(make("h3", {}, short(`${sample.where}, ${row.transform}, ${row.model}`, 300)), close);
      place.append(make("div", { class: "answers" }, answer("before", row.before), answer("after", row.after)));
      if (row.repeats) place.append(make("p", { class: "scores" }, plain(`repeats: ${row.repeats}`)));
      if (sample.label !== undefined) place.append(make("p", { class: "scores" }, plain(`truth: ${sample.label}`)));
      if (least) {
        const told = least.smallest ? "no smaller set of its moves changes it" : "none of its moves can be left out";
        const how = `${least.notes.length} of ${count(least.of, "move")}; ${told}; ${count(least.queries, "model call")}; answer: ${least.after}`;
        place.append(make("h3", {}, "The smallest edit that changes the answer"),
          make("p", {}, plain(`${least.notes.join("; ")} (${how})`)), diff(sample.source, sample.texts[least.text]));
      }
      place.append(fold(`The whole edit, ${count(row.notes.length, "move")}`, !least,
        make("p", {}, plain(row.notes.join("; "))), diff(sample.source, sample.texts[row.text])));
      if (sample.other !== undefined) place.append(fold("The other unit of the pair", false, row.other === undefined
        ? make("pre", { class: "reply" }, plain(sample.other)) : diff(sample.other, sample.texts[row.other])));
      if (sample.graph) place.append(fold("Dependence graph with its layers", false, graph(sample.graph)));
    };

    const answer = (name, told) => make("div", {}, make("strong", {}, name), " ", plain(told.answer),
      make("div", { class: "scores" }, told.scores.map(([text, score]) => `${plain(text)} ${score}`).join(", ")),
      ...(told.reply === undefined ? [] : [fold(`The reply, read as ${plain(told.read)}`, told.reply.length <= SHORT,
        make("pre", { class: "reply" }, plain(told.reply)))]));

    for (const name of ["query", "model", "transform"])
      $(name).addEventListener("input", () => go({ [name]: $(name).value }));
    $("least").addEventListener("input", () => go({ least: $("least").checked ? "1" : "" }));
    $("filters").addEventListener("reset", (event) => {
      event.preventDefault();
      go({ query: "", model: "", transform: "", least: "" });
    });
    $("filters").addEventListener("submit", (event) => event.preventDefault());
    $("prev").addEventListener("click", () => go({ page: state.page - 1 }));
    $("next").addEventListener("click", () => go({ page: state.page + 1 }));
    for (const button of $("list").tHead.querySelectorAll("button"))
      button.addEventListener("click", () => {
        const { key } = button.dataset;
        go({ sort: state.sort === key ? `-${key}` : key });
      });
    $("list").addEventListener("keydown", (event) => {
      const links = [...$("list").tBodies[0].querySelectorAll("a")], at = links.indexOf(document.activeElement);
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step && at >= 0 && links[at + step]) { event.preventDefault(); links[at + step].focus(); }
    });
    $("detail").addEventListener("keydown", (event) => { if (event.key === "Escape") back(); });
    addEventListener("beforeprint", () => { for (const each of $("detail").querySelectorAll("details")) each.open = true; });

    const arrive = () => {
      const query = new URLSearchParams(location.hash.slice(1));
      for (const name of Object.keys(state)) state[name] = query.get(name) || "";
      if (!Object.hasOwn(read, state.sort.replace(/^-/, ""))) state.sort = "";
      const place = state.v && !state.page ? found().findIndex((row) => row.key === state.v) : 0;
      state.page = Math.trunc(state.page) || Math.floor(place / PAGE) + 1;
      draw();
      if (state.v) show();
    };
    addEventListener("hashchange", () => { if (!location.hash || location.hash.includes("=")) arrive(); });
    $("browser").hidden = false;
    arrive();
    root.dataset.ready = "1";
  };

  const fold = (title, open, ...children) => make("details", open ? { open: "" } : {}, make("summary", {}, title), ...children);

  // The longest common subsequence of two lists, as pairs of places; the ends that agree are cut off first.
  const common = (a, b) => {
    let head = 0, tail = 0;
    while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
    while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
    const pairs = Array.from({ length: head }, (_, n) => [n, n]);
    const n = a.length - head - tail, m = b.length - head - tail;
    if (n && m && n * m <= CELLS) {
      const best = Array.from({ length: n + 1 }, () => new Uint16Array(m + 1));
      for (let i = n - 1; i >= 0; i -= 1)
        for (let j = m - 1; j >= 0; j -= 1)
          best[i][j] = a[head + i] === b[head + j] ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
      for (let i = 0, j = 0; i < n && j < m;) {
        if (a[head + i] === b[head + j]) { pairs.push([head + i, head + j]); i += 1; j += 1; }
        else if (best[i + 1][j] >= best[i][j + 1]) i += 1; else j += 1;
      }
    }
    for (let k = tail; k > 0; k -= 1) pairs.push([a.length - k, b.length - k]);
    return pairs;
  };

  // A very long line is cut round the first place where it differs from the other.
  const cut = (line, other) => {
    if (line.length <= LONG) return line;
    let at = 0;
    while (at < line.length && line[at] === other[at]) at += 1;
    const from = at < line.length ? Math.max(0, at - LONG / 2) : 0;
    return `${from ? "…" : ""}${line.slice(from, from + LONG)}… (${count(line.length, "character")})`;
  };

  const inside = (mine, other) => {
    const [parts, others] = [cut(mine, other), cut(other, mine)].map((text) => text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) || []);
    const kept = new Set(common(parts, others).map(([at]) => at));
    return parts.map((part, at) => (kept.has(at) ? plain(part) : make("mark", {}, plain(part))));
  };

  const diff = (before, after) => {
    const a = before.split(/\r?\n/), b = after.split(/\r?\n/), lines = [];
    let i = 0, j = 0;
    for (const [x, y] of [...common(a, b), [a.length, b.length]]) {
      while (i < x || j < y) lines.push([i < x ? i++ : null, j < y ? j++ : null, true]);
      if (x < a.length) lines.push([i++, j++, false]);
    }
    const side = (text, at, other, changed, sign, name) => {
      if (at === null) return [make("td", { class: "pad" }), make("td", { class: "pad" })];
      const parts = changed && other !== undefined ? inside(text, other) : [plain(cut(text, ""))];
      return [make("td", { class: `at ${changed ? name : ""}` }, `${at + 1}${changed ? sign : ""}`), make("td", { class: changed ? name : "" }, ...parts)];
    };
    const draw = ([x, y, changed]) => make("tr", { class: changed ? "changed" : "same" },
      ...side(a[x], x, b[y], changed, " −", "gone"), ...side(b[y], y, a[x], changed, " +", "new"));
    const near = lines.map((_, at) => lines.slice(Math.max(0, at - NEAR), at + NEAR + 1).some((line) => line[2]));
    const body = make("tbody"), frame = make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "difference" });
    for (let at = 0, end; at < lines.length; at = end) {
      for (end = at + 1; end < lines.length && !near[at] && !near[end];) end += 1;
      const run = lines.slice(at, end);
      if (run.length < 3) { body.append(...run.map(draw)); continue; }
      const button = make("button", { type: "button" }, `⋯ ${run.length} lines that are the same`);
      const line = make("tr", { class: "fold" }, make("td", { colspan: "4" }, button));
      button.addEventListener("click", () => { line.replaceWith(...run.map(draw)); frame.focus(); });
      body.append(line);
    }
    const head = make("tr", {}, ...["before", "after"].map((name) => make("th", { colspan: "2", scope: "colgroup" }, name)));
    const widths = [0, 1, 2, 3].map((n) => make("col", n % 2 ? {} : { class: "at" }));
    frame.append(make("table", { class: "diff" }, make("colgroup", {}, ...widths), make("thead", {}, head), body));
    return frame;
  };

  const SVG = "http://www.w3.org/2000/svg";
  const shape = (tag, props, ...children) => {
    const node = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(props)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  };
  // Layers from top to bottom, four lines side by side; within a layer in the order of the text.
  const graph = ({ lines, after, layers }) => {
    const wide = 220, high = 24, across = wide + 36, left = 96, most = 4, place = [], marks = [];
    let y = 8, widest = 1;
    for (let layer = 0; layer <= Math.max(...layers); layer += 1) {
      const own = lines.map((_, line) => line).filter((line) => layers[line] === layer);
      marks.push(shape("text", { x: 0, y: y + 16 }, `layer ${layer}`));
      own.forEach((line, n) => { place[line] = [left + (n % most) * across, y + Math.floor(n / most) * (high + 8)]; });
      widest = Math.max(widest, Math.min(own.length, most));
      y += Math.ceil(own.length / most) * (high + 8) + 26;
    }
    after.forEach((sources, line) => sources.forEach((source) => {
      const [x, top] = place[source], [u, end] = place[line], far = layers[line] - layers[source];
      const [from, to, bow] = [x + wide / 2, u + wide / 2, Math.min(32, 8 + 4 * far)];
      marks.push(shape("path", { class: "edge", d: far === 1
        ? `M${from},${top + high} C${from},${top + high + 20} ${to},${end - 20} ${to},${end}`
        : `M${x},${top + 12} C${x - bow},${top + 24} ${u - bow},${end} ${u},${end + 12}` }));
    }));
    lines.forEach((text, line) => {
      const [x, top] = place[line];
      marks.push(shape("rect", { class: "node", x, y: top, width: wide, height: high, rx: 4 }),
        shape("text", { x: x + 6, y: top + 16 }, short(text.trim(), 28), shape("title", {}, plain(text))));
    });
    const side = left + widest * across - 34;
    const words = lines.map((text, line) => `layer ${layers[line]}: ${plain(text.trim())}`).join("; ");
    return make("div", { class: "graph scroll", tabindex: "0", role: "region", "aria-label": "Dependence graph" },
      shape("svg", { width: side, height: y, viewBox: `0 0 ${side} ${y}`, role: "img", "aria-label": words }, ...marks));
  };

  const tell = (text) => { $("browser").hidden = false; $("browser").replaceChildren(make("p", { role: "alert" }, text)); };
  unpack($("data").textContent).then(start).catch((error) =>
    tell(`This browser cannot show the violations (${error.message}); "codeaudit explain" does.`));
})();
