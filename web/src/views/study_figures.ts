import * as Plot from "@observablehq/plot";
import { buckets, extremes } from "../decimate.js";
import { format, select, value, type Choice, type Table } from "../dom.js";
import { Figure } from "../figure.js";
import { key, type KeyEntry } from "../marks.js";
import { axes, logarithmic, plot } from "../plot.js";
import type { Column, Num, StudyRecord } from "../record.js";
import { theme } from "../theme.js";
import { calibrationFigure } from "./model_parts.js";
import { withUnit } from "./study.js";

const kMost = 600;

/** Of many points those that show its shape: the lowest and highest of each bucket. */
function thinned(y: Column): number[] {
  return buckets(0, y.length, kMost).flatMap((b) => extremes(y, b));
}

export function controlFigure(record: StudyRecord, p: number): Figure {
  const { about, steps } = record;
  const name = about.inputs[p] ?? "";
  const asked = steps.asked[p] ?? [];
  const applied = steps.applied[p] ?? [];
  const region = about.region.find((r) => r.name === name);
  const phases = [...new Set(steps.phase)];
  const unanswered = asked.flatMap((c, i) => (c !== null && (applied[i] ?? null) === null ? [{ step: i + 1, c }] : []));
  const symbols: Record<string, "circle" | "triangle" | "square" | "diamond2"> = {
    chosen: "circle",
    random: "triangle",
    safe: "square",
    imported: "diamond2",
  };
  const colours = () => {
    const t = theme();
    return { chosen: t.accent, random: t.second, safe: t.good, imported: t.faint } as Record<string, string>;
  };
  return new Figure({
    id: `control-${p}`,
    title: `Control ${name}`,
    description: "Asked for (line) and applied (marks, by who decided: chance, the strategy, the safe control, or a recording that was imported).",
    legend: () => {
      const t = theme();
      const shapes: Record<string, KeyEntry["shape"]> = { chosen: "dot", random: "triangle", safe: "square", imported: "diamond" };
      return key([
        { colour: t.faint, name: "asked" },
        ...phases.map((phase) => ({ colour: colours()[phase] ?? t.text, shape: shapes[phase] ?? ("dot" as const), name: `applied, ${phase}` })),
        ...(unanswered.length > 0 ? [{ colour: t.warn, shape: "ring" as const, name: "asked, without a measurement" }] : []),
        { colour: t.warn, dash: "5 4", name: "range it may have" },
        ...(region ? [{ colour: t.good, dash: "1 3", name: "region where the model will be used" }] : []),
      ]);
    },
    draw: (width) => {
      const t = theme();
      const line = thinned(asked).map((i) => ({ step: i + 1, c: asked[i] }));
      const points = thinned(applied).map((i) => ({ step: i + 1, c: applied[i], phase: steps.phase[i] ?? "" }));
      const edges = [about.box.low[p], about.box.high[p]].filter((v): v is number => v !== null && v !== undefined);
      const inner = region ? [region.low, region.high].filter((v): v is number => v !== null) : [];
      return plot(width, {
        ...axes("step", withUnit(name, about.input_units[p])),
        height: 220,
        marks: [
          Plot.ruleY(edges, { stroke: t.warn, strokeDasharray: "5 4" }),
          Plot.ruleY(inner, { stroke: t.good, strokeDasharray: "1 3" }),
          Plot.lineY(line, { x: "step", y: "c", stroke: t.faint, curve: line.length < 300 ? "step" : "linear", strokeWidth: 1 }),
          ...phases.map((phase) =>
            Plot.dot(
              points.filter((d) => d.phase === phase),
              {
                x: "step",
                y: "c",
                fill: colours()[phase] ?? t.text,
                symbol: symbols[phase] ?? "circle",
                r: points.length > 250 ? 1.6 : 3,
              },
            ),
          ),
          Plot.dot(unanswered.slice(0, kMost), { x: "step", y: "c", r: 3.5, stroke: t.warn, strokeWidth: 1.6 }),
          Plot.tip(points, Plot.pointerX({ x: "step", y: "c", fill: t.background, channels: { phase: "phase" } })),
        ],
      });
    },
    table: () => ({
      columns: ["step", "asked", "applied", "phase", "status"],
      rows: asked.map((c, i) => [i + 1, c, applied[i] ?? null, steps.phase[i] ?? "", steps.status[i] ?? ""]),
    }),
  });
}

