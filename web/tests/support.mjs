// What the tests of the page share: the program, a browser, reports to look at.
import { execFile, execFileSync, spawn } from "node:child_process";
import { accessSync, constants, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { chromium } from "playwright-core";

export const web = dirname(dirname(fileURLToPath(import.meta.url)));
export const program = process.env.GPILOT ?? join(web, "..", "build", "release", "bin", "gpilot");
export const scratch = process.env.GPILOT_WEB_SCRATCH ?? mkdtempSync(join(tmpdir(), "gpilot-web-"));

/** A program on the PATH, or null. */
export function which(...names) {
  for (const name of names) {
    for (const folder of (process.env.PATH ?? "").split(delimiter)) {
      try {
        accessSync(join(folder, name), constants.X_OK);
        return join(folder, name);
      } catch {
        // not there
      }
    }
  }
  return null;
}

export const browserPath = process.env.CHROMIUM ?? which("chromium", "chromium-browser", "google-chrome", "google-chrome-stable");

export function gpilot(...args) {
  return execFileSync(program, args, { cwd: scratch, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

/** The same without waiting for each other. */
export async function gpilotAsync(...args) {
  return (await promisify(execFile)(program, args, { cwd: scratch, encoding: "utf8", maxBuffer: 1e8 })).stdout;
}

const launching = { executablePath: browserPath, args: ["--no-sandbox", "--disable-dev-shm-usage"] };

/** One browser for all test files, if there is one: GPILOT_WEB_BROWSER has its address. */
export async function launch() {
  if (!browserPath) {
    throw new Error("no Chromium found: install the package chromium (scripts/install-deps.sh web), or set CHROMIUM");
  }
  const shared = process.env.GPILOT_WEB_BROWSER;
  return shared ? chromium.connect(shared) : chromium.launch(launching);
}

export async function launchShared() {
  return chromium.launchServer(launching);
}

/** A page that remembers what must not happen: errors, and requests for anything but itself. */
export async function openPage(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1100, height: 900 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000); // a busy machine is slow, not wrong
  const faults = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") {
      faults.push(`${message.type()}: ${message.text()}`);
    }
  });
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    const asked = request.url();
    if (url.startsWith("file:") && asked !== url && !asked.startsWith("data:") && !asked.startsWith("blob:")) {
      faults.push(`request: ${asked}`);
    }
  });
  await page.goto(url);
  return { page, context, faults };
}

/** Scrolls through the page until every figure was drawn. */
export async function drawEverything(page) {
  const figures = await page.locator("figure").all();
  for (const figure of figures) {
    await figure.scrollIntoViewIfNeeded();
    await figure.locator(".canvas[data-drawn]").waitFor({ state: "attached" });
  }
  return figures.length;
}

/** Runs axe-core in the page and gives what it finds fault with. */
export async function accessibility(page) {
  await page.evaluate(readFileSync(join(web, "node_modules", "axe-core", "axe.min.js"), "utf8"));
  const result = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  return result.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target.join(" ")).slice(0, 3).join(", ")}`);
}

/** A module of the page, compiled for Node. */
export async function load(name) {
  const result = await build({ entryPoints: [join(web, "src", name)], bundle: true, write: false, format: "esm", platform: "neutral", mainFields: ["module", "main"], logLevel: "error" });
  const file = join(scratch, `${name.replaceAll("/", "_")}.mjs`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, result.outputFiles[0].text);
  return import(`file://${file}`);
}

const servers = new Set();

/** The browser, and servers that a failed test has left. */
export async function endAll(browser) {
  servers.forEach((child) => child.kill("SIGTERM"));
  await browser?.close();
}

/** A server of a study; `stop` ends it. */
export async function serve(study, ...args) {
  const child = spawn(program, ["serve", study, ...(args.includes("--port") ? [] : ["--port", "0"]), "--format", "json", ...args], { cwd: scratch });
  servers.add(child);
  let errors = "";
  child.stderr.on("data", (text) => (errors += text));
  const said = await new Promise((resolve, reject) => {
    let text = "";
    child.stdout.on("data", (part) => {
      text += part;
      if (text.includes("\n")) {
        resolve(JSON.parse(text.slice(0, text.indexOf("\n"))));
      }
    });
    child.on("exit", (code) => reject(new Error(`gpilot serve ended with ${code}: ${errors}`)));
  });
  const ended = new Promise((resolve) =>
    child.on("exit", () => {
      servers.delete(child);
      resolve();
    }),
  );
  return {
    ...said,
    child,
    alive: () => child.exitCode === null && child.signalCode === null,
    stop: async () => {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

const rig = join(web, "..", "examples", "rigs", "pendulum_rig.py");
const python = which("python3") ?? "python3";
export const rigCommand = (name) => `${python} ${rig} --seed 1 --state ${join(scratch, `${name}.state`)}`;

/** The three kinds of reports, and a study with more of everything, made once for all tests. */
export async function makeReports() {
  const done = join(scratch, "reports.json");
  try {
    return JSON.parse(readFileSync(done, "utf8"));
  } catch {
    // made now
  }
  await Promise.all([makeComparison(), makeStudy(), makeTanks(), makeModel()]);
  const files = Object.fromEntries(["comparison", "study", "tanks", "model"].map((kind) => [kind, `file://${join(scratch, `${kind}.html`)}`]));
  writeFileSync(done, JSON.stringify(files));
  return files;
}

async function makeComparison() {
  await gpilotAsync("compare", "kink", "--strategies", "random,latmi,totmi", "--trials", "4", "--steps", "4", "-o", "comparison");
  await gpilotAsync("report", "comparison", "-o", "comparison.html");
}

async function makeStudy() {
  await gpilotAsync("init", "rig.toml", "--example", "pendulum");
  await gpilotAsync("run", "rig.toml", "--rig", rigCommand("rig"), "--steps", "10");
  await gpilotAsync("void", "rig.study", "--step", "4", "--why", "the sensor was loose");
  await gpilotAsync("run", "rig.toml", "--rig", rigCommand("rig"), "--resume", "--steps", "4");
  await gpilotAsync("report", "rig.study", "--history", "all", "-o", "study.html");
}

/** Two controls, two outputs with limits, a region; a spike, a new sequence, a step that fails. */
async function makeTanks() {
  const folder = join(web, "..", "scripts", "figures");
  await gpilotAsync("run", join(folder, "tanks.toml"), "--rig", `${python} ${join(folder, "tanks_rig.py")}`, "-o", "tanks.study", "--steps", "18");
  await gpilotAsync("report", "tanks.study", "--history", "all", "-o", "tanks.html");
}

async function makeModel() {
  await gpilotAsync("simulate", "pendulum", "--steps", "60", "--seed", "1", "--hold", "1:5", "-o", "train.csv");
  await gpilotAsync("simulate", "pendulum", "--steps", "80", "--seed", "2", "--hold", "1:5", "-o", "test.csv");
  await gpilotAsync("fit", "train.csv", "--inputs", "c", "--outputs", "y_th", "--states", "th,th_dot", "--derivative-of", "th_dot=th", "--inducing", "10", "-o", "model.json");
  await gpilotAsync("report", "model.json", "test.csv", "--warmup", "10", "-o", "model.html");
}
