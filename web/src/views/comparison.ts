import * as Plot from "@observablehq/plot";
import { quantile, sorted } from "../decimate.js";
import { checkbox, el, format, isOn, named, select, tableOf, value, type Choice } from "../dom.js";
import { Figure } from "../figure.js";
import { key, nameEnds } from "../marks.js";
import { across, logarithmic, plot } from "../plot.js";
import type { ComparisonRecord, Num, Statistics } from "../record.js";
import { strategyLook, theme } from "../theme.js";
import { definitions } from "./model_parts.js";
import { section } from "./section.js";
import { follow } from "./trials_hover.js";

type System = ComparisonRecord["systems"][number];

const kMetricWords: Record<string, string> = {
  rmse: "rmse: error of free runs, test sd",
  one_step: "one_step: error one step ahead, test sd",
  nlpd: "nlpd: negative log density",
  coverage90: "coverage90: share inside 90 % bands",
  coverage90_one_step: "coverage90_one_step: the same one step ahead",
  diverged: "diverged: share of diverging draws",
};

const kMetricUnits: Record<string, string> = { rmse: "test sd", one_step: "test sd", nlpd: "nats" };

/** Strategies by paired trials: curves, tests, what was saved, what it cost. */
export function comparisonView(record: ComparisonRecord, rebuild: () => void): HTMLElement[] {
  const systems: Choice[] = record.systems.map((s, i) => ({ value: String(i), label: s.name }));
  const system = record.systems[Number(value("system", systems, "0"))]!;
  const metrics: Choice[] = system.metrics.map((m, i) => ({ value: String(i), label: kMetricWords[m] ?? m }));
  const metric = Number(value("metric", metrics, "0"));
  const figures: Figure[] = [];
  const redraw = () => figures.forEach((f) => f.redraw());
  const curves = curvesFigure(record, system, metric);
  const times = timesFigure(system);
  figures.push(curves, times);
  const boxes = el("div", { class: "controls", role: "group", "aria-label": "Strategies" });
  system.strategies.forEach((s) => boxes.append(checkbox(`show-${s.name}`, named(s.name), true, redraw)));
  const chooser = el(
    "div",
    { class: "controls" },
    select("system", "System", systems, "0", rebuild),
    select("metric", "Metric", metrics, "0", rebuild),
    checkbox("log", "Logarithmic", true, redraw),
  );
  return [
    section("about", "What was compared", about(record)),
    section("error", "Error against measurements", chooser, boxes, curves.element),
    section("tests", "Tests", ...testTables(record, system, metric)),
    section("saved", "Measurements saved", savedTable(record, system)),
    section("time", "Elapsed time per step", times.element, effortTable(record, system)),
  ];
}

function about(record: ComparisonRecord): HTMLElement {
  const a = record.about;
  const limits = record.settings["limits"];
  const entries: [string, string][] = [
    ["Systems", a.systems.join(", ")],
    ["Strategies", a.strategies.join(", ")],
    ["Trials", `${a.trials} of each, paired: trials of one number share start, first controls and noise; ${a.done} of ${a.total} done`],
    ["Each", `${a.initial} measurements under random controls, then ${a.steps} chosen`],
    ["Seed", String(record.settings["seed"] ?? "")],
  ];
  if (limits && Object.keys(limits).length > 0) {
    entries.push(["Limits", JSON.stringify(limits)]);
  }
  return definitions(entries);
}

interface Point {
  step: number;
  strategy: string;
  index: number;
  median: Num;
  low: Num;
  high: Num;
}

const shownStrategies = (system: System) =>
  system.strategies.map((s, index) => ({ s, index })).filter(({ s }) => isOn(`show-${s.name}`, true));

/** Median and quartiles by step; a value that is missing is infinitely bad. */
export function quartiles(system: System, metric: number): Point[] {
  return system.strategies.flatMap((s, index) => {
    const trials = s.values[metric] ?? [];
    const steps = trials[0]?.length ?? 0;
    return Array.from({ length: steps }, (_, step) => {
      const values = sorted(trials.map((trial) => trial[step]));
      const missing = trials.length - values.length;
      return {
        step,
        strategy: s.name,
        index,
        median: quantile(values, 0.5, missing),
        low: quantile(values, 0.25, missing),
        high: quantile(values, 0.75, missing),
      };
    });
  });
}

