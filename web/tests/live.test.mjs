// The live page: it follows a study that runs, and survives restarts.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cpSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { get } from "./requests.mjs";
import { accessibility, drawEverything, endAll, gpilot, launch, load, makeReports, openPage, program, rigCommand, scratch, serve } from "./support.mjs";

let browser;
before(async () => {
  await makeReports();
  browser = await launch();
});
after(() => endAll(browser));

test("a live page follows a running study and recovers from a restart of the server", async () => {
  gpilot("init", "live.toml", "--example", "pendulum");
  gpilot("run", "live.toml", "--rig", rigCommand("live"), "--steps", "6");
  let server = await serve("live.study");
  const wholes = [];
  const { page, context, faults } = await openPage(browser, server.address);
  // What the page is sent: the whole record when it connects, then what has changed.
  page.on("response", async (answer) => {
    if (answer.url().includes("/changes")) {
      wholes.push("record" in (await answer.json().catch(() => ({}))));
    }
  });
  const steps = async () => Number(/(\d+) told/.exec(await page.locator("#about").textContent())?.[1] ?? 0);
  await page.locator("#output-0 .canvas[data-drawn]").waitFor();
  assert.equal(await steps(), 6);
  assert.match(await page.locator(".live").textContent(), /Live\. The study last moved \d+ (s|min) ago/);

  const run = spawn(program, ["run", "live.toml", "--rig", rigCommand("live"), "--resume", "--steps", "4"], { cwd: scratch });
  await page.waitForFunction(() => /10 told/.test(document.querySelector("#about")?.textContent ?? ""), null, { timeout: 60_000 });
  await new Promise((resolve) => (run.exitCode === null ? run.on("exit", resolve) : resolve()));
  assert.equal(run.exitCode, 0, "the writer was not disturbed");
  await page.waitForFunction(() => !/Connecting/.test(document.querySelector(".live").textContent));
  assert.ok(wholes.includes(false) && !wholes.slice(1).includes(true), `whole records, changes: ${wholes}`);
  await drawEverything(page);
  assert.deepEqual(await accessibility(page), []);
  assert.deepEqual(faults, []);

  await server.stop();
  await page.waitForFunction(() => /cannot be reached/.test(document.querySelector(".live").textContent));
  gpilot("run", "live.toml", "--rig", rigCommand("live"), "--resume", "--steps", "1");
  server = await serve("live.study", "--port", String(server.port));
  await page.waitForFunction(() => /^Live\./.test(document.querySelector(".live").textContent) && /11 told/.test(document.querySelector("#about").textContent), null, { timeout: 30_000 });

  // Moved away, and back: said, and mended, without a word from the user.
  const path = join(scratch, "live.study");
  renameSync(path, `${path}.away`);
  await page.waitForFunction(() => /moved or deleted/.test(document.querySelector(".live").textContent));
  assert.ok((await page.locator("figure").count()) > 5, "what was shown stays");
  renameSync(`${path}.away`, path);
  await page.waitForFunction(() => /^Live\./.test(document.querySelector(".live").textContent));
  // Deleted, and another one begun in its place.
  rmSync(path);
  await page.waitForFunction(() => /moved or deleted/.test(document.querySelector(".live").textContent));
  rmSync(join(scratch, "live.state"));
  gpilot("run", "live.toml", "--rig", rigCommand("live"), "--steps", "3");
  await page.waitForFunction(() => /^Live\./.test(document.querySelector(".live").textContent) && /(^|\D)3 told/.test(document.querySelector("#about").textContent));
  assert.ok(server.alive());
  await context.close();
  await server.stop();
});

test("what the user chose stays when the study moves on", async () => {
  cpSync(join(scratch, "rig.study"), join(scratch, "choose.study"));
  const server = await serve("choose.study");
  const { page, context } = await openPage(browser, server.address);
  await page.locator("#output-0 .canvas[data-drawn]").waitFor();
  await page.locator("#output-0-mode").selectOption("free");
  await page.locator("#output-0 summary").click();
  gpilot("ask", "choose.study");
  await page.waitForFunction(() => /waits for its outputs/.test(document.querySelector("#about").textContent), null, { timeout: 30_000 });
  assert.equal(await page.locator("#output-0-mode").inputValue(), "free");
  assert.equal(await page.locator("#output-0 details").getAttribute("open"), "");
  await context.close();
  await server.stop();
});


test("what has changed makes the record that the server has, step after step", async () => {
  const { changed } = await load("changes.ts");
  cpSync(join(scratch, "rig.study"), join(scratch, "changes.study"));
  const server = await serve("changes.study");
  const { port } = server;
  const take = async (since) => JSON.parse((await get(port, `/changes?since=${since}`)).body);
  const until = async (version) => {
    for (;;) {
      const now = await take(version).catch(() => ({ version })); // nothing has been read yet
      if (now.version !== version) {
        return now;
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  const all = await until("");
  let { version, record } = all;
  const sizes = [];
  const whole = JSON.stringify(all).length;
  const step = record.steps.sequence.length + 1;
  for (const command of [["ask", "changes.study"], ["tell", "changes.study", "--step", String(step), "--y", "0.2"], ["void", "changes.study", "--step", "6", "--why", "a doubt"]]) {
    gpilot(...command);
    const news = await until(version);
    assert.ok(!("record" in news), `${command[0]}: changes`);
    sizes.push(JSON.stringify(news).length);
    record = news.changes.reduce((value, change) => changed(value, change), record);
    version = news.version;
    assert.deepEqual(record, JSON.parse((await get(port, "/record.json")).body), command[0]);
  }
  assert.ok(sizes[0] < whole / 4, `a step that is asked for costs ${sizes[0]} of ${whole} bytes`);
  assert.ok("record" in (await take("another-servers-version")), "who has something else takes all");
  await server.stop();
});
