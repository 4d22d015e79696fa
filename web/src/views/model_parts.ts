import * as Plot from "@observablehq/plot";
import { el, format, named, select, sentence, tableOf, value, type Choice } from "../dom.js";
import { Figure } from "../figure.js";
import { colourBar, key } from "../marks.js";
import { axes, colours, plot } from "../plot.js";
import type { Column, ModelDescription, Slices } from "../record.js";
import { theme } from "../theme.js";

/** Equations, parameters and how the training went, in words and tables. */
export function modelSummary(model: ModelDescription): HTMLElement {
  const training = model.training;
  const words = el("div", { class: "card" }, el("h3", {}, "What was learned"));
  const list = el("ul", { class: "equations" });
  for (const state of model.states) {
    list.append(el("li", {}, el("code", {}, sentence(state.equation))));
  }
  for (const output of model.outputs) {
    list.append(el("li", {}, sentence(`output ${output.words}`)));
  }
  model.knowledge.forEach((known) => list.append(el("li", {}, "declared: ", sentence(known))));
  words.append(list);
  const why = training.message || training.explanation;
  const status = `${training.status || "done"}${why ? `: ${why}` : ""}`;
  words.append(
    definitions([
      ["Training", status],
      ["Bound (ELBO)", `${format(training.bound)}; candidate ${training.chosen}${training.reason ? `: ${training.reason}` : ""}`],
      ["Held out", heldOutWords(model)],
      ["Learned from", `${model.rows} rows in ${model.sequences} sequence(s), ${format(model.dt)} s apart`],
      ...(training.structure ? ([["Structure", training.structure]] as [string, string][]) : []),
      ...(training.calibration ? ([["Intervals", training.calibration]] as [string, string][]) : []),
    ]),
  );
  if (model.parameters.length > 0) {
    words.append(
      tableOf(
        {
          columns: ["parameter", "value", "sd", "95 % from", "to", "unit", "known from the data"],
          rows: model.parameters.map((p) => [p.name, p.value, p.sd, p.low, p.high, p.unit, p.determined === null ? null : `${(100 * p.determined).toFixed(0)} %`]),
        },
        "Parameters of the declared physics",
      ),
    );
  }
  model.warnings.forEach((warning) => words.append(el("p", { class: "note" }, sentence(warning))));
  const rows = model.states.flatMap((s) => [
    ...(s.kind === "copy" ? [] : [[`process noise of ${s.name}`, s.process_sd, s.process_sd_fixed ? "given" : "learned, sd per step"]]),
    ...Object.entries(s.weights ?? {}).map(([input, w]) => [`weight of ${input} in ${s.name}`, w, "linear part, per step"]),
    ...(s.function_sd ? [[`curved part of ${s.name}`, s.function_sd, "prior sd"]] : []),
    ...Object.entries(s.length_scales ?? {}).map(([input, l]) => [
      `length scale of ${input} in ${s.name}`,
      l,
      `${format(s.relative_length_scales?.[input])} of its spread: small is relevant`,
    ]),
    ...(s.explained !== undefined && s.explained !== null
      ? [[`motion of ${s.name} explained`, s.explained, "share; the rest is process noise"]]
      : []),
  ]) as (string | number | null)[][];
  const noise = model.outputs.map((o) => [`noise of ${o.name}`, o.noise_sd, o.noise_sd_fixed ? "given" : "learned, sd"]);
  words.append(tableOf({ columns: ["parameter", "value", "what it is"], rows: [...noise, ...rows] }, "Parameters"));
  if (training.candidates.length > 1) {
    words.append(
      tableOf(
        {
          columns: ["candidate", "bound", "predictive density", "held-out error"],
          rows: training.candidates.map((c) => [c.name, c.bound, c.predictive_density, c.validation]),
        },
        "Candidates of the training",
      ),
    );
  }
  return words;
}

function heldOutWords(model: ModelDescription): string {
  const { training } = model;
  if (training.held_out_words) {
    return training.held_out_words;
  }
  return training.candidates.some((c) => c.validation !== null)
    ? "free runs over rows that were left out chose among the candidates: see their errors below"
    : "too few rows to leave some out";
}

