// Types, then every test of the page: node tests/run.mjs [GPILOT]
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "gpilot-web-"));
process.env.GPILOT_WEB_SCRATCH = scratch;
const env = { ...process.env };
if (process.argv[2]) {
  env.GPILOT = resolve(process.argv[2]);
}
const run = (...args) => {
  const { status } = spawnSync(process.execPath, args, { cwd: dirname(here), env, stdio: "inherit" });
  if (status !== 0) {
    process.exitCode = 1;
  }
  return status === 0;
};
const wanted = process.argv[3] ?? "";
const { browserPath } = await import("./support.mjs");
const skipped = !browserPath && !wanted;
if (skipped) {
  console.error("No Chromium: the tests in a browser are left out. Install chromium (scripts/install-deps.sh web), or set CHROMIUM.");
}
const tests = readdirSync(here)
  .filter((name) => name.endsWith(".test.mjs") && name.includes(skipped ? "unit" : wanted))
  .map((name) => join(here, name));
if (run(join("node_modules", "typescript", "bin", "tsc"), "--noEmit")) {
  // One file after the other: they share the reports, and measure nothing that others should disturb.
  for (const test of tests) {
    run("--test", test);
  }
}
if (skipped && process.exitCode !== 1) {
  process.exitCode = 77;
}
if (!process.env.GPILOT_WEB_KEEP) {
  rmSync(scratch, { recursive: true, force: true });
} else {
  console.log(`kept: ${scratch}`);
}