interface Surprise {
  step: number;
  z: number; // error of the prediction before the measurement, in units of its sd
  error: number; // in units of the outputs' spread over the study
}

/** Outputs against what was expected of them before they were measured. */
export function surprises(record: StudyRecord, e: number): Surprise[] {
  const outputs = record.steps.outputs[e] ?? [];
  const measured = outputs.filter((v): v is number => v !== null);
  const mean = measured.reduce((a, b) => a + b, 0) / Math.max(1, measured.length);
  const spread = Math.sqrt(measured.reduce((a, b) => a + (b - mean) ** 2, 0) / Math.max(1, measured.length)) || 1;
  const aside = new Set(record.steps.set_aside[e]);
  const found: Surprise[] = [];
  for (const d of record.decisions) {
    const y = d.step === undefined || aside.has(d.step) ? null : (outputs[d.step - 1] ?? null);
    const m = d.expected?.mean[e]?.[0] ?? null;
    const sd = d.expected?.sd[e]?.[0] ?? null;
    if (d.step !== undefined && y !== null && m !== null && sd !== null && sd > 0) {
      found.push({ step: d.step, z: (y - m) / sd, error: (y - m) / spread });
    }
  }
  return found;
}

const kRolling = 5;

/** Root mean square over the newest few. */
export function rolling(values: { step: number; v: number }[], width = kRolling): { step: number; v: number }[] {
  return values.map(({ step }, i) => {
    const last = values.slice(Math.max(0, i - width + 1), i + 1);
    return { step, v: Math.sqrt(last.reduce((a, b) => a + b.v * b.v, 0) / last.length) };
  });
}

/** Errors one step ahead of all outputs together, rolling. */
function rollingErrors(record: StudyRecord): { step: number; v: number }[] {
  const squares = new Map<number, number[]>();
  record.about.outputs.forEach((_, e) =>
    surprises(record, e).forEach(({ step, error }) => squares.set(step, [...(squares.get(step) ?? []), error * error])),
  );
  const by_step = [...squares].sort(([a], [b]) => a - b);
  return rolling(by_step.map(([step, list]) => ({ step, v: Math.sqrt(list.reduce((a, b) => a + b, 0) / list.length) })));
}

type Curve = { step: number; v: Num }[];

/** A line must not lead over steps of which nothing is known. */
function withGaps(curve: Curve, longest: number): Curve {
  return curve.flatMap((d, i) => (i > 0 && d.step - curve[i - 1]!.step > longest ? [{ step: d.step - 0.5, v: null }, d] : [d]));
}

/** How much the newest steps have changed, for those who ask whether to go on. */
function trendWords(name: string, curve: Curve): string {
  const known = curve.filter((d): d is { step: number; v: number } => d.v !== null);
  const now = known[known.length - 1];
  const before = known[known.length - 6];
  if (!now) {
    return "";
  }
  const change = before && before.v > 0 ? 100 * (now.v / before.v - 1) : null;
  const moved = change === null ? "" : ` (${change < 0 ? "" : "+"}${change.toFixed(0)} % since step ${before!.step})`;
  return `${name}: ${format(now.v)} after step ${now.step}${moved}`;
}