function curvesFigure(record: ComparisonRecord, system: System, metric: number): Figure {
  const all = quartiles(system, metric);
  const name = system.metrics[metric] ?? "";
  const figure = new Figure({
    id: "curves",
    title: `${name} on ${system.name}`,
    description: `Median over trials with quartiles, by controls chosen after ${record.about.initial} measurements. Hover to see every trial of a strategy, and which one is under the pointer. Smaller is better for errors.`,
    legend: () =>
      key(shownStrategies(system).map(({ s, index }) => ({ ...strategyLook(s.name, index), name: s.name }))),
    draw: (width) => {
      const t = theme();
      const visible = new Set(shownStrategies(system).map(({ index }) => index));
      const points = all.filter((p) => visible.has(p.index));
      const positive = points.every((p) => p.low === null || p.low > 0);
      const log = isOn("log", true) && positive;
      const marks: Plot.Markish[] = [];
      for (const index of visible) {
        const own = points.filter((p) => p.index === index);
        const look = strategyLook(own[0]?.strategy ?? "", index);
        marks.push(
          Plot.areaY(own, { x: "step", y1: "low", y2: "high", fill: look.colour, fillOpacity: 0.13 }),
          Plot.lineY(own, { x: "step", y: "median", stroke: look.colour, strokeDasharray: look.dash, strokeWidth: 2.2 }),
        );
      }
      const range = domain(points, log);
      const label = kMetricUnits[name.split(".")[0] ?? ""] ? `${name}, ${kMetricUnits[name.split(".")[0] ?? ""]}` : name;
      const y: Plot.ScaleOptions = log && range ? logarithmic(label, range) : { label, grid: true, nice: true, tickFormat: format };
      const svg = plot(width, {
        height: width < 480 ? 300 : 400,
        marginRight: width < 480 ? 16 : 84,
        x: across("controls chosen"),
        y: range ? { ...y, domain: range, clamp: true } : y,
        marks: [Plot.ruleY(log ? [] : [0], { stroke: t.faint }), ...marks],
      });
      if (width >= 480) {
        const lasts = [...visible].map((index) => ({ index, p: points.filter((q) => q.index === index && q.median !== null).pop() }));
        nameEnds(
          svg,
          lasts.flatMap(({ index, p }) => (p ? [{ name: p.strategy, colour: strategyLook(p.strategy, index).colour, y: p.median }] : [])),
        );
      }
      follow(svg, figure, system, metric, visible);
      return svg;
    },
    table: () => {
      const visible = shownStrategies(system);
      const steps = record.about.steps + 1;
      return {
        columns: ["controls chosen", ...visible.flatMap(({ s }) => [`${s.name} median`, `${s.name} 25 %`, `${s.name} 75 %`])],
        rows: Array.from({ length: steps }, (_, step) => [
          step,
          ...visible.flatMap(({ index }) => {
            const p = all.find((q) => q.index === index && q.step === step);
            return [p?.median, p?.low, p?.high];
          }),
        ]),
      };
    },
  });
  return figure;
}

function domain(points: Point[], log: boolean): [number, number] | null {
  const values = sorted(points.flatMap((p) => [p.low, p.high, p.median]));
  const low = values[0];
  const high = values[values.length - 1];
  if (low === undefined || high === undefined || low === high) {
    return null;
  }
  return log ? [low / 1.15, high * 1.15] : [Math.min(0, low), high + 0.05 * (high - low)];
}

function cell(statistics: Statistics): string {
  return `${format(statistics.median)} (${format(statistics.mean)} ± ${format(statistics.sd)})`;
}

function verdict(statistics: Statistics, reference: string): string {
  const test = statistics.tests.find((t) => t.reference === reference);
  if (!test) {
    return "";
  }
  const p = test.p_holm === null ? "–" : test.p_holm < 0.001 ? "< 0.001" : test.p_holm.toFixed(3);
  return `${p} ${["better", "equal", "worse"][test.direction + 1]}`;
}

function testTables(record: ComparisonRecord, system: System, metric: number): HTMLElement[] {
  const name = system.metrics[metric] ?? "";
  const summary = record.summary?.systems.find((s) => s.system === system.name);
  const entry = summary?.metrics.find((m) => m.metric === name);
  if (!entry || entry.strategies.length === 0) {
    return [el("p", {}, record.summary ? `${name} has no better direction, so it is not tested.` : "No trial is complete for all strategies yet.")];
  }
  const steps = entry.strategies[0]!.steps.map((s) => s.step);
  const heads = [...steps.map((s) => `step ${s}`), "area"];
  const parts = [
    tableOf(
      {
        columns: ["strategy", ...heads],
        rows: entry.strategies.map((s) => [s.strategy, ...s.steps.map(cell), cell(s.area)]),
      },
      `${name} on ${system.name}: median (mean ± sd) over ${record.summary?.trials ?? 0} trials`,
    ),
  ];
  for (const reference of ["random", "randext"]) {
    const rows = entry.strategies
      .filter((s) => verdict(s.area, reference) !== "")
      .map((s) => [s.strategy, ...s.steps.map((k) => verdict(k, reference)), verdict(s.area, reference)]);
    if (rows.length > 0) {
      parts.push(
        tableOf(
          { columns: ["strategy", ...heads], rows },
          `p against ${reference}: Wilcoxon's signed-rank test over paired trials, two-sided, adjusted by Holm; below 0.05 in bold`,
        ),
      );
    }
  }
  const violations = summary?.violations;
  if (violations) {
    parts.push(
      tableOf(
        {
          columns: ["strategy", "steps outside", "95 % interval", "by the model", "no safe plan", "initial"],
          rows: violations.map((v) => [v.strategy, v.share, `${format(v.low)} to ${format(v.high)}`, v.expected, v.no_safe_plan, v.initial]),
        },
        "Outside the limits, as shares of steps",
      ),
    );
  }
  return parts;
}

