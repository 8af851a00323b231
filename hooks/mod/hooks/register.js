// Report what the agent does to the Chorus watcher, from inside the client.
//
// Each report is one POST over the watcher's Unix socket. The client waits for the report before a tool call, so
// that the watcher can look at the files first, at most LIMIT_MS, and after a command, which may have taken long:
// there may be a notice for the model. It waits for no other report, and before an edit only if another call may be
// writing: else the report of its end, which holds the text it began with, is enough. Reports arrive in the order
// they were made. Without a watcher nothing happens and nothing is shown.
// docs/protocol.md describes the exchange.

// The watcher counts on it: chorus/agents/claude_code/mod/reports.py.
const LIMIT_MS = 200
// Before a turn, a process of its own may have to ask first whether the watcher works.
const TURN_LIMIT_MS = 250
// An edit that takes longer is reported before it has ended.
const QUICK_MS = 50
// A watcher is not started more often than this.
const PAUSE_MS = 5000
// While no watcher has heard of the session, it is told again this often, so many times.
const RETRY_MS = 1000
const RETRIES = 15
const POLL_URL = "http://chorus/answer"
const REPORT_URL = "http://chorus/report"
const OPEN_URL = "http://chorus/open"
// Tools that change no file, called often: see FREQUENT_TOOLS in chorus/model/tools.py.
const IGNORED_TOOLS = ["Glob", "Grep", "LS", "NotebookRead", "Read", "ToolSearch"]

// Tools that change the files they name and nothing else: the directory of the session stays.
const FILE_TOOLS = ["Edit", "MultiEdit", "NotebookEdit", "Write"]

// What `/chorus` does, and the command that does it. `/chorus pane` opens the pane.
const REVIEW = new Map([["status", "status"], ["undo", "revert"], ["keep", "keep"], ["land", "land"]])
const USAGE = "Usage: /chorus [status | pane | undo N… | keep N… | land LANE]"
const PANE = "chorus"
// Numbers of actions and names of lanes, and no options.
const WORD = /^[A-Za-z0-9][\w./:-]*$/
const REVIEW_LIMIT_MS = 20000

let hook // the hook program and its argument, which start a watcher
let wokenAt = 0
let socket // the watcher's socket, or null where Chorus did not start this client
let place = {} // the pane, as tmux names it in the environment
let session = {} // what classic events say about the session
let unheard = null // the start of the session, until a watcher has heard of it
let isInteractive = false
let late = false // a report was not answered in time: the client does not wait again until one is
let hung = false // the watcher hangs: a headless client reports nothing in this turn, the transcript tells the same
let alone = false // as of the last reply, no call but an edit of this client may be writing
let unanswered = 0 // reports on their way
const unreported = new Map() // edits of which nothing was reported yet, by id: the report and its timer
let dropped = 0 // how often the reports that waited behind a lost one were dropped
let open = 0 // actions that wait for review, as of the end of the last turn
let actions = [] // the newest actions, the newest first: n, id, text, status, open
const numbers = new Map() // the action numbers of this session's calls, by id
let queue = Promise.resolve()
const asked = new Map() // calls that may become a prompt, by tool and input: the call's id
let cwdNow // the directory of the session, until a call that may change it
const over = new Set() // calls that have ended while a prompt about them was open

async function start($) {
  socket = (await $.env.get("CHORUS_SOCKET")) || null
  if (socket) hook = [await $.env.get("CHORUS_HOOK"), await $.env.get("CHORUS_PROGRAM") || "chorus", "wake"]
  if (socket) place = { pane: await $.env.get("TMUX_PANE"), tmux: await $.env.get("TMUX") }
}

// Start a watcher, if none runs and the user did not stop it. The hook program knows.
async function wake($) {
  if (!hook[0] || Date.now() < wokenAt + PAUSE_MS) return
  wokenAt = Date.now()
  await $.process.run(["sh", ...hook], { timeoutMs: 2000 }).catch(() => null)
}

