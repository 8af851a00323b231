// The inbox in a browser. Text is only ever set as text (textContent), never as markup.

// A press sooner than this after the page moved was meant for what was there before.
const GUARD_MS = 400;
const RETRY_MS = 1000;
const TOAST_MS = 6000;
const REVERT_MS = 4000;

const byId = (id) => document.getElementById(id);
const cards = new Map(); // repository and prompt -> its card
const rows = new Map(); // repository and action -> its row
let guardUntil = 0;
let connected = false;
let readOnly = false;
let toastTimer = 0;

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function button(text, className, press, key) {
  const made = element("button", className);
  made.type = "button";
  if (key) made.append(element("kbd", "", key));
  made.append(text);
  made.addEventListener("click", (event) => press(event));
  return made;
}

function toast(text, { bad = false, undo } = {}) {
  const box = byId("toast");
  box.replaceChildren(element("span", "", text));
  if (undo) box.append(button("Undo", "", undo));
  box.className = bad ? "bad" : "";
  box.hidden = false;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => { box.hidden = true; }, TOAST_MS);
}

function localTime(text) {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? "" : time.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
}

// ---- Requests

const savedKey = () => localStorage.getItem("chorus-key") || "";

async function request(path, body) {
  const headers = { "Chorus-Key": savedKey() };
  const options = { headers, cache: "no-store", credentials: "same-origin" };
  if (body !== undefined) {
    options.method = "POST";
    headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  const response = await fetch(path, options);
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error([answer.error || `error ${response.status}`, answer.hint].filter(Boolean).join(". "));
  return answer;
}

async function logIn() {
  const token = location.hash.slice(1);
  if (!token) return;
  history.replaceState(null, "", "/");
  try {
    localStorage.setItem("chorus-key", (await request("/login", { token })).key);
  } catch (error) {
    if (!savedKey()) throw error;
  }
}

async function follow() {
  while (true) {
    let text = "connection lost; trying again…";
    try {
      const response = await fetch("/events", { headers: { "Chorus-Key": savedKey() }, cache: "no-store" });
      if (response.status === 401) return lose("no access: press Enter where `chorus inbox --web` runs for a new link");
      if (response.ok) await readEvents(response.body.getReader());
    } catch (error) {
      text = "connection lost; trying again…";
    }
    lose(text);
    await new Promise((done) => setTimeout(done, RETRY_MS));
  }
}

async function readEvents(reader) {
  const decoder = new TextDecoder();
  let unread = "";
  while (true) {
    const { done, value } = await reader.read();
    if (done) return;
    unread += decoder.decode(value, { stream: true });
    const events = unread.split("\n\n");
    unread = events.pop();
    const newest = events.filter((event) => event.startsWith("data: ")).pop();
    connected = true;
    byId("link").className = "";
    byId("link").textContent = readOnly ? "read-only" : "live";
    if (newest) show(JSON.parse(newest.slice("data: ".length)));
  }
}

function lose(text) {
  connected = false;
  byId("link").className = "lost";
  byId("link").textContent = text;
  for (const card of cards.values()) updateButtons(card);
}

// ---- What is shown

function show(state) {
  document.querySelector("main").hidden = false;
  readOnly = state.readOnly;
  byId("link").textContent = readOnly ? "read-only" : "live";
  byId("problem").hidden = !state.problem;
  byId("problem").textContent = state.problem || "";
  showPrompts(state.repositories);
  showRepositories(state.repositories);
  const waiting = cards.size;
  const open = state.repositories.reduce((sum, one) => sum + one.open, 0);
  byId("sums").textContent = [waiting && `${waiting} waiting`, open && `${open} open`].filter(Boolean).join(" · ");
  document.title = waiting ? `(${waiting}) Chorus inbox` : "Chorus inbox";
}

function showPrompts(repositories) {
  const present = new Map();
  for (const repository of repositories) {
    for (const prompt of repository.prompts) present.set(`${repository.key} ${prompt.id}`, { repository, prompt });
  }
  let moved = false;
  for (const [key, card] of cards) {
    if (!present.has(key)) {
      const next = card.root.contains(document.activeElement) && (card.root.nextElementSibling || card.root.previousElementSibling);
      card.root.remove();
      cards.delete(key);
      moved = true;
      if (next) next.focus({ preventScroll: true });
    }
  }
  for (const [key, { repository, prompt }] of present) {
    const { offer, ...content } = prompt;
    const text = JSON.stringify([repository.name, content, readOnly]);
    const card = cards.get(key);
    if (card && card.text === text) {
      card.offer = offer;
      updateButtons(card);
      continue;
    }
    const made = makeCard(repository, prompt, text);
    if (card) card.root.replaceWith(made.root);
    else byId("prompts").append(made.root);
    cards.set(key, made);
    moved = true;
  }
  if (moved) guardUntil = performance.now() + GUARD_MS;
  byId("no-prompts").hidden = cards.size > 0;
}

const seen = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting) entry.target.dataset.seen = "yes";
});

