import * as Plot from "@observablehq/plot";
import { average, buckets, extremes, highest, lowest } from "../decimate.js";
import { select, slider, sliderValue, value, type Choice, type Table } from "../dom.js";
import { axes, Figure, key, manyDots, plot } from "../figure.js";
import type { Column, Num, Prediction } from "../record.js";
import { theme } from "../theme.js";

/** An output over rows: what was measured, and what a model says of it. */
export interface Bands {
  id: string;
  title: string;
  description: string;
  xLabel: string;
  yLabel: string;
  x: Column;
  measured: Column;
  /** Rows that were measured and not learned from. */
  setAside?: Set<number>;
  /** Rows at which something new begins. */
  breaks?: number[];
  predictions: { key: string; name: string; prediction: Prediction; output: number }[];
  limits?: { low: Num; high: Num; name: string };
}

const kMostBuckets = 400;
const kWindow = 300; // rows shown of many, unless all are asked for
const kWindows: Choice[] = [
  { value: "all", label: "all rows" },
  { value: "100", label: "100 rows" },
  { value: "300", label: "300 rows" },
  { value: "1000", label: "1000 rows" },
];

function shownRows(id: string, rows: number): [number, number] {
  if (rows <= kWindow) {
    return [0, rows];
  }
  const width = value(`${id}-window`, kWindows, "all");
  if (width === "all") {
    return [0, rows];
  }
  const count = Math.min(Number(width), rows);
  const first = Math.min(sliderValue(`${id}-from`, kPositions), kPositions) / kPositions;
  const from = Math.round(first * (rows - count));
  return [from, from + count];
}
const kPositions = 200;