export function definitions(entries: [string, string][]): HTMLElement {
  const list = el("dl");
  for (const [term, text] of entries) {
    list.append(el("dt", {}, term), el("dd", {}, sentence(text)));
  }
  return list;
}

/** The error of free runs over rows that were left out, by steps ahead. */
export function heldOutFigure(model: ModelDescription): Figure | null {
  const held = model.training.held_out;
  if (held.runs === 0 || held.model.length === 0) {
    return null;
  }
  const curves = [
    { name: "model", values: held.model },
    { name: "linear model", values: held.linear },
    { name: "holding the last value", values: held.hold },
  ];
  const looks = () => {
    const t = theme();
    return [
      { colour: t.accent, dash: "" },
      { colour: t.second, dash: "6 3" },
      { colour: t.faint, dash: "2 3" },
    ];
  };
  return new Figure({
    id: "held-out",
    title: "Error over rows that were left out",
    description:
      "Free runs over rows that the function had not learned from: root mean squared error by steps ahead, in scaled units (a declared range is 3.5 wide).",
    legend: () => key(curves.map((c, i) => ({ ...looks()[i]!, name: c.name }))),
    draw: (width) =>
      plot(width, {
        ...axes("steps ahead", "RMSE, scaled"),
        y: { label: "RMSE, scaled", grid: true, zero: true, tickFormat: format },
        marks: curves.flatMap((c, i) => [
          Plot.line(
            c.values.map((v, k) => ({ k: k + 1, v })),
            { x: "k", y: "v", stroke: looks()[i]!.colour, strokeDasharray: looks()[i]!.dash, strokeWidth: 2, marker: "dot" },
          ),
        ]),
      }),
    table: () => ({
      columns: ["steps ahead", ...curves.map((c) => c.name)],
      rows: held.model.map((_, k) => [k + 1, ...curves.map((c) => c.values[k])]),
    }),
  });
}

export const kNoSlices =
  "Slices of the function are drawn over states that were declared by name: those of this model are its own, or past values.";

/** Where the data lie, and how uncertain the learned function is there. */
export function slicesFigure(slices: Slices, units: Record<string, string> = {}): Figure | null {
  if (slices.pairs.length === 0) {
    return null;
  }
  const withUnit = (name: string | undefined) => (name !== undefined && units[name] ? `${name}, ${units[name]}` : (name ?? ""));
  const pairs: Choice[] = slices.pairs.map((p, i) => ({
    value: String(i),
    label: `${slices.inputs[p.x]} and ${slices.inputs[p.y]}`,
  }));
  const functions: Choice[] = slices.functions.map((name, i) => ({ value: String(i), label: name }));
  const pair = () => slices.pairs[Number(value("slice-pair", pairs, "0"))]!;
  const row = () => Number(value("slice-function", functions, "0"));
  const controls = [
    select("slice-pair", "Over", pairs, "0", () => figure.redraw()),
    select("slice-function", "Next value of", functions, "0", () => figure.redraw()),
  ];
  const cells = () => {
    const p = pair();
    const [x0, x1, y0, y1] = p.range;
    const dx = (x1 - x0) / (p.n - 1);
    const dy = (y1 - y0) / (p.n - 1);
    return (p.sd[row()] ?? []).map((sd, k) => ({
      x: x0 + dx * Math.floor(k / p.n),
      y: y0 + dy * (k % p.n),
      dx: dx / 2,
      dy: dy / 2,
      sd,
    }));
  };
  const rest = () => {
    const p = pair();
    const fixed = slices.inputs
      .map((name, i) => ({ name, i }))
      .filter(({ i }) => i !== p.x && i !== p.y)
      .map(({ name, i }) => `${name} = ${format(slices.rest[i])}${units[name] ? ` ${units[name]}` : ""}`);
    return fixed.length > 0 ? fixed.join(", ") : "none";
  };
  const highest = () => Math.max(...cells().map((c) => c.sd ?? 0)) || 1;
  const what = slices.what ?? "data";
  const figure = new Figure({
    id: "slices",
    title: `Where the ${what} lie, and how uncertain the function is there`,
    description: `Colour: standard deviation of the learned function, process noise apart. Dots: ${what}${
      (slices.stride ?? 1) > 1 ? `, every ${slices.stride}th` : ""
    }. Other inputs stand at the median of the ${what}.`,
    controls,
    legend: () =>
      el(
        "div",
        {},
        colourBar(`sd of the next ${withUnit(slices.functions[row()])}:`, 0, highest()),
        el("p", { class: "note" }, "Other inputs: ", named(rest())),
      ),
    draw: (width) => {
      const p = pair();
      const points = (slices.points?.[p.x] ?? []).map((x, i) => ({ x, y: slices.points?.[p.y]?.[i] ?? null }));
      const size = Math.min(width, 640);
      return plot(size, {
        height: Math.round(size * 0.72),
        marginBottom: 44,
        inset: 0,
        insetLeft: 0,
        insetRight: 0,
        insetTop: 0,
        insetBottom: 0,
        x: { label: withUnit(slices.inputs[p.x]), labelAnchor: "center", tickFormat: format },
        y: { label: withUnit(slices.inputs[p.y]), tickFormat: format },
        color: colours(0, highest()),
        marks: [
          Plot.rect(cells(), {
            x1: (d: Cell) => d.x - d.dx,
            x2: (d: Cell) => d.x + d.dx,
            y1: (d: Cell) => d.y - d.dy,
            y2: (d: Cell) => d.y + d.dy,
            fill: "sd",
            inset: -0.3,
            title: (d: Cell) => `sd ${format(d.sd)}`,
          }),
          Plot.dot(points, { x: "x", y: "y", r: points.length > 500 ? 1.4 : 2.6, fill: "#ffffff", stroke: "#000000", strokeWidth: 0.8 }),
        ],
      });
    },
    table: () => {
      const p = pair();
      return {
        columns: [slices.inputs[p.x] ?? "", slices.inputs[p.y] ?? "", `sd of next ${slices.functions[row()] ?? ""}`],
        rows: cells().map((c) => [c.x, c.y, c.sd]),
      };
    },
  });
  return figure;
}
type Cell = { x: number; y: number; dx: number; dy: number; sd: number | null };