function makeCard(repository, prompt, text) {
  const root = element("article", "card");
  root.tabIndex = 0;
  const about = element("div", "about");
  about.append(element("span", "name", repository.name), element("span", "", prompt.session), element("time", "", localTime(prompt.since)));
  const head = element("h3", "", prompt.title);
  root.append(about, head);
  if (prompt.path) root.append(element("p", "path", prompt.path));
  if (prompt.lines.length && !prompt.questions) root.append(lines(prompt.lines));
  if (!prompt.questions) root.append(element("p", "question", prompt.question));
  if (prompt.warning) root.append(element("p", "warning", prompt.warning));
  const foot = element("div", "buttons");
  const card = { root, head, foot, prompt, text, offer: prompt.offer, sent: false, buttons: [] };
  root.card = card;
  if (!readOnly && !prompt.unknown) {
    if (prompt.questions) addQuestions(card, root);
    else addOptions(card, foot);
    if (!prompt.questions || prompt.options.some((option) => option.meaning === "deny")) addDenial(card, foot);
  }
  root.append(foot);
  seen.observe(head);
  seen.observe(foot);
  updateButtons(card);
  return card;
}

function lines(pairs) {
  const kinds = { "+": "plus", "-": "minus", "@": "hunk", "=": "file" };
  const pre = element("pre");
  for (const [kind, text] of pairs) pre.append(element("span", kinds[kind] || "", text));
  return pre;
}

function addOptions(card, foot) {
  const letters = { allow: "a", "allow-always": "A", deny: "d" };
  card.prompt.options.forEach((option, index) => {
    const key = letters[option.meaning] || option.digit;
    const press = (event) => {
      if (option.text) openMessage(card, "Your answer", "Answer", (message) => send(card, { decision: "option", option: index, message }, event));
      else send(card, { decision: "option", option: index }, event, option.meaning);
    };
    const made = button(option.label, option.meaning, press, key);
    made.approves = option.meaning.startsWith("allow");
    card.buttons.push(made);
    foot.append(made);
  });
}

function addDenial(card, foot) {
  if (!card.prompt.options.some((option) => option.meaning === "deny")) return;
  const made = button("Deny with a message…", "", () => openDenial(card), "D");
  card.buttons.push(made);
  foot.append(made);
}

function openDenial(card) {
  openMessage(card, "What should the agent do instead?", "Deny", (message, event) => send(card, { decision: "deny", message }, event, "deny"));
}

function openMessage(card, placeholder, verb, submit) {
  card.root.querySelector(".message")?.remove();
  const form = element("div", "message");
  const field = element("textarea");
  field.placeholder = placeholder;
  field.rows = 1;
  const done = (event) => { if (field.value.trim()) submit(field.value, event); };
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); done(event); }
    if (event.key === "Escape") { form.remove(); card.root.focus(); }
  });
  const sendButton = button(verb, verb === "Deny" ? "deny" : "", done);
  form.append(field, sendButton, button("Cancel", "", () => form.remove()));
  card.root.append(form);
  field.focus();
}

function addQuestions(card, root) {
  const groups = card.prompt.questions.map((question, number) => {
    const group = element("fieldset");
    group.append(element("legend", "", [question.heading, question.question].filter(Boolean).join(": ")));
    const boxes = question.choices.map((choice, index) => {
      const label = element("label");
      const box = element("input");
      box.type = question.several ? "checkbox" : "radio";
      box.name = `question-${number}`;
      box.value = String(index);
      const text = element("span", "", choice.label);
      if (choice.description) text.append(element("small", "", choice.description));
      label.append(box, text);
      group.append(label);
      return box;
    });
    const own = element("input");
    own.type = "text";
    own.placeholder = "or in your own words";
    own.addEventListener("input", () => { if (own.value && !question.several) boxes.forEach((box) => { box.checked = false; }); });
    group.append(own);
    root.append(group);
    return { boxes, own };
  });
  const answer = (event) => {
    const answers = groups.map(({ boxes, own }) => ({
      choices: boxes.filter((box) => box.checked).map((box) => Number(box.value)),
      text: own.value.trim() || null,
    }));
    send(card, { decision: "answers", answers }, event);
  };
  const made = button("Answer", "allow", answer);
  card.buttons.push(made);
  card.foot.append(made);
  const denial = card.prompt.options.findIndex((option) => option.meaning === "deny");
  if (denial >= 0) {
    const deny = button(card.prompt.options[denial].label, "deny", (event) => send(card, { decision: "deny" }, event), "d");
    card.buttons.push(deny);
    card.foot.append(deny);
  }
}