async function post($, url, body) {
  try {
    const answer = await $.http.fetch(url, { method: "POST", socketPath: socket, body: JSON.stringify(body) })
    return answer.ok ? JSON.parse(answer.text) : null
  } catch {
    void wake($)
    return null // no watcher, or not a reply of one
  }
}

// Report the start of the session again, if no watcher has heard of it: one that does not know the session does
// not read its transcript, which tells what happened before.
async function introduce($) {
  const report = { event: "hook", hook: unheard, ...place, session }
  if (unheard && (await post($, REPORT_URL, report))) unheard = null
  return !unheard
}

async function introduceSoon($, tries = RETRIES) {
  if (!unheard || !tries || !isInteractive) return
  await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
  queue = queue.then(() => introduce($)).catch(() => null)
  await queue
  await introduceSoon($, tries - 1)
}

async function deliver($, report) {
  if (report.hook && report.hook.hook_event_name === "SessionStart") unheard = report.hook
  // A watcher that hears of the session by another report takes the whole transcript for what it has missed.
  else if (!(await introduce($))) return null
  const reply = await post($, REPORT_URL, { ...report, ...place })
  if (reply && unheard === report.hook) unheard = null
  if (reply && reply.notice) {
    const content = [{ type: "text", text: reply.notice }]
    await $.session.append({ message: { type: "user", content } })
  }
  return reply
}

// Whether the watcher hangs. A headless client begins no turn and does not end while a request is open, up to 30
// seconds, and no request can be aborted: so before each turn a process asks, which can be.
async function isHanging($) {
  if (!hook[0]) return false
  const done = await $.process.run(["sh", hook[0], hook[1], "ping"], { timeoutMs: TURN_LIMIT_MS }).catch(() => null)
  return done === null || !done.stdout
}

// Send a report after all earlier ones, with the session and its turn as they are now.
function send($, made) {
  if (hung) return Promise.resolve(null)
  const known = dropped
  const report = { ...made, session }
  unanswered += 1
  const sent = queue.then(() => (known === dropped ? deliverInTime($, report) : null)).catch(() => null)
  queue = sent
  return sent.finally(() => (unanswered -= 1))
}

// One request that the client aborts is enough: those behind it would take as long.
async function deliverInTime($, report) {
  const started = Date.now()
  const reply = await deliver($, report)
  late = false
  alone = reply !== null && reply.alone === true
  if (!reply && Date.now() - started > LIMIT_MS) {
    dropped += 1
    hung = !isInteractive
  }
  return reply
}

// Send a report, and wait until the watcher has taken it, or no longer than the limit.
function sendAndWait($, report, limit = LIMIT_MS) {
  const sent = send($, report)
  if (late) return null
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      late = true
      resolve(null)
    }, limit)
    sent.then((reply) => {
      clearTimeout(timer)
      resolve(reply)
    })
  })
}

// Take an edit from those of which nothing was reported yet; return the report of its start.
function forget(call) {
  const found = unreported.get(call)
  if (!found) return null
  unreported.delete(call)
  clearTimeout(found.timer)
  return found.report
}

// Report the start of an edit that has not ended.
function announce($, call) {
  const report = forget(call)
  if (report) void send($, report)
}

function remember(e) {
  if (e.session_id) {
    session = {
      session_id: e.session_id,
      transcript_path: e.transcript_path,
      cwd: e.cwd,
      permission_mode: e.permission_mode,
      prompt_id: e.prompt_id,
    }
  }
}

function keyOf(tool, input) {
  return JSON.stringify([tool, Object.keys(input).sort().map((key) => [key, input[key]])])
}

// Wait for the user's answer in Chorus, in polls. The client's own dialog is open meanwhile, and may win.
async function waitForAnswer($, request, call) {
  while (!over.has(call)) {
    const reply = await post($, POLL_URL, { request })
    if (!reply || !reply.again) return reply ? reply.decision : null
  }
  return null
}

// Offer `/chorus` to the user. A client without commands of mods goes on without it.
async function offerReview($) {
  try {
    const description = "Review what the agent changed: pane, status, undo N, keep N, land LANE"
    await $.command.register({ name: "chorus", description, argumentHint: "[undo N]", immediate: true })
  } catch {}
}

