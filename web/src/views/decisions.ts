import * as Plot from "@observablehq/plot";
import { buckets, extremes, sorted } from "../decimate.js";
import { el, format, select, slider, sliderValue, value, type Choice } from "../dom.js";
import { Figure } from "../figure.js";
import { colourBar, key, stacked } from "../marks.js";
import { across, axes, colours, plot } from "../plot.js";
import type { Column, Decision, Num, StudyRecord } from "../record.js";
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
    description: `What ${record.about.strategy} expected each control to teach when it was chosen, by its own criterion. Falls where little is left to learn, rises where a control opens up something new.`,
    draw: (width) => {
      const t = theme();
      return plot(width, {
        ...axes("step", `criterion of ${record.about.strategy}`),
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
    legend: () => {
      const l = now().landscape;
      const chosen = { colour: theme().warn, shape: "dot" as const, name: "chosen" };
      const reach = l && slewed(l) ? [{ colour: theme().faint, dash: "1 3", name: "reach from the control before (slew)" }] : [];
      if (l && l.controls.length > 1) {
        return el("div", {}, colourBar("criterion:", ...ends(l)), key([chosen, ...reach]));
      }
      return key([{ colour: theme().accent, name: "criterion" }, chosen, ...reach]);
    },
    draw: (width) => {
      const d = now();
      const chosen = about.inputs.map((_, p) => steps.asked[p]?.[(d.step ?? 1) - 1] ?? null);
      if (!d.landscape) {
        const why = "This control was not chosen by maximising: drawn, or by an earlier plan.";
        return plot(width, { height: 260, marks: [Plot.text([why], { frameAnchor: "middle", fill: theme().text, lineWidth: 30 })] });
      }
      return d.landscape.controls.length === 1
        ? curve(width, d.landscape, names, chosen[0] ?? null, steps.criterion[(d.step ?? 1) - 1] ?? null)
        : plane(width, d.landscape, names, chosen);
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

type Landscape = NonNullable<Decision["landscape"]>;

function ends(l: Landscape): [number, number] {
  const values = sorted(l.values);
  return [values[0] ?? 0, values[values.length - 1] ?? 1];
}

/** Whether less than all controls could be reached. */
function slewed(l: Landscape): boolean {
  return l.controls.some((column, p) => {
    const all = sorted(column);
    return (l.reach[0][p] ?? -Infinity) > all[0]! + 1e-9 || (l.reach[1][p] ?? Infinity) < all[all.length - 1]! - 1e-9;
  });
}

function curve(width: number, l: Landscape, names: string[], chosen: Num, value: Num): SVGSVGElement {
  const t = theme();
  const points = (l.controls[0] ?? []).map((c, i) => ({ c, v: l.values[i] }));
  const reach = slewed(l) ? [l.reach[0][0], l.reach[1][0]].filter((v): v is number => v !== null && v !== undefined) : [];
  return plot(width, {
    ...axes(names[0] ?? "", "criterion"),
    height: 260,
    marks: [
      Plot.ruleX(reach, { stroke: t.faint, strokeDasharray: "1 3" }),
      Plot.line(points, { x: "c", y: "v", stroke: t.accent, strokeWidth: 2.2, tip: { fill: t.background } }),
      Plot.ruleX([chosen], { stroke: t.warn, strokeWidth: 2 }),
      Plot.dot([{ c: chosen, v: value }], { x: "c", y: "v", fill: t.warn, r: 5 }),
    ],
  });
}

function plane(width: number, l: Landscape, names: string[], chosen: Column): SVGSVGElement {
  const t = theme();
  const [xs, ys] = [l.controls[0] ?? [], l.controls[1] ?? []];
  const half = (column: Column) => {
    const all = [...new Set(sorted(column))];
    return all.length > 1 ? (all[1]! - all[0]!) / 2 : 0.5;
  };
  const [dx, dy] = [half(xs), half(ys)];
  const cells = l.values.map((v, i) => ({ x: xs[i] ?? 0, y: ys[i] ?? 0, v }));
  type Cell = (typeof cells)[number];
  const size = Math.min(width, 640);
  const reach = slewed(l) ? [{ x1: l.reach[0][0], x2: l.reach[1][0], y1: l.reach[0][1], y2: l.reach[1][1] }] : [];
  return plot(size, {
    height: Math.round(size * 0.72),
    marginBottom: 44,
    insetLeft: 0,
    insetRight: 0,
    insetTop: 0,
    insetBottom: 0,
    x: { label: names[0] ?? "", labelAnchor: "center", tickFormat: format },
    y: { label: names[1] ?? "", tickFormat: format },
    color: colours(...ends(l)),
    marks: [
      Plot.rect(cells, {
        x1: (d: Cell) => d.x - dx,
        x2: (d: Cell) => d.x + dx,
        y1: (d: Cell) => d.y - dy,
        y2: (d: Cell) => d.y + dy,
        fill: "v",
        inset: -0.3,
        title: (d: Cell) => `criterion ${format(d.v)}`,
      }),
      Plot.rect(reach, { x1: "x1", x2: "x2", y1: "y1", y2: "y2", stroke: t.faint, strokeWidth: 2, strokeDasharray: "1 3", fill: "none" }),
      Plot.dot([chosen], { x: "0", y: "1", stroke: "#ffffff", fill: t.warn, r: 6, strokeWidth: 2 }),
    ],
  });
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
        measured: same && !steps.set_aside[e]?.includes(step) ? (steps.outputs[e]?.[step - 1] ?? null) : null,
        controls: (steps.plans[String(d.step)] ?? []).map((c) => c[k] ?? null),
      };
    });
  };
  /** What had been measured before, as long as the plan is. */
  const past = () => {
    const d = now();
    const e = shown();
    const until = d.step ?? 1;
    return steps.sequence.flatMap((sequence, i) =>
      i + 1 < until && i + 1 >= until - rows().length && sequence === steps.sequence[until - 1] && !steps.set_aside[e]?.includes(i + 1)
        ? [{ step: i + 1, y: steps.outputs[e]?.[i] ?? null }]
        : [],
    );
  };
  return new Figure({
    id: "plan",
    title: "The plan that was chosen",
    description: "Above, the output expected along the planned controls with its 95 % band, what had been measured before, and what was measured after: later controls were planned anew, so the two may part. Below, the planned controls, over the range that each may have.",
    controls,
    legend: () =>
      key([
        { colour: theme().accent, name: "expected" },
        { colour: theme().accent, shape: "area", name: "95 % band" },
        { colour: theme().faint, shape: "dot", name: "measured before" },
        { colour: theme().measured, shape: "dot", name: "measured after" },
        { colour: theme().second, name: "planned control" },
        ...(about.limits ? [{ colour: theme().warn, dash: "5 4", name: "limits" }] : []),
      ]),
    draw: (width) => {
      const t = theme();
      const data = rows();
      const before = past();
      const steps_shown = [...before.map((d) => d.step), ...data.map((d) => d.step)];
      const x = { ...across("step"), domain: [Math.min(...steps_shown), Math.max(...steps_shown) + 1] };
      const values = sorted([...data.flatMap((r) => [r.low, r.high, r.measured]), ...before.map((d) => d.y)]);
      const [low, high] = [values[0] ?? 0, values[values.length - 1] ?? 1];
      const limits = [about.limits?.low[shown()], about.limits?.high[shown()]].filter(
        (v): v is number => v !== null && v !== undefined && v > low - (high - low) && v < high + (high - low),
      );
      const above = plot(width, {
        ...axes("", withUnit(about.outputs[shown()] ?? "", about.output_units[shown()])),
        x: { ...x, label: null },
        height: 220,
        marginBottom: 24,
        marks: [
          Plot.ruleY(limits, { stroke: t.warn, strokeDasharray: "5 4" }),
          Plot.areaY(data, { x: "step", y1: "low", y2: "high", fill: t.accent, fillOpacity: 0.2 }),
          Plot.line(data, { x: "step", y: "mean", stroke: t.accent, strokeWidth: 2, ...(data.length < 30 ? { marker: "dot" as const } : {}) }),
          Plot.dot(before, { x: "step", y: "y", fill: t.faint, r: 2.6 }),
          Plot.dot(data.filter((r) => r.measured !== null), { x: "step", y: "measured", fill: t.measured, r: 3.4 }),
        ],
      });
      const below = about.inputs.map((name, p) => {
        const line = data.map((r) => ({ step: r.step, c: r.controls[p] ?? null }));
        const final = line[line.length - 1];
        const isLast = p === about.inputs.length - 1;
        return plot(width, {
          ...axes("step", withUnit(name, about.input_units[p])),
          x: { ...x, label: isLast ? "step" : null },
          y: { label: withUnit(name, about.input_units[p]), ticks: 3, tickFormat: format, domain: [about.box.low[p] ?? 0, about.box.high[p] ?? 1] },
          height: isLast ? 110 : 96,
          marginBottom: isLast ? 38 : 24,
          marks: [
            Plot.ruleY([about.box.low[p], about.box.high[p]], { stroke: t.grid }),
            Plot.line(final ? [...line, { step: final.step + 1, c: final.c }] : line, { x: "step", y: "c", stroke: t.second, strokeWidth: 2, curve: "step-after" }),
          ],
        });
      });
      return stacked(width, [above, ...below]);
    },
    table: () => ({
      columns: ["step", ...about.inputs, "expected", "2.5 %", "97.5 %", "measured"],
      rows: rows().map((r) => [r.step, ...about.inputs.map((_, p) => r.controls[p] ?? null), r.mean, r.low, r.high, r.measured]),
    }),
  });
}