export function sureFigure(record: StudyRecord): Figure {
  const { about, steps, trainings } = record;
  const sd: Curve = thinned(steps.reference_sd).map((i) => ({ step: i + 1, v: steps.reference_sd[i] ?? null }));
  const held: Curve = trainings.flatMap((t) => (t.held_out === undefined || t.held_out === null ? [] : [{ step: t.after_step, v: t.held_out }]));
  const errors: Curve = rollingErrors(record);
  const longest = 3 * Math.max(1, Math.round(steps.sequence.length / Math.max(1, trainings.length)));
  const curves = () => {
    const t = theme();
    return [
      { name: "sd of the dynamics where they will be used, scaled", values: sd, colour: t.accent, dash: "" },
      { name: "held-out error of free runs, as a share of holding the last value", values: withGaps(held, longest), colour: t.second, dash: "6 3" },
      { name: `error one step ahead, before learning from it, rolling over ${kRolling} (output sd)`, values: withGaps(errors, longest), colour: t.good, dash: "2 3" },
    ].filter((c) => c.values.length > 0);
  };
  const trends = [trendWords("sd", sd), trendWords("held-out error", held), trendWords("error one step ahead", errors)].filter((w) => w !== "");
  const until = about.until_sd;
  return new Figure({
    id: "sure-figure",
    title: "How sure the model is, and how wrong it still is",
    description: `When these level off, further measurements teach little. An sd of 1 is that of a value spread evenly over its range. ${
      trends.length > 0 ? `Now: ${trends.join("; ")}.` : "Nothing is known yet: the first model comes after the initial measurements."
    }`,
    legend: () =>
      key([
        ...curves().map((c) => ({ colour: c.colour, dash: c.dash, name: c.name })),
        ...(until === null ? [] : [{ colour: theme().warn, dash: "5 4", name: `until_sd = ${format(until)}: the study ends when the sd is below` }]),
      ]),
    draw: (width) => {
      const t = theme();
      return plot(width, {
        ...axes("step", "relative size, smaller is better"),
        y: { label: "relative size, smaller is better", grid: true, zero: true },
        marks: [
          Plot.ruleY(until === null ? [] : [until], { stroke: t.warn, strokeDasharray: "5 4" }),
          ...curves().map((c) =>
            Plot.line(c.values, {
              x: "step",
              y: "v",
              stroke: c.colour,
              strokeDasharray: c.dash,
              strokeWidth: 2,
              ...(c.values.length < 80 ? { marker: "dot" as const } : {}),
            }),
          ),
        ],
      });
    },
    table: () => ({
      columns: ["step", "what", "value"],
      rows: curves().flatMap((c) => c.values.filter((d) => d.v !== null).map((d) => [d.step, c.name, d.v])),
    }),
  });
}

/** P(Z < z) of a standard normal (Abramowitz and Stegun 7.1.26, good to 1e-7: a bin is 0.1 wide). */
export function normalBelow(z: number): number {
  const t = 1 / (1 + (0.3275911 * Math.abs(z)) / Math.SQRT2);
  const tail =
    t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429)))) * Math.exp((-z * z) / 2);
  return z >= 0 ? 1 - tail / 2 : tail / 2;
}

export function calibration(record: StudyRecord): Figure {
  const counts = record.about.outputs.map((_, e) => surprises(record, e));
  const pit = counts.map((list) => {
    const bins = new Array<number>(10).fill(0);
    list.forEach((s) => ++bins[Math.min(9, Math.floor(10 * normalBelow(s.z)))]!);
    return bins.map((n) => (list.length > 0 ? n / list.length : null));
  });
  const inside = (list: Surprise[], z: number) => list.filter((s) => Math.abs(s.z) <= z).length;
  const words = record.about.outputs
    .map((name, e) => {
      const list = counts[e]!;
      return list.length === 0
        ? `${name}: none`
        : `${name}: ${inside(list, 0.674)} of ${list.length} inside 50 %, ${inside(list, 1.645)} inside 90 %, ${inside(list, 1.96)} inside 95 %`;
    })
    .join("; ");
  return calibrationFigure(
    "calibration",
    `Measurements against what was expected of them one step before they were learned from: where they fell, in ten bins. Along the dashed line is right; shaded is what chance allows for so few values (95 %). ${words}.`,
    record.about.outputs,
    pit,
    counts.map((list) => list.length),
  );
}