function savedTable(record: ComparisonRecord, system: System): HTMLElement {
  const rmse = record.summary?.systems.find((s) => s.system === system.name)?.metrics[0];
  const random = rmse?.strategies.find((s) => s.strategy === "random")?.steps_to_random;
  if (!rmse || random === undefined) {
    return el("p", {}, "The strategy random does not take part, so there is nothing to measure savings by.");
  }
  const last = record.summary!.last_step;
  const words = (steps: number | undefined) => (steps === undefined ? "–" : steps > last ? `> ${last}` : format(steps));
  // Where random itself does not stay there in half of its trials, its last step is the least it would need.
  const needed = Math.min(random, last);
  const least = random > last ? "≥ " : "";
  return tableOf(
    {
      columns: ["strategy", "steps needed for random's final error", "measurements saved", "share"],
      rows: rmse.strategies.map((s) => {
        const steps = s.steps_to_random;
        const saved = s.strategy === "random" || steps === undefined || steps > last ? null : needed - steps;
        return [s.strategy, words(steps), saved === null ? null : `${least}${format(saved)}`, saved === null ? null : `${least}${((100 * saved) / needed).toFixed(0)} %`];
      }),
    },
    `Steps until ${rmse.metric} stays at or below the median of where random ends, median over trials`,
  );
}

function timesFigure(system: System): Figure {
  const points = () =>
    shownStrategies(system).flatMap(({ s, index }) =>
      s.choose_s.map((v, step) => ({
        step,
        index,
        name: s.name,
        ms: step === 0 || v === null || s.train_s[step] === null ? null : 1e3 * (v + (s.train_s[step] ?? 0)),
      })),
    );
  return new Figure({
    id: "times",
    title: "Choosing and training, by controls chosen",
    description: "Choosing and training together, median over trials, in milliseconds on the machine that ran the comparison.",
    legend: () => key(shownStrategies(system).map(({ s, index }) => ({ ...strategyLook(s.name, index), name: s.name }))),
    draw: (width) => {
      const all = points();
      return plot(width, {
        x: across("controls chosen"),
        y: all.every((p) => p.ms === null || p.ms > 0) ? logarithmic("time, ms", all.map((p) => p.ms)) : { label: "time, ms", grid: true },
        marks: shownStrategies(system).map(({ s, index }) => {
          const look = strategyLook(s.name, index);
          return Plot.lineY(all.filter((p) => p.index === index && p.ms !== null), {
            x: "step",
            y: "ms",
            stroke: look.colour,
            strokeDasharray: look.dash,
            strokeWidth: 1.8,
          });
        }),
      });
    },
    table: () => ({
      columns: ["strategy", "step", "ms"],
      rows: points().map((p) => [p.name, p.step, p.ms]),
    }),
  });
}

function effortTable(record: ComparisonRecord, system: System): HTMLElement {
  const summary = record.summary?.systems.find((s) => s.system === system.name);
  const seconds = record.summary?.seconds_per_step.filter((s) => s.system === system.name) ?? [];
  return tableOf(
    {
      columns: ["strategy", "choose, ms", "train, ms", "evaluate, ms", "failed trials", "trainings"],
      rows: system.strategies.map((s) => {
        const own = seconds.find((k) => k.strategy === s.name);
        const statuses = summary?.trainings.find((k) => k.strategy === s.name)?.statuses ?? {};
        const ms = (v: Num | undefined) => (v === null || v === undefined ? null : 1e3 * v);
        return [
          s.name,
          ms(own?.choose),
          ms(own?.train),
          ms(own?.evaluate),
          s.failed,
          Object.entries(statuses)
            .map(([status, n]) => `${n} ${status}`)
            .join(", "),
        ];
      }),
    },
    "Mean over steps, and how trainings ended",
  );
}
