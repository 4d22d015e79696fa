import * as Plot from "@observablehq/plot";
import { el, format, select, tableOf, value, type Choice } from "../dom.js";
import { Figure } from "../figure.js";
import { key } from "../marks.js";
import { axes, plot } from "../plot.js";
import type { Column, CorrelationTest, ModelRecord, Num } from "../record.js";
import { theme } from "../theme.js";
import { bandsFigure } from "./bands.js";
import { calibrationFigure, heldOutFigure, kNoSlices, modelSummary, slicesFigure } from "./model_parts.js";
import { section } from "./section.js";

type Recording = ModelRecord["recordings"][number];

/** A fitted model, and how it does on recordings. */
export function modelView(record: ModelRecord, rebuild: () => void): HTMLElement[] {
  const choices: Choice[] = record.recordings.map((r, i) => ({ value: String(i), label: r.name }));
  const recording = record.recordings[Number(value("recording", choices, "0"))];
  const parts: HTMLElement[] = [];
  if (recording) {
    const chooser =
      choices.length > 1 ? el("div", { class: "controls" }, select("recording", "Recording", choices, "0", rebuild)) : null;
    const free = record.outputs.map((_, e) => outputFigure(record, recording, e).element);
    parts.push(
      section("fit", "Free run against measured", chooser, ...free),
      section("scores", "Scores", scoreTable(record, recording), coverage(record, recording).element),
      section(
        "residuals",
        "Residuals one step ahead",
        residualFigure(record, recording).element,
        ...correlationFigures(record).map((f) => f.element),
      ),
      section("phase", "Phase portrait", phaseFigure(record, recording).element),
    );
  } else {
    parts.push(el("p", { class: "note" }, "Without data: give a CSV file to see the model's predictions beside it."));
  }
  const learned = [
    record.model ? modelSummary(record.model) : null,
    record.model && !record.slices ? el("p", { class: "note" }, kNoSlices) : null,
    record.model ? heldOutFigure(record.model)?.element : null,
    record.slices ? slicesFigure(record.slices)?.element : null,
    record.trace.length > 1 ? traceFigure(record).element : null,
  ];
  parts.push(section("model", "The model", ...learned));
  return parts;
}

function outputFigure(record: ModelRecord, recording: Recording, e: number): Figure {
  const name = record.outputs[e] ?? "";
  return bandsFigure({
    id: `output-${e}`,
    title: `Output ${name}`,
    description: `Measured, and predicted ${
      record.warmup > 0 ? `after ${record.warmup} rows of warm-up` : "from the first row on"
    } from the controls alone (free run) or from all rows before (one step ahead). Bands hold 50 and 95 % by the model.`,
    xLabel: "t, s",
    yLabel: name,
    x: recording.t,
    measured: recording.outputs[e] ?? [],
    predictions: [
      { key: "free", name: "free run", prediction: recording.free_run, output: e },
      { key: "one", name: "one step ahead", prediction: recording.one_step, output: e },
    ],
  });
}

function scoreTable(record: ModelRecord, recording: Recording): HTMLElement {
  const rows = record.outputs.flatMap((name, e) =>
    Object.entries(recording.scores).map(([predictor, s]) => [
      name,
      predictor,
      s.count[e] ?? null,
      s.rmse[e] ?? null,
      s.nlpd[e] ?? null,
      ...[0, 1, 2].map((k) => percent(s.coverage[e]?.[k] ?? null)),
    ]),
  );
  return tableOf(
    { columns: ["output", "predictor", "values", "RMSE", "NLPD", "in 50 %", "in 90 %", "in 95 %"], rows },
    `Scores on ${recording.name}, ${recording.rows} rows`,
  );
}

const percent = (share: Num) => (share === null ? null : `${(100 * share).toFixed(0)} %`);

function coverage(record: ModelRecord, recording: Recording): Figure {
  return calibrationFigure(
    "calibration",
    "Where measured values fell in the free run's distribution, in ten bins. Along the dashed line is right, shaded is what chance allows; high at both ends is too sure, high in the middle not sure enough.",
    record.outputs,
    recording.scores["free run"]?.pit ?? [],
    recording.scores["free run"]?.count ?? [],
  );
}