export function bandsFigure(spec: Bands): Figure {
  const { id, x, measured } = spec;
  const rows = x.length;
  const modes: Choice[] = spec.predictions.map((p) => ({ value: p.key, label: p.name }));
  const mode = () => spec.predictions.find((p) => p.key === value(`${id}-mode`, modes, modes[0]?.value ?? ""));
  const controls = [];
  if (modes.length > 1) {
    controls.push(select(`${id}-mode`, "Prediction", modes, modes[0]!.value, () => figure.redraw()));
  }
  if (rows > kWindow) {
    controls.push(select(`${id}-window`, "Show", kWindows, "all", () => figure.redraw()));
    controls.push(
      slider(`${id}-from`, "from", kPositions, (i) => `${Math.round((100 * i) / kPositions)} %`, () => figure.redraw()),
    );
  }

  const draw = (width: number) => {
    const t = theme();
    const [from, to] = shownRows(id, rows);
    const chosen = mode();
    const p = chosen?.prediction;
    const e = chosen?.output ?? 0;
    const marks: Plot.Markish[] = [];
    const pieces = buckets(from, to, Math.min(kMostBuckets, width));
    if (p) {
      const band = pieces.map((b) => ({
        x: x[b.from] ?? null,
        mean: average(p.mean[e], b),
        low95: lowest(p.q025[e], b),
        high95: highest(p.q975[e], b),
        low50: lowest(p.q25[e], b),
        high50: highest(p.q75[e], b),
        breaks: spec.breaks?.filter((k) => k <= b.from).length ?? 0,
      }));
      const by = { z: "breaks" };
      marks.push(
        Plot.areaY(band, { ...by, x: "x", y1: "low95", y2: "high95", fill: t.accent, fillOpacity: 0.18 }),
        Plot.areaY(band, { ...by, x: "x", y1: "low50", y2: "high50", fill: t.accent, fillOpacity: 0.28 }),
        Plot.lineY(band, { ...by, x: "x", y: "mean", stroke: t.accent, strokeWidth: 1.6 }),
      );
      const beyond = p.beyond.filter((i) => i >= from && i < to);
      const few = beyond.filter((_, k) => k % Math.ceil(beyond.length / kMostBuckets || 1) === 0);
      marks.push(Plot.tickX(few.map((i) => x[i]), { stroke: t.warn, strokeWidth: 2, insetTop: plotHeight(width) - 46 }));
    }
    if (spec.limits) {
      const lines = [spec.limits.low, spec.limits.high].filter((v) => v !== null);
      marks.push(Plot.ruleY(lines, { stroke: t.warn, strokeDasharray: "5 4" }));
    }
    if (spec.breaks && spec.breaks.length < 200) {
      const inside = spec.breaks.filter((i) => i > from && i < to);
      marks.push(Plot.ruleX(inside.map((i) => x[i]), { stroke: t.faint, strokeDasharray: "1 3" }));
    }
    const points = pieces.flatMap((b) => extremes(measured, b)).map((i) => ({ x: x[i], y: measured[i], row: i }));
    const good = points.filter((d) => !spec.setAside?.has(d.row));
    const bad = points.filter((d) => spec.setAside?.has(d.row));
    marks.push(
      points.length > 200
        ? manyDots(good, t.measured, 2.6)
        : Plot.dot(good, { x: "x", y: "y", r: 2.4, fill: t.measured }),
      Plot.dot(bad, { x: "x", y: "y", r: 4, symbol: "times", stroke: t.warn, strokeWidth: 2 }),
      Plot.tip(
        points,
        Plot.pointerX({
          x: "x",
          y: "y",
          fill: t.background,
          title: (d: { row: number }) => tipText(spec, chosen, d.row),
        }),
      ),
    );
    const scales = axes(spec.xLabel, spec.yLabel);
    return plot(width, { ...scales, height: plotHeight(width), marks });
  };

  const figure = new Figure({
    id,
    title: spec.title,
    description: spec.description,
    controls,
    legend: () => {
      const t = theme();
      const entries: Parameters<typeof key>[0] = [{ colour: t.measured, shape: "dot", name: "measured" }];
      if (spec.setAside && spec.setAside.size > 0) {
        entries.push({ colour: t.warn, shape: "cross", name: "measured, not learned from" });
      }
      if (mode()) {
        entries.push(
          { colour: t.accent, name: "predicted mean" },
          { colour: t.accent, shape: "area", name: "50 % and 95 % bands" },
        );
        if ((mode()?.prediction.beyond.length ?? 0) > 0) {
          entries.push({ colour: t.warn, name: "ticks below: beyond what the data support" });
        }
      }
      if (spec.limits) {
        entries.push({ colour: t.warn, dash: "5 4", name: spec.limits.name });
      }
      return key(entries);
    },
    draw,
    table: () => table(spec, mode()),
  });
  return figure;
}

const plotHeight = (width: number) => (width < 480 ? 240 : 300);

function tipText(spec: Bands, chosen: Bands["predictions"][number] | undefined, row: number): string {
  const text = [`${spec.xLabel}: ${spec.x[row]}`, `measured: ${spec.measured[row]}`];
  if (chosen) {
    const p = chosen.prediction;
    const e = chosen.output;
    text.push(`${chosen.name}: ${p.mean[e]?.[row]}`, `95 %: ${p.q025[e]?.[row]} to ${p.q975[e]?.[row]}`);
  }
  return text.join("\n");
}

function table(spec: Bands, chosen: Bands["predictions"][number] | undefined): Table {
  const p = chosen?.prediction;
  const e = chosen?.output ?? 0;
  const beyond = new Set(p?.beyond ?? []);
  return {
    columns: [spec.xLabel, "measured", ...(p ? ["mean", "2.5 %", "25 %", "75 %", "97.5 %", "beyond the data"] : [])],
    rows: spec.x.map((x, i) => [
      x,
      spec.measured[i],
      ...(p ? [p.mean[e]?.[i], p.q025[e]?.[i], p.q25[e]?.[i], p.q75[e]?.[i], p.q975[e]?.[i], beyond.has(i) ? 1 : 0] : []),
    ]),
  };
}