function updateButtons(card) {
  for (const one of card.buttons) one.disabled = !connected || !card.offer || card.sent || (one.approves && Boolean(card.prompt.warning));
}

async function send(card, answer, event, meaning = "") {
  const pressed = event ? event.timeStamp : performance.now();
  if (pressed < guardUntil) return toast("The page has just changed: look at it, then press again.");
  if (meaning.startsWith("allow") && !wasShown(card)) return;
  if (!connected) return toast("Not connected: nothing was sent.");
  if (!card.offer || card.sent) return toast("The answer is already being sent.");
  card.sent = true;
  const { offer } = card;
  updateButtons(card);
  try {
    await request("/answer", { offer, ...answer });
    toast("Answered.");
  } catch (error) {
    card.sent = false;
    toast(error.message, { bad: true });
  }
  updateButtons(card);
}

// What is approved must have been on the screen, from its beginning to its end.
function wasShown(card) {
  if (card.prompt.warning) { toast(card.prompt.warning, { bad: true }); return false; }
  for (const part of [card.head, card.foot]) {
    if (part.dataset.seen !== "yes") {
      part.scrollIntoView({ block: "center" });
      toast("Part of the prompt was hidden: read it, then press again.");
      return false;
    }
  }
  return true;
}

// ---- Repositories and review

function showRepositories(repositories) {
  const list = byId("repositories");
  const before = new Map([...list.children].map((child) => [child.dataset.key, child]));
  const kept = new Set();
  const wanted = repositories.map((repository) => {
    const { prompts, ...content } = repository;
    const text = JSON.stringify([content, readOnly]);
    const known = before.get(repository.key);
    if (known && known.text === text) {
      for (const row of known.querySelectorAll(".action")) kept.add(row.key);
      return known;
    }
    const made = makeRepository(repository, kept);
    made.dataset.key = repository.key;
    made.text = text;
    return made;
  });
  for (const key of rows.keys()) if (!kept.has(key)) rows.delete(key);
  const focused = document.activeElement && document.activeElement.closest(".action");
  if (wanted.length !== list.children.length || wanted.some((one, index) => list.children[index] !== one)) {
    list.replaceChildren(...wanted);
    guardUntil = Math.max(guardUntil, performance.now() + GUARD_MS);
    if (focused && focused.isConnected) focused.focus({ preventScroll: true });
  }
  byId("no-repositories").hidden = repositories.length > 0;
}

function makeRepository(repository, kept) {
  const root = element("article", `repository ${repository.state}`);
  root.append(element("h3", "", repository.name), element("p", "path", repository.path));
  if (repository.state === "stopped") root.append(element("p", "path", "no watcher is running"));
  if (repository.problem) root.append(element("p", "warning", repository.problem));
  if (repository.sessions.length) {
    const list = element("ul", "sessions");
    for (const session of repository.sessions) {
      const item = element("li");
      item.append(element("span", `state ${session.state}`, session.label), element("span", "", session.name));
      const details = [session.model, session.cost === null || session.cost === undefined ? "" : `$${session.cost.toFixed(2)}`].filter(Boolean).join(" · ");
      if (details) item.append(element("span", "state", details));
      if (session.error) item.append(element("div", "warning", session.error));
      list.append(item);
    }
    root.append(list);
  }
  if (repository.open) root.append(element("p", "path", `${repository.open} open`));
  for (const action of repository.actions) {
    const key = `${repository.key} ${action.id}`;
    const text = JSON.stringify([action, readOnly]);
    let row = rows.get(key);
    if (!row || row.text !== text) {
      row = makeAction(repository, action);
      row.text = text;
      row.key = key;
      rows.set(key, row);
    }
    kept.add(key);
    root.append(row);
  }
  if (repository.open > repository.actions.length) root.append(element("p", "path", `… ${repository.open - repository.actions.length} more: chorus log --open`));
  return root;
}

