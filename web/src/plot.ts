// How all pictures look: margins, colours, axes.
import * as Plot from "@observablehq/plot";
import { format } from "./dom.js";
import type { Num } from "./record.js";
import { theme } from "./theme.js";

/** Options that all figures share; colours are written into the picture, so that a saved one stands alone. */
export function plot(width: number, options: Plot.PlotOptions): SVGSVGElement {
  const t = theme();
  const narrow = width < 480;
  const { y, marks, ...rest } = withOwnTicks(options);
  const figure = Plot.plot({
    width,
    height: narrow ? 240 : 300,
    marginTop: 28,
    marginLeft: 56,
    marginRight: 16,
    marginBottom: 38,
    insetLeft: 6,
    insetRight: 6,
    insetTop: 4,
    insetBottom: 4,
    className: "plot",
    ...rest,
    y: { ...y },
    marks: marks ?? [],
    style: { background: t.background, color: t.text, fontFamily: "system-ui, sans-serif", fontSize: "12px" },
  });
  const svg = (figure instanceof SVGSVGElement ? figure : figure.querySelector("svg")) as SVGSVGElement;
  // The picture as a whole has a name; labels of groups within it are not allowed without a role.
  svg.querySelectorAll("g[aria-label]").forEach((group) => {
    group.setAttribute("data-mark", group.getAttribute("aria-label") ?? "");
    group.removeAttribute("aria-label");
    group.removeAttribute("aria-description");
  });
  return svg;
}

/** A logarithmic axis has the names that it was given: of its own choice every 5 would be missing. */
function withOwnTicks(options: Plot.PlotOptions): Plot.PlotOptions {
  const y = options.y as Plot.ScaleOptions | undefined;
  if (y?.type !== "log" || !Array.isArray(y.ticks)) {
    return options;
  }
  const ticks = y.ticks as number[];
  return {
    ...options,
    y: { ...y, axis: null, grid: false },
    marks: [
      Plot.gridY(ticks),
      Plot.axisY(ticks, { text: (v: number) => format(v), label: y.label ?? null }),
      ...(options.marks ?? []),
    ],
  };
}

export function axes(x: string, y: string): { x: Plot.ScaleOptions; y: Plot.ScaleOptions } {
  return { x: across(x), y: { label: y, grid: true, nice: true, tickFormat: format } };
}

/** Steps of 1, 2 or 5 times a power of ten, whole ones. */
const whole = {
  floor: (v: number) => Math.floor(v),
  offset: (v: number, by = 1) => v + by,
  range: (from: number, to: number) => {
    const least = Math.max(1, (to - from) / 12);
    const power = 10 ** Math.floor(Math.log10(least));
    const step = [1, 2, 5, 10].map((k) => k * power).find((k) => k >= least) ?? 10 * power;
    const ticks: number[] = [];
    for (let v = Math.ceil(from / step) * step; v < to; v += step) {
      ticks.push(v);
    }
    return ticks;
  },
};

/** Steps and lags are counted: only whole ones stand at the axis. */
export function across(label: string): Plot.ScaleOptions {
  const counts = /step|lag|controls chosen/.test(label);
  return { label, labelAnchor: "center", nice: false, tickFormat: format, ...(counts ? { ticks: whole as never } : {}) };
}

/** A logarithmic axis upwards for these values, with names at 1, 2 and 5 of every power of ten, or fewer of many. */
export function logarithmic(label: string, values: (Num | undefined)[]): Plot.ScaleOptions {
  const positive = values.filter((v): v is number => typeof v === "number" && v > 0);
  if (positive.length === 0) {
    return { label, grid: true };
  }
  const [low, high] = [Math.min(...positive), Math.max(...positive)];
  const decades = Math.log10(high / low);
  const leads = decades > 4 ? [1] : decades > 0.8 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 6, 8];
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); ++power) {
    ticks.push(...leads.map((k) => Number(`${k}e${power}`)).filter((v) => v >= low && v <= high));
  }
  return { label, type: "log", ticks, domain: [low, high] };
}

/** Colours of values from low to high: those that are high stand out from the page, on white and on black. */
export function colours(low: number, high: number): Plot.ScaleOptions {
  const t = theme();
  return { type: "linear", domain: [low, high], scheme: t.dark ? "magma" : "viridis", reverse: !t.dark };
}