export function parametersFigure(record: StudyRecord): Figure | null {
  const with_model = record.trainings.filter((t) => t.parameters);
  const names = Object.keys(with_model[with_model.length - 1]?.parameters ?? {});
  if (record.trainings.length === 0) {
    return null;
  }
  const choices: Choice[] = [{ value: "bound", label: "bound (ELBO)" }, ...names.map((n) => ({ value: n, label: n }))];
  const shown = () => value("parameter", choices, "bound");
  const values = () =>
    record.trainings
      .map((t) => ({ step: t.after_step, v: shown() === "bound" ? t.bound : (t.parameters?.[shown()] ?? null) }))
      .filter((d) => d.v !== null);
  const figure = new Figure({
    id: "parameters",
    title: "Bound and learned parameters over the trainings",
    description: "The bound grows with the number of measurements and is comparable only between trainings on the same ones. Parameters are those of the models at hand.",
    controls: [select("parameter", "Show", choices, "bound", () => figure.redraw())],
    draw: (width) => {
      const t = theme();
      const points = values();
      const few = points.filter((_, i) => i % Math.ceil(points.length / kMost || 1) === 0);
      return plot(width, {
        ...axes("after step", shown()),
        height: 220,
        marks: [Plot.line(few, { x: "step", y: "v", stroke: t.accent, strokeWidth: 2, ...(few.length < 80 ? { marker: "dot" as const } : {}), tip: { fill: t.background } })],
      });
    },
    table: () => ({
      columns: ["training", "after step", "status", "bound", ...names],
      rows: record.trainings.map((t) => [t.training, t.after_step, t.status, t.bound, ...names.map((n) => t.parameters?.[n] ?? null)]),
    }),
  });
  return figure;
}

export function timingFigure(record: StudyRecord): Figure {
  const { steps, trainings } = record;
  const rig = steps.asked_s.map((asked, i) => {
    const closed = steps.closed_s[i] ?? null;
    return asked === null || closed === null || steps.phase[i] === "imported" ? null : closed - asked;
  });
  const whole = steps.asked_s.map((asked, i) => {
    const before = i > 0 ? (steps.asked_s[i - 1] ?? null) : null;
    return asked === null || before === null || steps.phase[i] === "imported" || steps.sequence[i] !== steps.sequence[i - 1]
      ? null
      : asked - before;
  });
  const at = (column: Column) => thinned(column).map((i) => ({ step: i + 1, v: Math.max(column[i] as number, 1e-4) }));
  const curves = () => {
    const t = theme();
    const train = trainings.map((x) => x.seconds);
    return [
      { name: "from one step to the next", values: at(whole), colour: t.faint, dash: "2 3" },
      { name: "training", values: thinned(train).map((i) => ({ step: trainings[i]!.after_step, v: Math.max(train[i] as number, 1e-4) })), colour: t.accent, dash: "" },
      { name: "rig: from asked to told", values: at(rig), colour: t.second, dash: "6 3" },
    ];
  };
  return new Figure({
    id: "timings",
    title: "What a step takes",
    description: "Seconds, on a logarithmic scale: what a training took, how long the rig took to answer, and the whole step.",
    legend: () => key(curves().map((c) => ({ colour: c.colour, dash: c.dash, name: c.name }))),
    draw: (width) =>
      plot(width, {
        ...axes("step", "time, s"),
        height: 240,
        y: logarithmic("time, s", curves().flatMap((c) => c.values.map((d) => d.v))),
        marks: curves().map((c) => Plot.line(c.values, { x: "step", y: "v", stroke: c.colour, strokeDasharray: c.dash, strokeWidth: 1.6 })),
      }),
    table: (): Table => {
      const by = new Map(trainings.map((x) => [x.after_step, x.seconds]));
      return {
        columns: ["step", "rig, s", "since the step before, s", "training after it, s"],
        rows: rig.map((v, i) => [i + 1, v, whole[i] ?? null, by.get(i + 1) ?? null]),
      };
    },
  });
}
