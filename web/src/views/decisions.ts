import * as Plot from "@observablehq/plot";
import { buckets, extremes } from "../decimate.js";
import { format, select, slider, sliderValue, value, type Choice } from "../dom.js";
import { axes, Figure, key, plot } from "../figure.js";
import type { Decision, StudyRecord } from "../record.js";
import { theme } from "../theme.js";
import { withUnit } from "./study.js";

const kSlider = "decision";

/** The criterion over time, and, at the step where the slider stands, over the controls, with the plan it led to. */
export function decisionFigures(record: StudyRecord): Figure[] {
  const decisions = record.decisions.filter((d) => d.step !== undefined && (d.landscape || d.plan));
  const figures: Figure[] = [];
  if (record.steps.criterion.some((v) => v !== null)) {
    figures.push(criterionFigure(record));
  }
  if (decisions.length === 0) {
    return figures;
  }
  const last = decisions.length - 1;
  const now = () => decisions[Math.min(sliderValue(kSlider, last), last)]!;
  const redraw = () => linked.forEach((f) => f.redraw());
  const linked: Figure[] = [];
  const slide = () =>
    slider(kSlider, "Step", last, (i) => `step ${decisions[i]?.step}, by training ${decisions[i]?.training}`, redraw);
  let first = true;
  const controls = () => {
    const mine = first ? [slide()] : [];
    first = false;
    return mine;
  };
  if (decisions.some((d) => d.landscape)) {
    linked.push(landscapeFigure(record, now, controls()));
  }
  if (decisions.some((d) => d.plan)) {
    linked.push(planFigure(record, now, controls(), redraw));
  }
  return [...figures, ...linked];
}

function criterionFigure(record: StudyRecord): Figure {
  const column = record.steps.criterion;
  const points = buckets(0, column.length, 600)
    .flatMap((b) => extremes(column, b))
    .map((i) => ({ step: i + 1, v: column[i] }));
  return new Figure({
    id: "criterion",
    title: "The criterion of the controls that were chosen",
    description: `What ${record.about.strategy} expected each control to teach when it was chosen. It tends to fall as the model learns.`,
    draw: (width) => {
      const t = theme();
      return plot(width, {
        ...axes("step", "criterion"),
        height: 220,
        marks: [
          Plot.line(points, { x: "step", y: "v", stroke: t.accent, strokeWidth: 1.8, ...(points.length < 80 ? { marker: "dot" as const } : {}) }),
          Plot.tip(points, Plot.pointerX({ x: "step", y: "v", fill: t.background })),
        ],
      });
    },
    table: () => ({
      columns: ["step", "criterion", "sd where it will be used"],
      rows: column.map((v, i) => [i + 1, v, record.steps.reference_sd[i] ?? null]),
    }),
  });
}

function landscapeFigure(record: StudyRecord, now: () => Decision, controls: HTMLElement[]): Figure {
  const { about, steps } = record;
  const names = about.inputs.map((name, p) => withUnit(name, about.input_units[p]));
  return new Figure({
    id: "landscape",
    title: "The criterion over the controls",
    description:
      "What each control would have taught at this step, by the model that decided, and the control that was chosen (marked). Where sequences are planned, the first control of the chosen plan is varied.",
    controls,
    legend: () =>
      key([
        { colour: theme().accent, name: "criterion" },
        { colour: theme().warn, shape: "dot", name: "chosen" },
      ]),
    draw: (width) => {
      const t = theme();
      const d = now();
      const l = d.landscape;
      const chosen = about.inputs.map((_, p) => steps.asked[p]?.[(d.step ?? 1) - 1] ?? null);
      if (!l) {
        return plot(width, { height: 260, marks: [Plot.text(["This control was not chosen by maximising: drawn, or by an earlier plan."], { frameAnchor: "middle", fill: t.text })] });
      }
      if (l.controls.length === 1) {
        const curve = (l.controls[0] ?? []).map((c, i) => ({ c, v: l.values[i] }));
        const reach = [l.reach[0][0], l.reach[1][0]].filter((v): v is number => v !== null && v !== undefined);
        return plot(width, {
          ...axes(names[0] ?? "", "criterion"),
          height: 260,
          marks: [
            Plot.ruleX(reach, { stroke: t.faint, strokeDasharray: "1 3" }),
            Plot.line(curve, { x: "c", y: "v", stroke: t.accent, strokeWidth: 2.2, tip: { fill: t.background } }),
            Plot.ruleX(chosen, { stroke: t.warn, strokeWidth: 2 }),
            Plot.dot([{ c: chosen[0], v: steps.criterion[(d.step ?? 1) - 1] }], { x: "c", y: "v", fill: t.warn, r: 5 }),
          ],
        });
      }
      const xs = l.controls[0] ?? [];
      const ys = l.controls[1] ?? [];
      const cells = l.values.map((v, i) => ({ x: xs[i], y: ys[i], v }));
      const size = Math.min(width, 560);
      return plot(size, {
        height: size * 0.75,
        marginBottom: 44,
        x: { label: names[0] ?? "", labelAnchor: "center", tickFormat: (v: number) => format(v), ticks: 5, type: "band" },
        y: { label: names[1] ?? "", tickFormat: (v: number) => format(v), type: "band", reverse: true },
        color: { scheme: t.dark ? "magma" : "viridis", reverse: !t.dark },
        marks: [
          Plot.cell(cells, { x: "x", y: "y", fill: "v" }),
          Plot.dot([{ x: nearestOf(xs, chosen[0]), y: nearestOf(ys, chosen[1]) }], { x: "x", y: "y", stroke: "#ffffff", fill: t.warn, r: 6, strokeWidth: 2 }),
        ],
      });
    },
    table: () => {
      const l = now().landscape;
      return {
        columns: [...names, "criterion"],
        rows: (l?.values ?? []).map((v, i) => [...(l?.controls ?? []).map((c) => c[i] ?? null), v]),
      };
    },
  });
}