function residualFigure(record: ModelRecord, recording: Recording): Figure {
  const choices: Choice[] = record.outputs.map((name, e) => ({ value: String(e), label: name }));
  const shown = () => Number(value("residual-output", choices, "0"));
  const points = () => {
    const column = recording.residuals[shown()] ?? [];
    const stride = Math.ceil(column.length / 3000) || 1;
    return column.map((v, i) => ({ t: recording.t[i], v })).filter((d, i) => d.v !== null && i % stride === 0);
  };
  const figure = new Figure({
    id: "residuals-figure",
    title: "Residuals over time",
    description: "Errors one step ahead in units of their predicted sd: 95 % should lie between the dashed lines, without a pattern.",
    controls: record.outputs.length > 1 ? [select("residual-output", "Output", choices, "0", () => figure.redraw())] : [],
    draw: (width) => {
      const t = theme();
      return plot(width, {
        ...axes("t, s", "residual, sd"),
        height: 220,
        marks: [
          Plot.ruleY([-1.96, 1.96], { stroke: t.warn, strokeDasharray: "5 4" }),
          Plot.ruleY([0], { stroke: t.faint }),
          Plot.dot(points(), { x: "t", y: "v", r: 1.6, fill: t.accent, tip: { fill: t.background } }),
        ],
      });
    },
    table: () => ({
      columns: ["t, s", ...record.outputs],
      rows: recording.t.map((time, i) => [time, ...recording.residuals.map((c) => c[i] ?? null)]),
    }),
  });
  return figure;
}

function correlationFigures(record: ModelRecord): Figure[] {
  const tests = record.residual_tests ?? [];
  const figures: Figure[] = [];
  const shown = { output: () => Number(value("correlation-output", outputs, "0")), input: () => Number(value("correlation-input", inputs, "0")) };
  const outputs: Choice[] = record.outputs.map((name, e) => ({ value: String(e), label: name }));
  const inputs: Choice[] = record.inputs.map((name, p) => ({ value: String(p), label: name }));
  if (tests.length === 0) {
    return figures;
  }
  const redraw = () => figures.forEach((f) => f.redraw());
  const words = (test: CorrelationTest | undefined) =>
    test?.p === null || test === undefined
      ? "nothing to test"
      : `${test.p < 0.05 ? "More than chance: something is left to learn" : "No more than chance"}; p = ${format(test.p)} (chi-squared ${format(test.statistic)}, ${test.degrees} degrees)`;
  figures.push(
    stems({
      id: "autocorrelation",
      title: "Autocorrelation of residuals",
      description: "A model that leaves nothing to learn has residuals that are white: correlations within the dashed lines (95 %).",
      controls: outputs.length > 1 ? [select("correlation-output", "Output", outputs, "0", redraw)] : [],
      first: 1,
      test: () => tests[shown.output()]?.whiteness,
      count: () => tests[shown.output()]?.count ?? 0,
      words,
    }),
  );
  if (inputs.length > 0) {
    figures.push(
      stems({
        id: "crosscorrelation",
        title: "Correlation of residuals with past inputs",
        description: "An input that still predicts a residual has an effect which the model does not know.",
        controls: inputs.length > 1 ? [select("correlation-input", "Input", inputs, "0", redraw)] : [],
        first: 0,
        test: () => tests[shown.output()]?.inputs[shown.input()],
        count: () => tests[shown.output()]?.count ?? 0,
        words,
      }),
    );
  }
  return figures;
}

interface Stems {
  id: string;
  title: string;
  description: string;
  controls: HTMLElement[];
  first: number;
  test: () => CorrelationTest | undefined;
  count: () => number;
  words: (test: CorrelationTest | undefined) => string;
}