// Ask what waits for review, and draw it again if that has changed.
async function refresh($) {
  if (!isInteractive) return
  const reply = (await post($, OPEN_URL, { cwd: session.cwd })) || {}
  const before = JSON.stringify([open, actions])
  open = reply.open || 0
  actions = Array.isArray(reply.actions) ? reply.actions : []
  for (const action of actions) numbers.set(action.id, action.n)
  if (JSON.stringify([open, actions]) !== before) $.ui.invalidate("ui.render")
}

// Remember the number of a call's action, and draw it next to the call.
function mark($, call, reply) {
  if (!isInteractive || !reply || !reply.number) return
  numbers.set(call, reply.number)
  $.ui.invalidate("ui.render")
}

function describe(call) {
  const known = actions.find((action) => action.id === call)
  return known && known.status !== "committed" ? ` · ${known.status}` : ""
}

async function openPane($) {
  await refresh($)
  const opened = await $.ui.open({ id: PANE, title: "Chorus", focus: true })
  if (!opened.isPlaced) return `Cannot open the pane: ${opened.reason}`
  return "The pane is open: Tab moves between its buttons, Enter presses one."
}

// What a button of the pane does.
async function press($, verb, number) {
  const text = await review($, `${verb} ${number}`)
  await refresh($)
  $.ui.toast(text.split("\n")[0])
}

// Run the command that the user typed, and return what it says.
async function review($, typed) {
  const [verb = "status", ...words] = typed.split(/\s+/).filter((word) => word)
  if (verb === "pane" && !words.length) return openPane($).catch(() => "This client has no panes.")
  if (!REVIEW.has(verb) || !words.every((word) => WORD.test(word))) return USAGE
  const argv = [hook[1], REVIEW.get(verb), ...words]
  const done = await $.process.run(argv, { timeoutMs: REVIEW_LIMIT_MS }).catch(() => null)
  if (!done) return `${argv.join(" ")} did not start, or took too long: run it in a terminal`
  return `${done.stdout}${done.stderr}`.trim() || "done"
}