function nearestOf(values: (number | null)[], wanted: number | null | undefined): number | null {
  let best: number | null = null;
  for (const v of values) {
    if (v !== null && wanted !== null && wanted !== undefined && (best === null || Math.abs(v - wanted) < Math.abs(best - wanted))) {
      best = v;
    }
  }
  return best;
}

function planFigure(record: StudyRecord, now: () => Decision, controls: HTMLElement[], redraw: () => void): Figure {
  const { about, steps } = record;
  const choices: Choice[] = about.outputs.map((name, e) => ({ value: String(e), label: name }));
  const shown = () => Number(value("plan-output", choices, "0"));
  if (choices.length > 1) {
    controls.push(select("plan-output", "Output", choices, "0", redraw));
  }
  const rows = () => {
    const d = now();
    const e = shown();
    return (d.plan?.mean[e] ?? []).map((m, k) => {
      const sd = d.plan?.sd[e]?.[k] ?? 0;
      const step = (d.step ?? 1) + k;
      const same = steps.sequence[step - 1] === steps.sequence[(d.step ?? 1) - 1];
      return {
        step,
        mean: m,
        low: m === null ? null : m - 1.96 * sd,
        high: m === null ? null : m + 1.96 * sd,
        measured: same ? (steps.outputs[e]?.[step - 1] ?? null) : null,
        controls: (steps.plans[String(d.step)] ?? []).map((c) => c[k] ?? null),
      };
    });
  };
  return new Figure({
    id: "plan",
    title: "The plan that was chosen",
    description: "Outputs expected along the planned controls, with 95 % bands, and what was measured after (dots): later controls were planned anew, so the two may part. The planned controls stand below, from the lowest to the highest allowed.",
    controls,
    legend: () =>
      key([
        { colour: theme().accent, name: "expected, 95 % band" },
        { colour: theme().measured, shape: "dot", name: "measured after" },
        { colour: theme().second, dash: "", name: "planned control" },
      ]),
    draw: (width) => {
      const t = theme();
      const data = rows();
      const low = Math.min(...data.map((r) => Math.min(r.low ?? Infinity, r.measured ?? Infinity)));
      const high = Math.max(...data.map((r) => Math.max(r.high ?? -Infinity, r.measured ?? -Infinity)));
      const span = high - low || 1;
      // The control lives in the lowest fifth of the picture.
      const scaled = (p: number, c: number | null) => {
        const a = about.box.low[p] ?? 0;
        const b = about.box.high[p] ?? 1;
        return c === null ? null : low - 0.35 * span + (0.25 * span * (c - a)) / (b - a || 1);
      };
      const lines = about.inputs.map((_, p) => data.map((r) => ({ step: r.step, c: scaled(p, r.controls[p] ?? null) })));
      const limits = [about.limits?.low[shown()], about.limits?.high[shown()]].filter(
        (v): v is number => v !== null && v !== undefined && v > low - span && v < high + span,
      );
      return plot(width, {
        ...axes("step", withUnit(about.outputs[shown()] ?? "", about.output_units[shown()])),
        height: 280,
        marks: [
          Plot.ruleY(limits, { stroke: t.warn, strokeDasharray: "5 4" }),
          Plot.areaY(data, { x: "step", y1: "low", y2: "high", fill: t.accent, fillOpacity: 0.2 }),
          Plot.line(data, { x: "step", y: "mean", stroke: t.accent, strokeWidth: 2 }),
          Plot.dot(data.filter((r) => r.measured !== null), { x: "step", y: "measured", fill: t.measured, r: 3 }),
          ...lines.map((line, p) => Plot.line(line, { x: "step", y: "c", stroke: t.second, strokeWidth: 1.8, curve: "step-after", strokeDasharray: p > 0 ? "4 2" : "" })),
        ],
      });
    },
    table: () => ({
      columns: ["step", ...about.inputs, "expected", "2.5 %", "97.5 %", "measured"],
      rows: rows().map((r) => [r.step, ...about.inputs.map((_, p) => r.controls[p] ?? null), r.mean, r.low, r.high, r.measured]),
    }),
  });
}