function stems(spec: Stems): Figure {
  const values = () => (spec.test()?.correlation ?? []).map((r, k) => ({ lag: k + spec.first, r }));
  return new Figure({
    id: spec.id,
    title: spec.title,
    description: spec.description,
    controls: spec.controls,
    legend: () => el("p", { class: "note" }, spec.words(spec.test())),
    draw: (width) => {
      const t = theme();
      const bound = spec.count() > 0 ? 1.96 / Math.sqrt(spec.count()) : 1;
      return plot(width, {
        ...axes("lag, rows", "correlation"),
        height: 220,
        marks: [
          Plot.ruleY([-bound, bound], { stroke: t.warn, strokeDasharray: "5 4" }),
          Plot.ruleY([0], { stroke: t.faint }),
          Plot.ruleX(values(), { x: "lag", y: "r", stroke: t.accent, strokeWidth: 2 }),
          Plot.dot(values(), { x: "lag", y: "r", fill: t.accent, r: 3, tip: { fill: t.background } }),
        ],
      });
    },
    table: () => ({ columns: ["lag", "correlation"], rows: values().map((d) => [d.lag, d.r]) }),
  });
}

/** Outputs against each other or against their own rate, measured and in the free run. */
function phaseFigure(record: ModelRecord, recording: Recording): Figure {
  const rate = (column: Column) =>
    column.map((v, i) => {
      const next = column[i + 1];
      return v === null || next === null || next === undefined ? null : (next - v) / record.dt;
    });
  const axesOf: (Choice & { of: (columns: Column[]) => Column })[] = record.outputs.flatMap((name, e) => [
    { value: `y${e}`, label: name, of: (c: Column[]) => c[e] ?? [] },
    { value: `d${e}`, label: `rate of ${name}`, of: (c: Column[]) => rate(c[e] ?? []) },
  ]);
  const across = () => axesOf.find((a) => a.value === value("phase-x", axesOf, "y0"))!;
  const up = () => axesOf.find((a) => a.value === value("phase-y", axesOf, "d0"))!;
  const points = (columns: Column[]) => {
    const xs = across().of(columns);
    const ys = up().of(columns);
    const most = 1500;
    return xs.slice(0, most).map((x, i) => ({ x, y: ys[i] ?? null, i }));
  };
  const figure = new Figure({
    id: "phase-figure",
    title: "Phase portrait",
    description: "The path through two quantities: measured, and of the free run's mean. Rates are differences of neighbouring rows, so noise shows in those of measured outputs. At most 1,500 rows.",
    controls: [
      select("phase-x", "Across", axesOf, "y0", () => figure.redraw()),
      select("phase-y", "Up", axesOf, "d0", () => figure.redraw()),
    ],
    legend: () => key([
      { colour: theme().measured, shape: "dot", name: "measured" },
      { colour: theme().accent, name: "free run" },
    ]),
    draw: (width) => {
      const t = theme();
      return plot(Math.min(width, 640), {
        ...axes(across().label, up().label),
        height: Math.min(width, 640) * 0.7,
        marks: [
          Plot.line(points(recording.outputs), { x: "x", y: "y", stroke: t.faint, strokeWidth: 0.7 }),
          Plot.dot(points(recording.outputs), { x: "x", y: "y", r: 1.8, fill: t.measured }),
          Plot.line(points(recording.free_run.mean), { x: "x", y: "y", stroke: t.accent, strokeWidth: 1.6 }),
        ],
      });
    },
    table: () => {
      const measured = points(recording.outputs);
      const run = points(recording.free_run.mean);
      return {
        columns: [`${across().label}, measured`, `${up().label}, measured`, `${across().label}, free run`, `${up().label}, free run`],
        rows: measured.map((d, i) => [d.x, d.y, run[i]?.x, run[i]?.y]),
      };
    },
  });
  return figure;
}

function traceFigure(record: ModelRecord): Figure {
  const values = record.trace.map((v, k) => ({ k, v }));
  return new Figure({
    id: "trace",
    title: "The objective while training",
    description: "Bound plus log prior after every accepted step of the start that was chosen; it never falls.",
    draw: (width) => {
      const t = theme();
      return plot(width, {
        ...axes("accepted step", "objective"),
        height: 220,
        marks: [Plot.line(values, { x: "k", y: "v", stroke: t.accent, strokeWidth: 2, tip: { fill: t.background } })],
      });
    },
    table: () => ({ columns: ["step", "objective"], rows: record.trace.map((v, k) => [k, v]) }),
  });
}