export function register(on) {
  on("session.start", async ($, e, next) => {
    await start($)
    isInteractive = e.isInteractive === true
    if (socket && isInteractive) await offerReview($)
    return next(e)
  })

  // Only what the user typed: the agent does not review its own work.
  on("command.run", { command: "chorus" }, async ($, e, next) => {
    if (!socket || !isInteractive || !e.origin || e.origin.kind !== "composer") return next(e)
    const text = await review($, e.args || "")
    void refresh($).catch(() => null)
    return { text, isTextDisplayOnly: true }
  })

  on("tool.call", async ($, e, next) => {
    if (socket === undefined) await start($)
    if (!socket || IGNORED_TOOLS.includes(e.tool)) return next(e)
    const { tool, tool_use_id, agentId, ...input } = e
    const call = { tool, input, call: tool_use_id, agent: agentId }
    asked.set(keyOf(tool, input), tool_use_id)
    // Asked of the client only where it may have changed: that takes as long as the report.
    const namesFile = FILE_TOOLS.includes(tool)
    if (cwdNow === undefined || agentId || !namesFile) cwdNow = await $.session.cwd()
    const cwd = cwdNow
    if (agentId || !namesFile) cwdNow = undefined
    const report = { event: "before", ...call, cwd }
    if (namesFile && alone && !unanswered) {
      const timer = setTimeout(() => announce($, tool_use_id), QUICK_MS)
      unreported.set(tool_use_id, { report, timer })
    } else {
      for (const edit of unreported.keys()) announce($, edit) // this call may write while they do
      await sendAndWait($, { ...report, time: Date.now() })
    }
    try {
      const done = await next(e)
      const { result, isError, deny } = done
      const text = isError ? done.text : undefined
      forget(tool_use_id)
      // While a command ran, the user may have reverted something: the model reads that with its next request.
      const ended = { event: "after", ...call, cwd, result, text, isError, deny }
      if (namesFile) void send($, ended).then((reply) => mark($, tool_use_id, reply)).catch(() => null)
      else mark($, tool_use_id, await sendAndWait($, ended))
      return done
    } finally {
      over.add(tool_use_id)
      announce($, tool_use_id) // if it has thrown
    }
  })

  on("classic.PermissionRequest", async ($, e, next) => {
    remember(e)
    // A headless client asks over the control protocol, if at all.
    if (!socket || !isInteractive) return next(e)
    const call = asked.get(keyOf(e.tool_name, e.tool_input))
    announce($, call)
    // Without a limit: the dialog is open meanwhile, and holds nobody up.
    const reply = await send($, { event: "hook", hook: { ...e, tool_use_id: call } })
    if (!reply || !reply.request) return next(e)
    const decision = await waitForAnswer($, reply.request, call)
    return decision ? { decision } : next(e)
  })

  on("classic.UserPromptSubmit", async ($, e, next) => {
    remember(e)
    const started = Date.now()
    if (socket && !isInteractive) hung = await isHanging($)
    // For both together.
    if (socket) await sendAndWait($, { event: "hook", hook: e }, started + TURN_LIMIT_MS - Date.now())
    return next(e)
  })

  on("classic.SessionStart", async ($, e, next) => {
    if (socket === undefined) await start($)
    remember(e)
    if (socket && !isInteractive) hung = await isHanging($)
    if (socket) void send($, { event: "hook", hook: e }).then(() => introduceSoon($)).catch(() => null)
    return next(e)
  })

  on("classic.SessionEnd", async ($, e, next) => {
    if (socket) void send($, { event: "hook", hook: e })
    return next(e)
  })

  on("classic.Stop", async ($, e, next) => {
    remember(e)
    asked.clear()
    over.clear()
    if (socket) void send($, { event: "hook", hook: e }).then(() => refresh($)).catch(() => null)
    return next(e)
  })

  // What the session has cost so far, once after each turn. The result of a headless client says the same.
  on("session.measure", async ($, e, next) => {
    if (socket && isInteractive) void send($, { event: "measure", cost: e.cost, context: e.context })
    return next(e)
  })

  // One line above the input box. Without a watcher, or with nothing to review, there is none.
  on("ui.render", { component: "AbovePrompt" }, async ($, e, next) => {
    if (!open || e.surface !== "terminal" || e.props.hasSurvey) return next(e)
    const { Text } = $.ui.resolve(e)
    return Text({ dimColor: true, children: `chorus: ${open} open · /chorus` })
  })

  // The action's number, under the row of the call.
  on("ui.render", { component: "ToolUse" }, async ($, e, next) => {
    const drawn = await next(e)
    const number = numbers.get(e.requestId)
    if (!number || e.surface !== "terminal") return drawn
    const { Box, Text } = $.ui.resolve(e)
    const label = Text({ dimColor: true, children: `     chorus #${number}${describe(e.requestId)}` })
    return Box({ flexDirection: "column", children: [drawn, label] })
  })

  // The newest actions, with buttons for those that wait for review.
  on("ui.render", { component: "Pane", requestId: PANE }, async ($, e, next) => {
    if (e.surface !== "terminal") return next(e)
    const { Box, Text, Button } = $.ui.resolve(e)
    const rows = actions.map(({ n, text, status, open: waits }) => {
      const label = Text({ children: `#${n} ${text}` })
      const keep = () => Button({ key: `keep${n}`, label: "keep", onPress: () => press($, "keep", n) })
      const undo = () => Button({ key: `undo${n}`, label: "revert", onPress: () => press($, "undo", n) })
      const rest = waits ? [keep(), undo()] : [Text({ dimColor: true, children: status })]
      return Box({ key: `action${n}`, flexDirection: "row", columnGap: 1, children: [label, ...rest] })
    })
    const title = Text({ dimColor: true, children: `${open} open` })
    return Box({ flexDirection: "column", children: [title, ...rows] })
  })

  on("classic.SubagentStop", async ($, e, next) => {
    if (socket) void send($, { event: "hook", hook: e })
    return next(e)
  })
}