/** Shares of measured values by P(output below): flat if the intervals are right. */
export function calibrationFigure(id: string, description: string, outputs: string[], pit: Column[], counts: number[]): Figure {
  const choices: Choice[] = outputs.map((name, e) => ({ value: String(e), label: name }));
  const shown = () => Number(value(`${id}-output`, choices, "0"));
  const figure = new Figure({
    id,
    title: "Calibration",
    description,
    controls: outputs.length > 1 ? [select(`${id}-output`, "Output", choices, "0", () => figure.redraw())] : [],
    legend: () =>
      key([
        { colour: theme().accent, shape: "area", name: `measured values (${counts[shown()] ?? 0})` },
        { colour: theme().warn, dash: "5 4", name: "if the intervals are right" },
        { colour: theme().faint, shape: "area", name: "what chance allows, 95 %" },
      ]),
    draw: (width) => {
      const t = theme();
      const bins = (pit[shown()] ?? []).map((share, k) => ({ x1: k / 10, x2: (k + 1) / 10, share: share ?? 0 }));
      const by_chance = 1.96 * Math.sqrt(0.09 / Math.max(1, counts[shown()] ?? 1));
      return plot(width, {
        ...axes("P(below what was measured)", "share of values"),
        height: 220,
        insetLeft: 0,
        insetRight: 0,
        insetBottom: 0,
        y: { label: "share of values", grid: true, zero: true },
        marks: [
          Plot.rect([0], { x1: 0, x2: 1, y1: Math.max(0, 0.1 - by_chance), y2: Math.min(1, 0.1 + by_chance), fill: t.faint, fillOpacity: 0.18 }),
          Plot.rectY(bins, { x1: "x1", x2: "x2", y: "share", fill: t.accent, fillOpacity: 0.6, inset: 1 }),
          Plot.ruleY([0.1], { stroke: t.warn, strokeDasharray: "5 4" }),
          Plot.ruleY([0], { stroke: t.faint }),
        ],
      });
    },
    table: () => ({
      columns: ["from", "to", ...outputs],
      rows: Array.from({ length: 10 }, (_, k) => [k / 10, (k + 1) / 10, ...pit.map((column) => column[k] ?? null)]),
    }),
  });
  return figure;
}
