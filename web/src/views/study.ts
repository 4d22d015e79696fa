import { el, format, tableOf } from "../dom.js";
import type { Figure } from "../figure.js";
import type { Column, Num, StudyRecord } from "../record.js";
import { bandsFigure } from "./bands.js";
import { decisionFigures } from "./decisions.js";
import { definitions, heldOutFigure, kNoSlices, modelSummary, slicesFigure } from "./model_parts.js";
import { section } from "./section.js";
import { calibration, controlFigure, parametersFigure, sureFigure, timingFigure } from "./study_figures.js";

/** What was measured, row after row. */
export interface Rows {
  x: Column; // the step that led to a row; the first row of a later sequence stands between two steps
  names: Map<number, string>; // of first rows
  outputs: Column[];
  setAside: Set<number>[]; // rows, by output
  breaks: number[];
}

export function rowsOf(record: StudyRecord): Rows {
  const { rows, steps } = record;
  const aside = steps.set_aside.map((list) => new Set(list));
  const setAside = aside.map(() => new Set<number>());
  const names = new Map<number, string>();
  const breaks: number[] = [];
  let first = -1;
  const outputs: Column[] = record.about.outputs.map(() => []);
  const x: Column = rows.step.map((step, i) => {
    if (step === 0) {
      ++first;
      names.set(i, `start of sequence ${rows.sequence[i]}`);
      if (i > 0) {
        breaks.push(i);
      }
    }
    outputs.forEach((column, e) => {
      column.push(step === 0 ? (rows.first_outputs[first]?.[e] ?? null) : (steps.outputs[e]?.[step - 1] ?? null));
      if (aside[e]?.has(step)) {
        setAside[e]?.add(i);
      }
    });
    return step > 0 ? step : (rows.step[i + 1] ?? 1) - (i > 0 ? 0.5 : 1);
  });
  return { x, names, outputs, setAside, breaks };
}

export const withUnit = (name: string, unit: string | undefined) => (unit ? `${name}, ${unit}` : name);

function unitsOf({ about }: StudyRecord): Record<string, string> {
  const all = [...about.inputs.map((name, p) => [name, about.input_units[p] ?? ""]), ...about.states.map((name, d) => [name, about.state_units[d] ?? ""])];
  return Object.fromEntries(all) as Record<string, string>;
}

/** What the study may do and where it looks, in words. */
function declared(record: StudyRecord): [string, string][] {
  const { about } = record;
  const range = (low: Num | undefined, high: Num | undefined, unit: string | undefined) =>
    `${low === null || low === undefined ? "" : `from ${format(low)} `}${high === null || high === undefined ? "" : `to ${format(high)}`}${unit ? ` ${unit}` : ""}`.trim();
  const list: [string, string][] = about.inputs.map((name, p) => {
    const slew = about.slew[p] ?? null;
    const unit = about.input_units[p];
    return [
      `Control ${name}`,
      `${range(about.box.low[p], about.box.high[p], unit)}${slew === null ? "" : `, changes by at most ${format(slew)}${unit ? ` ${unit}` : ""} in a step`}`,
    ];
  });
  about.outputs.forEach((name, e) => {
    const unit = about.output_units[e] ? ` ${about.output_units[e]}` : "";
    const bounds = [
      ...(typeof about.limits?.low[e] === "number" ? [`above ${format(about.limits.low[e])}${unit}`] : []),
      ...(typeof about.limits?.high[e] === "number" ? [`below ${format(about.limits.high[e])}${unit}`] : []),
    ];
    const kept = bounds.length > 0 ? `; kept ${bounds.join(" and ")} with probability ${format(1 - (about.limits?.delta ?? 0))}` : "";
    list.push([`Output ${name}`, `measured every ${format(about.dt)} s${unit ? `, in${unit}` : ""}${kept}`]);
  });
  if (about.region.length > 0) {
    list.push(["Region", `where the model will be used: ${about.region.map((r) => `${r.name} ${range(r.low, r.high, "")}`).join(", ")}`]);
  }
  return list;
}

/** A study: what was done, what came of it, what was learned, whether it is enough. */
export function studyView(record: StudyRecord): HTMLElement[] {
  const rows = rowsOf(record);
  const elements = (figures: (Figure | null | undefined)[]) => figures.map((f) => f?.element ?? null);
  const anyRow = rows.x.length > 0;
  const decisions = decisionFigures(record);
  const parts = [
    section("about", "Where the study stands", definitions([...record.about.words, ...declared(record)])),
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
      record.model && !record.slices ? el("p", { class: "note" }, kNoSlices) : null,
      ...elements([
        record.slices ? slicesFigure(record.slices, unitsOf(record)) : null,
        record.model ? heldOutFigure(record.model) : null,
        parametersFigure(record),
      ]),
    ),
    section("time", "Timings", ...elements([timingFigure(record)])),
    section(
      "events",
      "Events",
      tableOf(
        { columns: ["when (UTC)", "step", "what", "in words"], rows: record.events.map((e) => [e.at.replace("T", " ").replace(/\.\d+Z$/, ""), e.step, e.kind, e.text]) },
        "Failures, crashes, voided steps, new sequences, sessions",
        1000,
      ),
    ),
  );
  return parts;
}

function outputFigure(record: StudyRecord, rows: Rows, e: number): Figure {
  const { about, steps } = record;
  const name = about.outputs[e] ?? "";
  const low = about.limits?.low[e] ?? null;
  const high = about.limits?.high[e] ?? null;
  const region = about.region.find((r) => r.name === name);
  const failed = steps.status.flatMap((status, i) => (/failed|unsafe|unknown/.test(status) ? [i + 1] : []));
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
    rowNames: rows.names,
    measured: rows.outputs[e] ?? [],
    setAside: rows.setAside[e] ?? new Set(),
    breaks: rows.breaks,
    failed,
    predictions,
    ...(low !== null || high !== null ? { limits: { low, high } } : {}),
    ...(region ? { region } : {}),
  });
}

function stateFigure(record: StudyRecord, rows: Rows, d: number): Figure {
  const { about } = record;
  const name = about.states[d] ?? "";
  const mean = record.states?.mean[d] ?? [];
  const sd = record.states?.sd[d] ?? [];
  const at = (factor: number): Column => mean.map((m, i) => (m === null ? null : m + factor * (sd[i] ?? 0)));
  const output = about.state_outputs[d] ?? null;
  const measured = output === null ? null : (about.outputs[output] ?? "");
  const region = about.region.find((r) => r.name === name || r.name === measured);
  const words =
    measured === null ? "No output measures it: it is inferred from how the outputs move." : `Measured, with noise, as the output ${measured}.`;
  return bandsFigure({
    id: `state-${d}`,
    title: `State ${name}`,
    description: `The state as the newest model smooths it from all outputs: mean, 50 % and 95 % bands. ${words}`,
    xLabel: "step",
    yLabel: withUnit(name, about.state_units[d]),
    x: rows.x,
    rowNames: rows.names,
    measured: output === null ? [] : (rows.outputs[output] ?? []),
    ...(output === null ? {} : { measuredName: `measured as ${measured}`, setAside: rows.setAside[output] ?? new Set<number>() }),
    smoothed: true,
    breaks: rows.breaks,
    predictions: [
      {
        key: "smoothed",
        name: "smoothed",
        output: 0,
        prediction: { mean: [mean], q025: [at(-1.96)], q25: [at(-0.674)], q75: [at(0.674)], q975: [at(1.96)], beyond: [] },
      },
    ],
    ...(region ? { region } : {}),
  });
}
