import { el, tableOf } from "../dom.js";
import type { Figure } from "../figure.js";
import type { Column, StudyRecord } from "../record.js";
import { bandsFigure } from "./bands.js";
import { decisionFigures } from "./decisions.js";
import { definitions, heldOutFigure, modelSummary, slicesFigure } from "./model_parts.js";
import { section } from "./section.js";
import { calibration, controlFigure, parametersFigure, sureFigure, timingFigure } from "./study_figures.js";

/** What was measured, row after row. */
export interface Rows {
  x: Column; // the step that led to a row; of the first row of a sequence, the one before it
  outputs: Column[];
  setAside: Set<number>;
  breaks: number[];
}

export function rowsOf(record: StudyRecord): Rows {
  const { rows, steps } = record;
  const aside = new Set(steps.set_aside);
  const setAside = new Set<number>();
  const breaks: number[] = [];
  let first = -1;
  const outputs: Column[] = record.about.outputs.map(() => []);
  const x: Column = rows.step.map((step, i) => {
    if (step === 0) {
      ++first;
      if (i > 0) {
        breaks.push(i);
      }
    } else if (aside.has(step)) {
      setAside.add(i);
    }
    outputs.forEach((column, e) =>
      column.push(step === 0 ? (rows.first_outputs[first]?.[e] ?? null) : (steps.outputs[e]?.[step - 1] ?? null)),
    );
    return step > 0 ? step : (rows.step[i + 1] ?? 1) - 1;
  });
  return { x, outputs, setAside, breaks };
}

export const withUnit = (name: string, unit: string | undefined) => (unit ? `${name}, ${unit}` : name);

/** A study: what was done, what came of it, what was learned, whether it is enough. */
export function studyView(record: StudyRecord): HTMLElement[] {
  const rows = rowsOf(record);
  const elements = (figures: (Figure | null | undefined)[]) => figures.map((f) => f?.element ?? null);
  const anyRow = rows.x.length > 0;
  const decisions = decisionFigures(record);
  const parts = [
    section("about", "Where the study stands", definitions(record.about.words)),
    section(
      "outputs",
      "Outputs",
      anyRow ? null : el("p", {}, "Nothing has been measured yet."),
      ...(anyRow ? elements(record.about.outputs.map((_, e) => outputFigure(record, rows, e))) : []),
    ),
    section("controls", "Controls", ...elements(record.about.inputs.map((_, p) => controlFigure(record, p)))),
    section(
      "decisions",
      "What each control would teach",
      decisions.length === 0 ? el("p", {}, "No control was chosen by a model yet.") : null,
      ...elements(decisions),
    ),
    section("sure", "Is it enough?", ...elements([sureFigure(record), calibration(record)])),
  ];
  if (record.states) {
    parts.push(
      section("states", "Latent states", ...elements(record.about.states.map((_, d) => stateFigure(record, rows, d)))),
    );
  }
  parts.push(
    section(
      "model",
      "The model",
      record.model ? modelSummary(record.model) : el("p", {}, "There is no model yet."),
      ...elements([
        record.slices ? slicesFigure(record.slices) : null,
        record.model ? heldOutFigure(record.model) : null,
        parametersFigure(record),
      ]),
    ),
    section("time", "Timings", ...elements([timingFigure(record)])),
    section(
      "events",
      "Events",
      tableOf(
        { columns: ["when (UTC)", "step", "what", "in words"], rows: record.events.map((e) => [e.at, e.step, e.kind, e.text]) },
        "Failures, crashes, voided steps, new sequences, sessions",
        1000,
      ),
    ),
  );
  return parts;
}

function outputFigure(record: StudyRecord, rows: Rows, e: number): Figure {
  const { about } = record;
  const name = about.outputs[e] ?? "";
  const low = about.limits?.low[e] ?? null;
  const high = about.limits?.high[e] ?? null;
  const predictions = [
    ...(record.one_step ? [{ key: "one", name: "one step ahead", prediction: record.one_step, output: e }] : []),
    ...(record.free_run ? [{ key: "free", name: "free run", prediction: record.free_run, output: e }] : []),
  ];
  return bandsFigure({
    id: `output-${e}`,
    title: `Output ${name}`,
    description:
      "Measured, and what the newest model says: one step ahead of the rows before, or in a free run from the controls alone, from each sequence's beginning. It has learned from these rows; “Is it enough?” has errors made before.",
    xLabel: "step",
    yLabel: withUnit(name, about.output_units[e]),
    x: rows.x,
    measured: rows.outputs[e] ?? [],
    setAside: rows.setAside,
    breaks: rows.breaks,
    predictions,
    ...(low !== null || high !== null ? { limits: { low, high, name: "limits" } } : {}),
  });
}

function stateFigure(record: StudyRecord, rows: Rows, d: number): Figure {
  const name = record.about.states[d] ?? "";
  const mean = record.states?.mean[d] ?? [];
  const sd = record.states?.sd[d] ?? [];
  const at = (factor: number): Column => mean.map((m, i) => (m === null ? null : m + factor * (sd[i] ?? 0)));
  const region = record.about.region.find((r) => r.name === name);
  return bandsFigure({
    id: `state-${d}`,
    title: `State ${name}`,
    description: "The state as the newest model smooths it from all outputs: mean, 50 % and 95 % bands. Nobody measured it as such.",
    xLabel: "step",
    yLabel: name,
    x: rows.x,
    measured: [],
    breaks: rows.breaks,
    predictions: [
      {
        key: "smoothed",
        name: "smoothed",
        output: 0,
        prediction: { mean: [mean], q025: [at(-1.96)], q25: [at(-0.674)], q75: [at(0.674)], q975: [at(1.96)], beyond: [] },
      },
    ],
    ...(region ? { limits: { low: region.low, high: region.high, name: "region where the model will be used" } } : {}),
  });
}
