// Makes a large study and a large comparison in the tests' folder, and their reports.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gpilot, rigCommand, scratch } from "./support.mjs";

/** Measurements of 10,000 steps: a few with a rig, so that there is a model, the others imported. */
export function makeLargeStudy(steps = 10_000) {
  if (existsSync(join(scratch, "large-study.html"))) {
    return;
  }
  gpilot("init", "large.toml", "--example", "pendulum");
  gpilot("run", "large.toml", "--rig", rigCommand("large"), "--steps", "12");
  const lines = gpilot("export", "large.study", "--csv", "-o", "-").split("\n")[0].split(",");
  const [input, output] = lines.slice(-2);
  const raw = String(gpilot("simulate", "pendulum", "--steps", String(steps - 12), "--seed", "3", "--hold", "1:5", "-o", "-"));
  writeFileSync(join(scratch, "large.csv"), raw.replace(/^.*\n/, `t,${input},${output}\n`));
  gpilot("import", "large.study", "large.csv", "--from-start");
  gpilot("report", "large.study", "-o", "large-study.html");
}

/** Trials by formula, in files of the first version, which had no checksums. */
export function makeLargeComparison(systems = 4, trials = 100, steps = 30) {
  if (existsSync(join(scratch, "large-comparison.html"))) {
    return;
  }
  const folder = join(scratch, "large-comparison");
  mkdirSync(join(folder, "trials"), { recursive: true });
  const names = ["kink", "pendulum", "cartpole", "tras"].slice(0, systems);
  const strategies = ["random", "randext", "prbs", "multisine", "latmi", "totmi", "local", "auto"];
  const metrics = ["rmse", "one_step", "nlpd", "coverage90", "coverage90_one_step", "diverged", "rmse.y_a", "rmse.y_b"];
  writeFileSync(
    join(folder, "comparison.json"),
    JSON.stringify({ format: "gpilot-comparison", version: 1, systems: names, strategies, trials, steps, initial: 5, seed: 0, limits: {} }),
  );
  let seed = 1;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  for (const system of names) {
    strategies.forEach((strategy, s) => {
      for (let trial = 0; trial < trials; ++trial) {
        const rows = Array.from({ length: steps + 1 }, (_, k) => {
          const error = (0.1 + Math.exp(-0.05 * k * (1 + 0.2 * s))) * (0.7 + 0.6 * random());
          return {
            values: metrics.map((_, m) => (m < 3 || m > 5 ? error * (1 + 0.1 * m) : m === 5 ? 0 : 0.8 + 0.2 * random())),
            criterion: k > 0 ? random() : null,
            control: k > 0 ? [2 * random() - 1] : [],
            trained: true,
            status: "converged",
            chosen: "warm",
            choose_seconds: 0.001 * (1 + s) * random(),
            train_seconds: 0.05 * random(),
            evaluate_seconds: 0.001,
          };
        });
        const record = { format: "gpilot-trial", version: 1, system, strategy, trial, metrics, steps: rows };
        writeFileSync(join(folder, "trials", `${system}-${strategy}-${String(trial).padStart(3, "0")}.json`), JSON.stringify(record));
      }
    });
  }
  gpilot("report", "large-comparison", "-o", "large-comparison.html");
}
