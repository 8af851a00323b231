// The mod in the client's own test host: `claude plugin test`, run by tests/e2e/test_mod.py.
import { expect, mock, test } from "claude-code/testing"

const ENVIRONMENT = { CHORUS_SOCKET: "/run/watcher.sock", CHORUS_HOOK: "/hooks/chorus-hook", CHORUS_PROGRAM: "chorus" }
const EDIT = { tool: "Edit", tool_use_id: "toolu_1", file_path: "/p/a.py", old_string: "a", new_string: "b" }
const ANSWER = { status: 200, ok: true, headers: {} }

function reply(value) {
  return { value: { ...ANSWER, text: JSON.stringify(value) } }
}

// Play the watcher, with this answer to each request; return the requests.
function watch(on, answer = (path, body) => reply({}), environment = ENVIRONMENT, pause = () => null) {
  const requests = []
  mock.env(on, environment)
  on("http.fetch", async ($, e) => {
    const path = new URL(e.url).pathname
    const body = JSON.parse(e.init.body)
    requests.push({ path, socket: e.init.socketPath, ...body })
    return answer(path, body)
  })
  on("tool.call", async () => {
    await pause()
    return { result: { filePath: "/p/a.py" }, text: "done" }
  })
  on("session.cwd", async () => ({ value: "/p" }))
  return requests
}

function events(requests) {
  return requests.filter((request) => request.path === "/report").map((request) => request.event)
}

async function settled(condition) {
  for (let n = 0; n < 100 && !condition(); n++) await new Promise((resolve) => setTimeout(resolve, 10))
  expect(Boolean(condition())).toBe(true)
}

test("each call is reported before and after it runs, over the watcher's socket", async ($, on) => {
  const requests = watch(on)
  const done = await $.tool.call(EDIT)
  expect(done.text).toBe("done")
  await settled(() => requests.length === 2)
  expect(events(requests)).toEqual(["before", "after"])
  expect(requests[0].socket).toBe("/run/watcher.sock")
  expect(requests[0].call).toBe("toolu_1")
  expect(requests[1].result).toEqual({ filePath: "/p/a.py" })
})