function makeAction(repository, action) {
  const root = element("div", "action");
  root.tabIndex = 0;
  const row = element("button", "row");
  row.type = "button";
  row.setAttribute("aria-expanded", "false");
  row.append(element("span", "summary", action.summary || action.path));
  const detail = element("span", "detail", `${action.n} ${action.tool} ${action.path}${action.more ? ` and ${action.more} more` : ""} `);
  if (action.added) detail.append(element("span", "added", `+${action.added} `));
  if (action.removed) detail.append(element("span", "removed", `−${action.removed} `));
  detail.append(localTime(action.time));
  row.append(detail);
  root.append(row);
  const review = (does, pressed) => reviewAction(repository, action, does, pressed);
  root.toggle = () => toggleDiff(root, row, repository, action, review);
  root.keep = (event) => review("keep", event);
  root.revert = (event) => askRevert(root, review, event);
  row.addEventListener("click", root.toggle);
  return root;
}

async function toggleDiff(root, row, repository, action) {
  const open = root.querySelector(".diff");
  row.setAttribute("aria-expanded", String(!open));
  if (open) return open.remove();
  const box = element("div", "diff");
  root.append(box);
  try {
    const query = new URLSearchParams({ repository: repository.key, id: action.id });
    box.append(lines((await request(`/action?${query}`)).lines));
  } catch (error) {
    box.append(element("p", "warning", error.message));
  }
  if (!readOnly) {
    const buttons = element("div", "buttons");
    const revert = button("Revert", "deny", (event) => root.revert(event), "r");
    root.revertButton = revert;
    buttons.append(button("Keep", "allow", (event) => root.keep(event), "x"), revert);
    box.append(buttons);
  }
}

function askRevert(root, review, event) {
  if (root.revertAsked) {
    root.revertAsked = false;
    return review("revert", event);
  }
  root.revertAsked = true;
  if (root.revertButton) root.revertButton.lastChild.textContent = "Revert: press again";
  else toast("Press r again to revert the action.");
  setTimeout(() => {
    root.revertAsked = false;
    if (root.revertButton) root.revertButton.lastChild.textContent = "Revert";
  }, REVERT_MS);
}

async function reviewAction(repository, action, does, event) {
  if (readOnly) return;
  if (event && event.timeStamp < guardUntil) return toast("The page has just changed: look at it, then press again.");
  const ask = (what) => request("/review", { do: what, repository: repository.key, id: action.id });
  const words = { keep: "Kept", revert: "Reverted" };
  const opposite = { keep: "reopen", revert: "redo" };
  try {
    await ask(does);
    const undo = () => ask(opposite[does]).then(() => toast("Undone."), (error) => toast(error.message, { bad: true }));
    toast(`${words[does]}: ${action.summary || action.path}`, { undo });
  } catch (error) {
    toast(error.message, { bad: true });
  }
}

// ---- Keys

function step(by) {
  const all = [...document.querySelectorAll(".card, .action")];
  const at = all.indexOf(document.activeElement && document.activeElement.closest(".card, .action"));
  const next = all[Math.min(Math.max(at + by, 0), all.length - 1)];
  if (next) {
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
  }
}

function pressOption(card, find, event) {
  const index = card.prompt.options.findIndex(find);
  if (index < 0 || card.prompt.questions) return;
  const made = card.buttons[index];
  if (made && !made.disabled) {
    const option = card.prompt.options[index];
    if (option.text) made.click();
    else send(card, { decision: "option", option: index }, event, option.meaning);
  } else if (card.prompt.warning) toast(card.prompt.warning, { bad: true });
}

document.addEventListener("keydown", (event) => {
  const target = event.target;
  if (event.ctrlKey || event.metaKey || event.altKey || target.closest("textarea, input, dialog")) return;
  const card = (target.closest(".card") || (cards.size === 1 && !target.closest(".action") ? [...cards.values()][0].root : null))?.card;
  const action = target.closest(".action");
  const meanings = { a: "allow", A: "allow-always", d: "deny" };
  if (event.key === "?") byId("help").showModal();
  else if (event.key === "j" || event.key === "ArrowDown") step(1);
  else if (event.key === "k" || event.key === "ArrowUp") step(-1);
  else if (card && meanings[event.key]) pressOption(card, (option) => option.meaning === meanings[event.key], event);
  else if (card && event.key === "D" && card.buttons.length && !card.buttons[0].disabled) openDenial(card);
  else if (card && /^[1-9]$/.test(event.key)) pressOption(card, (option) => option.digit === event.key, event);
  else if (action && event.key === "Enter" && target === action) action.toggle();
  else if (action && event.key === "x" && !readOnly) action.keep(event);
  else if (action && event.key === "r" && !readOnly) action.revert(event);
  else return;
  event.preventDefault();
});

byId("help-button").addEventListener("click", () => byId("help").showModal());

// Another link opened in this tab differs only after its #, for which a browser does not load the page again.
addEventListener("hashchange", () => { if (location.hash) location.reload(); });
logIn().then(follow, (error) => lose(error.message));
