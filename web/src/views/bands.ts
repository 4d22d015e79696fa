import * as Plot from "@observablehq/plot";
import { average, buckets, extremes, highest, lowest, sorted, type Bucket } from "../decimate.js";
import { select, slider, sliderValue, value, type Choice, type Table } from "../dom.js";
import { Figure } from "../figure.js";
import { key, manyDots, type KeyEntry } from "../marks.js";
import { axes, plot } from "../plot.js";
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
  /** Of rows that have another name than their x. */
  rowNames?: Map<number, string>;
  measured: Column;
  measuredName?: string;
  /** Rows that were measured and not learned from. */
  setAside?: Set<number>;
  /** Rows at which something new begins, but for the first; the model knows nothing of what comes there. */
  breaks?: number[];
  /** Whether the model has seen the first rows, too. */
  smoothed?: boolean;
  /** Where a step brought nothing. */
  failed?: number[];
  predictions: { key: string; name: string; prediction: Prediction; output: number }[];
  limits?: { low: Num; high: Num };
  region?: { low: Num; high: Num };
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

  const starts = new Set(spec.breaks && !spec.smoothed ? [0, ...spec.breaks] : []);
  const followed = new Map<Column, Column>(); // a band does not lead from one sequence into the next
  const within = (column: Column | undefined) => {
    if (!column || starts.size === 0) {
      return column;
    }
    const known = followed.get(column) ?? column.map((v, i) => (starts.has(i) ? null : v));
    followed.set(column, known);
    return known;
  };

  const draw = (width: number) => {
    const t = theme();
    const [from, to] = shownRows(id, rows);
    const chosen = mode();
    const p = chosen?.prediction;
    const e = chosen?.output ?? 0;
    const marks: Plot.Markish[] = [];
    const pieces = buckets(from, to, Math.min(kMostBuckets, width));
    const points = pieces.flatMap((b) => extremes(measured, b)).map((i) => ({ x: x[i], y: measured[i], row: i }));
    const good = points.filter((d) => !spec.setAside?.has(d.row));
    const bad = points.filter((d) => spec.setAside?.has(d.row));
    const inner = [spec.limits?.low, spec.limits?.high, spec.region?.low, spec.region?.high];
    const bands = p ? bandsOf(spec, pieces, (name) => within(p[name][e])) : [];
    const range = shownRange([...good.map((d) => d.y), ...bands.map((b) => b.mean), ...inner], bands);
    if (p) {
      const by = { z: "breaks", clip: true };
      const first = [...starts].filter((i) => i >= from && i < to).slice(0, kMostBuckets);
      marks.push(
        Plot.areaY(bands, { ...by, x: "x", y1: "low95", y2: "high95", fill: t.accent, fillOpacity: 0.18 }),
        Plot.areaY(bands, { ...by, x: "x", y1: "low50", y2: "high50", fill: t.accent, fillOpacity: 0.28 }),
        Plot.ruleX(first, {
          x: (i: number) => x[i],
          y1: (i: number) => p.q025[e]?.[i],
          y2: (i: number) => p.q975[e]?.[i],
          stroke: t.accent,
          strokeOpacity: 0.45,
          strokeWidth: 1.5,
          clip: true,
        }),
        // A line needs two points: a row that stands alone has a bar.
        Plot.ruleX(alone(bands), { x: "x", y1: "low95", y2: "high95", stroke: t.accent, strokeOpacity: 0.4, strokeWidth: 5, clip: true }),
        Plot.lineY(bands, { ...by, x: "x", y: "mean", stroke: t.accent, strokeWidth: 1.6 }),
      );
      const beyond = p.beyond.filter((i) => i >= from && i < to);
      const few = beyond.filter((_, k) => k % Math.ceil(beyond.length / kMostBuckets || 1) === 0);
      marks.push(Plot.tickX(few.map((i) => x[i]), { stroke: t.warn, strokeWidth: 2, insetTop: plotHeight(width) - 74 }));
    }
    const rules = (lines: (Num | undefined)[], stroke: string, strokeDasharray: string) =>
      Plot.ruleY(lines.filter((v) => v !== null && v !== undefined), { stroke, strokeDasharray });
    marks.push(rules(inner.slice(0, 2), t.warn, "5 4"), rules(inner.slice(2), t.good, "1 3"));
    const shownX = [x[from] ?? null, x[to - 1] ?? null];
    const inside = (v: Num | undefined): v is number =>
      typeof v === "number" && shownX[0] !== null && shownX[1] !== null && v >= shownX[0]! && v <= shownX[1]!;
    if (spec.breaks && spec.breaks.length < 200) {
      const lines = spec.breaks.map((i) => x[i]).filter(inside);
      marks.push(Plot.ruleX(lines.map((v) => v - 0.25), { stroke: t.faint, strokeDasharray: "1 3" }));
    }
    const failed = (spec.failed ?? []).filter(inside).slice(0, kMostBuckets);
    const outside = bad.filter((d) => range && (d.y! < range[0] || d.y! > range[1]));
    marks.push(
      Plot.dot(failed, { x: (v: number) => v, frameAnchor: "top", dy: 5, r: 4, symbol: "asterisk", stroke: t.warn, strokeWidth: 1.6 }),
      points.length > 200 ? manyDots(good, t.measured, 2.6) : Plot.dot(good, { x: "x", y: "y", r: 2.4, fill: t.measured }),
      Plot.dot(bad.filter((d) => !outside.includes(d)), { x: "x", y: "y", r: 4, symbol: "times", stroke: t.warn, strokeWidth: 2 }),
      ...[true, false].map((above) =>
        Plot.dot(outside.filter((d) => d.y! > range![1] === above), {
          x: "x",
          frameAnchor: above ? "top" : "bottom",
          dy: above ? 6 : -6,
          rotate: above ? 0 : 180,
          r: 4,
          symbol: "triangle",
          stroke: t.warn,
          strokeWidth: 1.6,
        }),
      ),
      Plot.tip(
        points.map((d) => ({ ...d, y: range ? Math.min(range[1], Math.max(range[0], d.y!)) : d.y })),
        Plot.pointerX({ x: "x", y: "y", fill: t.background, title: (d: { row: number }) => tipText(spec, chosen, d.row) }),
      ),
    );
    const scales = axes(spec.xLabel, spec.yLabel);
    const y = range ? { ...scales.y, domain: range, nice: false } : scales.y;
    return plot(width, { ...scales, y, height: plotHeight(width), marks });
  };

  const figure = new Figure({
    id,
    title: spec.title,
    description: spec.description,
    controls,
    legend: () => key(keyOf(spec, mode())),
    draw,
    table: () => table(spec, mode()),
  });
  return figure;
}