// Let the client edit until the mod has read that nothing else may be writing: then an edit is one report.
async function editUntilAlone($, requests) {
  for (let n = 0; n < 100; n++) {
    const call = `toolu_alone_${n}`
    const mine = () => events(requests.filter((request) => request.call === call))
    await $.tool.call({ ...EDIT, tool_use_id: call })
    await settled(() => mine().includes("after"))
    if (mine().length === 1) return requests.splice(0)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error("each edit is reported before it runs")
}

test("an edit is reported once if nothing else may be writing, a command before it runs", async ($, on) => {
  const requests = watch(on, () => reply({ alone: true }))
  await editUntilAlone($, requests)
  await $.tool.call({ tool: "Bash", tool_use_id: "toolu_3", command: "true" })
  expect(events(requests)).toEqual(["before", "after"])
})

test("an edit is reported before it runs until the watcher has answered what came before", async ($, on) => {
  let held = null
  const requests = watch(on, async (path, body) => {
    if (body.call === "toolu_2" && body.event === "after") await new Promise((resolve) => (held = resolve))
    return reply({ alone: true })
  })
  await editUntilAlone($, requests)
  await $.tool.call({ ...EDIT, tool_use_id: "toolu_2" })
  await settled(() => held)
  const third = $.tool.call({ ...EDIT, tool_use_id: "toolu_3" })
  held()
  await third
  const reported = () => events(requests.filter((request) => request.call === "toolu_3"))
  await settled(() => reported().includes("after"))
  expect(reported()).toEqual(["before", "after"])
})

test("an edit that takes its time is reported before it ends", async ($, on) => {
  let isSlow = false
  const requests = watch(on, () => reply({ alone: true }), ENVIRONMENT, async () => {
    if (isSlow) await settled(() => requests.length === 1)
  })
  await editUntilAlone($, requests)
  isSlow = true
  await $.tool.call({ ...EDIT, tool_use_id: "toolu_2" })
  await settled(() => requests.length === 2)
  expect(events(requests)).toEqual(["before", "after"])
})

test("an edit that is under way is reported before a command that starts beside it", async ($, on) => {
  let beside = null // what starts while the edit runs
  const requests = watch(on, () => reply({ alone: true }), ENVIRONMENT, async () => {
    if (beside) await beside()
  })
  await editUntilAlone($, requests)
  await new Promise((resolve) => setTimeout(resolve, 20)) // until the last reply is read
  let known = null
  beside = async () => {
    beside = null
    known = requests.length
    await $.tool.call({ tool: "Bash", tool_use_id: "toolu_3", command: "true" })
  }
  await $.tool.call({ ...EDIT, tool_use_id: "toolu_2" })
  expect(known).toBe(0)
  expect(requests.slice(0, 2).map(({ event, call }) => [event, call])).toEqual([
    ["before", "toolu_2"],
    ["before", "toolu_3"],
  ])
})

test("a watcher that comes late hears of the session before anything else", async ($, on) => {
  let isThere = false
  const requests = watch(on, () => (isThere ? reply({}) : { value: { ...ANSWER, ok: false, status: 500, text: "" } }))
  on("classic.SessionStart", async () => ({ value: null }))
  on("process.run", async () => ({ value: { stdout: "works", stderr: "", exitCode: 0 } })) // its answer to a ping
  const start = { hook_event_name: "SessionStart", session_id: "s1", transcript_path: "/t.jsonl", source: "startup" }
  await $.classic.SessionStart(start)
  await settled(() => requests.length === 1)
  requests.splice(0)
  isThere = true
  await $.tool.call(EDIT)
  await settled(() => requests.length === 3)
  expect(requests[0].hook.hook_event_name).toBe("SessionStart")
  expect(events(requests)).toEqual(["hook", "before", "after"])
})

test("a report that waits behind others names the turn in which it was made", async ($, on) => {
  let letGo = null
  const requests = watch(on, async (path, body) => {
    if (body.call === "toolu_1" && body.event === "before") await new Promise((resolve) => (letGo = resolve))
    return reply({})
  })
  on("classic.UserPromptSubmit", async () => ({ value: null }))
  const submit = { hook_event_name: "UserPromptSubmit", session_id: "s1", transcript_path: "/t.jsonl", cwd: "/p" }
  await $.classic.UserPromptSubmit({ ...submit, prompt_id: "p1", prompt: "one" })
  await $.tool.call(EDIT)
  await $.classic.UserPromptSubmit({ ...submit, prompt_id: "p2", prompt: "two" })
  letGo()
  await settled(() => events(requests).includes("after"))
  const calls = requests.filter((request) => request.call)
  expect(calls.map((request) => request.session.prompt_id)).toEqual(["p1", "p1"])
})

test("a watcher hears of nothing before it has heard of the session", async ($, on) => {
  // The first request after the first watcher was killed may fail although the next watcher is there.
  let failures = 2
  const requests = watch(on, () =>
    failures-- > 0 ? { value: { ...ANSWER, ok: false, status: 500, text: "" } } : reply({}),
  )
  on("classic.SessionStart", async () => ({ value: null }))
  on("process.run", async () => ({ value: { stdout: "works", stderr: "", exitCode: 0 } }))
  const start = { hook_event_name: "SessionStart", session_id: "s1", transcript_path: "/t.jsonl", source: "startup" }
  await $.classic.SessionStart(start)
  await settled(() => requests.length === 1)
  await $.tool.call(EDIT)
  await settled(() => requests.length === 4)
  expect(requests.map((request) => (request.hook ? request.hook.hook_event_name : request.event))).toEqual([
    "SessionStart",
    "SessionStart",
    "SessionStart",
    "after",
  ])
})

test("a client that Chorus did not start sends nothing", async ($, on) => {
  const requests = watch(on, undefined, {})
  expect((await $.tool.call(EDIT)).text).toBe("done")
  expect(requests).toEqual([])
})

test("a call runs when the watcher answers rubbish, an error or nothing", async ($, on) => {
  const answers = [
    () => ({ value: { ...ANSWER, text: "{[" } }),
    () => ({ value: { ...ANSWER, status: 500, ok: false, text: "{}" } }),
    () => new Promise(() => {}),
  ]
  watch(on, () => answers.length && answers.shift()())
  const started = Date.now()
  for (const name of ["toolu_1", "toolu_2", "toolu_3"]) {
    expect((await $.tool.call({ ...EDIT, tool_use_id: name })).text).toBe("done")
  }
  expect(Date.now() - started < 2000).toBe(true)
})

test("a notice is added to the conversation", async ($, on) => {
  const session = mock.session(on)
  watch(on, (path, body) => reply(body.event === "before" ? { notice: "The user reverted action 12." } : {}))
  await $.tool.call(EDIT)
  await settled(() => session.appended().length === 1)
  expect(JSON.stringify(session.appended()[0].message)).toMatch(/The user reverted action 12/)
})

test("the pane has a button for each action that waits, and runs the command", async ($, on) => {
  const action = { id: "toolu_1", text: "Edit a.py", status: "committed" }
  const open = { open: 1, actions: [{ ...action, n: 3, open: true }, { ...action, n: 2, open: false, status: "kept" }] }
  watch(on, (path) => reply(path === "/open" ? open : {}))
  const commands = []
  on("process.run", async ($, e) => {
    commands.push(e.argv.join(" "))
    return { value: { exitCode: 0, stdout: "kept 3\n", stderr: "" } }
  })
  on("ui.open", async () => ({ value: { isPlaced: true } }))
  on("command.register", async () => ({ value: {} }))
  on("session.start", async ($, e) => e)
  on("ui.invalidate", async () => ({ value: undefined }))
  on("ui.toast", async () => ({ value: undefined }))
  await $.session.start({ cwd: "/p", surface: "terminal", isInteractive: true })
  await $.command.run({ command: "chorus", args: "pane", origin: { kind: "composer" } })
  const pane = await $.ui.mount({
    plugin: "chorus", surface: "terminal", component: "Pane", requestId: "chorus", props: {},
  })
  expect((await pane.findAll({ type: "Button" })).length).toBe(2)
  await pane.press({ key: "keep3" })
  expect(commands).toEqual(["chorus keep 3"])
})
