// Types, then every test of the page: node tests/run.mjs [GPILOT [NAME]]; NAME is part of a test file's.
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "gpilot-web-"));
process.env.GPILOT_WEB_SCRATCH = scratch;
if (process.argv[2]) {
  process.env.GPILOT = resolve(process.argv[2]);
}
const { browserPath, launchShared, makeReports } = await import("./support.mjs");

/** Runs Node and prints what it said once it has ended, so that those that run at a time do not talk at once. */
const run = (name, ...args) =>
  new Promise((done) => {
    const begin = Date.now();
    const child = spawn(process.execPath, args, { cwd: dirname(here), env: process.env });
    let text = "";
    child.stdout.on("data", (part) => (text += part));
    child.stderr.on("data", (part) => (text += part));
    child.on("exit", (code) => {
      console.log(`${name}: ${code === 0 ? "passed" : "FAILED"} in ${((Date.now() - begin) / 1000).toFixed(1)} s\n${text}`);
      if (code !== 0) {
        process.exitCode = 1;
      }
      done();
    });
  });

const wanted = process.argv[3] ?? "";
const skipped = !browserPath && !wanted;
if (skipped) {
  console.error("No Chromium: the tests in a browser are left out. Install chromium (scripts/install-deps.sh web), or set CHROMIUM.");
}
const tests = readdirSync(here).filter((name) => name.endsWith(".test.mjs") && name.includes(skipped ? "unit" : wanted));
// All share one browser and the reports. Two at a time; those that mostly wait for clocks go first.
const order = ["server", "page", "live", "views", "hostile", "large", "unit"];
const place = (name) => order.indexOf(name.split(".")[0]);
const jobs = tests.sort((a, b) => place(a) - place(b)).map((name) => () => run(name, "--test", join(here, name)));
jobs.splice(2, 0, () => run("types", join("node_modules", "typescript", "bin", "tsc"), "--noEmit"));
let browser = null;
try {
  if (browserPath && tests.some((name) => !name.startsWith("unit"))) {
    browser = await launchShared();
    process.env.GPILOT_WEB_BROWSER = browser.wsEndpoint();
    await makeReports();
  }
  const worker = async () => {
    while (jobs.length > 0) {
      await jobs.shift()();
    }
  };
  await Promise.all([worker(), worker(), worker()]);
} finally {
  await browser?.close();
  if (process.env.GPILOT_WEB_KEEP) {
    console.log(`kept: ${scratch}`);
  } else {
    rmSync(scratch, { recursive: true, force: true });
  }
}
if (skipped && process.exitCode !== 1) {
  process.exitCode = 77;
}