interface Band {
  x: Num;
  mean: Num;
  low95: Num;
  high95: Num;
  low50: Num;
  high50: Num;
  breaks: number;
}

function bandsOf(spec: Bands, pieces: Bucket[], column: (name: "mean" | "q025" | "q25" | "q75" | "q975") => Column | undefined): Band[] {
  const [mean, q025, q25, q75, q975] = [column("mean"), column("q025"), column("q25"), column("q75"), column("q975")];
  return pieces.map((b) => ({
    x: spec.x[b.from] ?? null,
    mean: average(mean, b),
    low95: lowest(q025, b),
    high95: highest(q975, b),
    low50: lowest(q25, b),
    high50: highest(q75, b),
    breaks: spec.breaks?.filter((k) => k <= b.from).length ?? 0,
  }));
}

function alone(bands: Band[]): Band[] {
  const same = (a: Band, b: Band | undefined) => b !== undefined && b.mean !== null && b.breaks === a.breaks;
  return bands.filter((b, i) => b.mean !== null && !same(b, bands[i - 1]) && !same(b, bands[i + 1]));
}

/** What is worth seeing: all that counts, and bands as far as they do not make that small. */
function shownRange(values: (Num | undefined)[], bands: Band[]): [number, number] | null {
  const known = sorted(values);
  if (known.length === 0) {
    return null;
  }
  const [low, high] = [known[0]!, known[known.length - 1]!];
  const span = high - low || Math.abs(high) || 1;
  const edges = sorted(bands.flatMap((b) => [b.low95, b.high95]));
  const from = Math.max(low - span, Math.min(low, edges[0] ?? low));
  const to = Math.min(high + span, Math.max(high, edges[edges.length - 1] ?? high));
  const margin = 0.03 * (to - from || span);
  return [from - margin, to + margin];
}

function keyOf(spec: Bands, chosen: Bands["predictions"][number] | undefined): KeyEntry[] {
  const t = theme();
  const entries: KeyEntry[] = [];
  if (spec.measured.length > 0) {
    entries.push({ colour: t.measured, shape: "dot", name: spec.measuredName ?? "measured" });
  }
  if (spec.setAside && spec.setAside.size > 0) {
    entries.push({ colour: t.warn, shape: "cross", name: "measured, not learned from (a triangle: off the scale)" });
  }
  if (chosen) {
    entries.push({ colour: t.accent, name: "mean" }, { colour: t.accent, shape: "area", name: "50 % and 95 % bands" });
    if (spec.breaks && !spec.smoothed) {
      entries.push({ colour: t.accent, shape: "tick", name: "95 % before a sequence's first measurement" });
    }
    if (chosen.prediction.beyond.length > 0) {
      entries.push({ colour: t.warn, shape: "tick", name: "below: beyond what the data support" });
    }
  }
  if (spec.limits) {
    entries.push({ colour: t.warn, dash: "5 4", name: "limits" });
  }
  if (spec.region) {
    entries.push({ colour: t.good, dash: "1 3", name: "region where the model will be used" });
  }
  if (spec.breaks && spec.breaks.length > 0) {
    entries.push({ colour: t.faint, shape: "tick", dash: "1 3", name: "a new sequence begins" });
  }
  if (spec.failed && spec.failed.length > 0) {
    entries.push({ colour: t.warn, shape: "star", name: "a step failed (see events)" });
  }
  return entries;
}

const plotHeight = (width: number) => (width < 480 ? 240 : 300);

function tipText(spec: Bands, chosen: Bands["predictions"][number] | undefined, row: number): string {
  const text = [spec.rowNames?.get(row) ?? `${spec.xLabel}: ${spec.x[row]}`, `measured: ${spec.measured[row]}`];
  if (spec.setAside?.has(row)) {
    text.push("not learned from");
  }
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
    columns: [spec.xLabel, "measured", ...(spec.setAside ? ["learned from"] : []), ...(p ? ["mean", "2.5 %", "25 %", "75 %", "97.5 %", "beyond the data"] : [])],
    rows: spec.x.map((x, i) => [
      spec.rowNames?.get(i) ?? x,
      spec.measured[i],
      ...(spec.setAside ? [spec.setAside.has(i) ? 0 : 1] : []),
      ...(p ? [p.mean[e]?.[i], p.q025[e]?.[i], p.q25[e]?.[i], p.q75[e]?.[i], p.q975[e]?.[i], beyond.has(i) ? 1 : 0] : []),
    ]),
  };
}
