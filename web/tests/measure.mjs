// What docs/results/report.md reports: sizes and times of large reports in Chromium, and what a live page with many
// clients costs the run that it shows. node tests/measure.mjs [GPILOT]
import { spawnSync } from "node:child_process";
import { rmSync, statSync } from "node:fs";
import net from "node:net";
import { join, resolve } from "node:path";

if (process.argv[2]) {
  process.env.GPILOT = resolve(process.argv[2]);
}
const { gpilot, launch, rigCommand, scratch, serve, program } = await import("./support.mjs");
const { makeLargeComparison, makeLargeStudy } = await import("./large.mjs");
const ms = (v) => `${v.toFixed(0)} ms`;

/** Until the first figure is drawn, and the longest pause while a slider is moved through all of its values. */
async function look(browser, name, { slider, prepare }) {
  const file = join(scratch, `${name}.html`);
  const context = await browser.newContext({ viewport: { width: 1100, height: 900 } });
  const page = await context.newPage();
  await page.addInitScript(() => {
    globalThis.pauses = [];
    new PerformanceObserver((list) => globalThis.pauses.push(...list.getEntries().map((e) => e.duration))).observe({ type: "longtask", buffered: true });
    new MutationObserver((_, observer) => {
      if (document.querySelector(".canvas[data-drawn] svg")) {
        globalThis.first = performance.now();
        observer.disconnect();
      }
    }).observe(document, { childList: true, subtree: true, attributes: true });
  });
  await page.goto(`file://${file}`);
  await page.waitForFunction(() => globalThis.first !== undefined);
  const first = await page.evaluate(() => globalThis.first);
  await prepare(page);
  await page.evaluate(() => (globalThis.pauses.length = 0));
  const worst = await page.evaluate(async (id) => {
    const input = document.getElementById(id);
    const updates = [];
    const last = Number(input.max);
    for (let i = 0; i <= last; i += Math.max(1, Math.floor(last / 60))) {
      const begin = performance.now();
      input.value = String(i);
      input.dispatchEvent(new Event("input"));
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      updates.push(performance.now() - begin);
    }
    updates.sort((a, b) => a - b);
    return { median: updates[updates.length >> 1], longest: updates[updates.length - 1], tasks: Math.max(0, ...globalThis.pauses) };
  }, slider);
  console.log(`${name}: ${(statSync(file).size / 1e6).toFixed(2)} MB, first figure after ${ms(first)}, slider: an update ${ms(worst.median)} (median), ${ms(worst.longest)} (slowest), longest task ${ms(worst.tasks)}`);
  await context.close();
}

/** Median time from one step to the next of a run, in ms, by the study's own record. */
function stepTime(name) {
  gpilot("init", `${name}.toml`, "--example", "pendulum", "--force");
  rmSync(join(scratch, `${name}.study`), { force: true });
  rmSync(join(scratch, `${name}.state`), { force: true });
  return new Promise((done) => {
    const result = spawnSync(program, ["run", `${name}.toml`, "--rig", rigCommand(name), "--steps", "40"], { cwd: scratch, encoding: "utf8" });
    if (result.status !== 0) {
      throw new Error(result.stderr);
    }
    const record = JSON.parse(gpilot("export", `${name}.study`, "--json", "-o", "-"));
    const times = record.steps.map((s) => Date.parse(s.asked_at));
    const gaps = times.slice(1).map((t, i) => t - times[i]).sort((a, b) => a - b);
    done(gaps[Math.floor(gaps.length / 2)]);
  });
}

if (!process.env.ONLY || process.env.ONLY === "large") {
  let begin = Date.now();
  makeLargeComparison();
  console.log(`large comparison: written and reported in ${ms(Date.now() - begin)}`);
  begin = Date.now();
  makeLargeStudy();
  console.log(`large study: imported and reported in ${ms(Date.now() - begin)}`);
  const browser = await launch();
  await look(browser, "large-comparison", {
    slider: "probe",
    prepare: (page) =>
      // It has no slider: what is measured is following the pointer across the figure.
      page.evaluate(() => {
        const input = document.createElement("input");
        Object.assign(input, { id: "probe", type: "range", max: "60" });
        document.body.append(input);
        input.addEventListener("input", () => {
          const svg = document.querySelector("#curves .canvas svg");
          const box = svg.getBoundingClientRect();
          svg.dispatchEvent(new PointerEvent("pointermove", { clientX: box.left + (box.width * Number(input.value)) / 60, clientY: box.top + box.height * (0.3 + 0.005 * Number(input.value)) }));
        });
      }),
  });
  await look(browser, "large-study", {
    slider: "output-0-from",
    prepare: async (page) => {
      await page.locator("#output-0").scrollIntoViewIfNeeded();
      await page.locator("#output-0-window").selectOption("1000");
    },
  });
  await browser.close();
}

if (!process.env.ONLY || process.env.ONLY === "writer") {
  // Turn by turn, so that the machine's mood counts for both.
  for (let round = 0; round < 3; ++round) {
    const alone = await stepTime("alone");
    gpilot("init", "watched.toml", "--example", "pendulum", "--force");
    rmSync(join(scratch, "watched.study"), { force: true });
    rmSync(join(scratch, "watched.state"), { force: true });
    gpilot("run", "watched.toml", "--rig", rigCommand("watched"), "--steps", "1");
    const server = await serve("watched.study");
    const sockets = Array.from({ length: 60 }, () => {
      const socket = net.connect(server.port, "127.0.0.1", () => socket.write("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"));
      socket.on("error", () => {});
      return socket;
    });
    await new Promise((done) => setTimeout(done, 1000));
    const result = spawnSync(program, ["run", "watched.toml", "--rig", rigCommand("watched"), "--resume", "--steps", "39"], { cwd: scratch, encoding: "utf8" });
    const record = JSON.parse(gpilot("export", "watched.study", "--json", "-o", "-"));
    const times = record.steps.slice(1).map((s) => Date.parse(s.asked_at));
    const gaps = times.slice(1).map((t, i) => t - times[i]).sort((a, b) => a - b);
    sockets.forEach((socket) => socket.destroy());
    await server.stop();
    console.log(`median step: alone ${ms(alone)}, watched by 60 clients ${ms(gaps[Math.floor(gaps.length / 2)])} (exit ${result.status})`);
  }
}
if (!process.env.GPILOT_WEB_SCRATCH) {
  rmSync(scratch, { recursive: true, force: true });
}
