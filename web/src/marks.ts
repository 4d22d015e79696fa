// What stands in and beside pictures: keys, bars of colours, names of curves.
import * as Plot from "@observablehq/plot";
import { el, format } from "./dom.js";
import { colours } from "./plot.js";
import type { Num } from "./record.js";

export const kNamespace = "http://www.w3.org/2000/svg";

export function svgElement(tag: string, attributes: Record<string, string | number>): SVGElement {
  const node = document.createElementNS(kNamespace, tag);
  Object.entries(attributes).forEach(([name, v]) => node.setAttribute(name, String(v)));
  return node;
}

/** Pictures below each other, as one. */
export function stacked(width: number, pictures: SVGSVGElement[]): SVGSVGElement {
  const heights = pictures.map((p) => Number(p.getAttribute("height")));
  const height = heights.reduce((a, b) => a + b, 0);
  const all = svgElement("svg", { width, height, viewBox: `0 0 ${width} ${height}`, class: "plot" }) as SVGSVGElement;
  let y = 0;
  pictures.forEach((picture, i) => {
    picture.setAttribute("y", String(y));
    y += heights[i]!;
    all.append(picture);
  });
  return all;
}

/** What the colours of a picture mean. */
export function colourBar(name: string, low: number, high: number): HTMLElement {
  const scale = Plot.scale({ color: colours(0, 1) as Plot.ScaleOptions });
  const parts = 48;
  const bar = svgElement("svg", { width: 3 * parts, height: 12, "aria-hidden": "true" });
  for (let i = 0; i < parts; ++i) {
    bar.append(svgElement("rect", { x: 3 * i, y: 0, width: 3.5, height: 12, fill: String(scale.apply((i + 0.5) / parts)) }));
  }
  return el("p", { class: "bar-key" }, el("bdi", {}, name), ` ${format(low)} `, bar, ` ${format(high)}`);
}

/** Names at the right ends of curves, pushed apart where they would cover each other. */
export function nameEnds(svg: SVGSVGElement, ends: { name: string; colour: string; y: Num }[]): void {
  const scale = (svg as unknown as { scale(n: string): Plot.Scale | undefined }).scale?.("y");
  const x = (svg as unknown as { scale(n: string): Plot.Scale | undefined }).scale?.("x");
  if (!scale || !x) {
    return;
  }
  const right = Math.max(...((x.range as number[] | undefined) ?? [0]));
  const line = 13;
  const placed = ends
    .filter((e) => e.y !== null)
    .map((e) => ({ ...e, at: Number(scale.apply(e.y)) }))
    .filter((e) => Number.isFinite(e.at))
    .sort((a, b) => a.at - b.at);
  placed.forEach((e, i) => (e.at = i > 0 ? Math.max(e.at, placed[i - 1]!.at + line) : e.at));
  const over = (placed[placed.length - 1]?.at ?? 0) - Math.max(...((scale.range as number[] | undefined) ?? [0]));
  if (over > 0) {
    placed.forEach((e) => (e.at -= over));
    for (let i = placed.length - 2; i >= 0; --i) {
      placed[i]!.at = Math.min(placed[i]!.at, placed[i + 1]!.at - line);
    }
  }
  for (const e of placed) {
    const text = svgElement("text", { x: right + 6, y: e.at + 4, fill: e.colour, "text-anchor": "start", class: "end-name" });
    text.textContent = e.name.length > 12 ? `${e.name.slice(0, 11)}…` : e.name;
    svg.append(text);
  }
}

/** Many points as one path, which a browser draws many times faster than as many circles. */
export function manyDots(points: { x: Num | undefined; y: Num | undefined }[], colour: string, size: number): Plot.RenderFunction {
  return (_index, scales) => {
    const x = scales.x as unknown as (v: number) => number;
    const y = scales.y as unknown as (v: number) => number;
    let d = "";
    for (const p of points) {
      if (p.x !== null && p.x !== undefined && p.y !== null && p.y !== undefined) {
        d += `M${x(p.x).toFixed(1)} ${y(p.y).toFixed(1)}h0`;
      }
    }
    return svgElement("path", { d, fill: "none", stroke: colour, "stroke-width": size, "stroke-linecap": "round" });
  };
}

export interface KeyEntry {
  colour: string;
  dash?: string;
  shape?: "line" | "area" | "dot" | "triangle" | "square" | "diamond" | "cross" | "ring" | "tick" | "star";
  name: string;
}

/** Small marks with their names. */
export function key(entries: KeyEntry[]): HTMLElement {
  const list = el("ul", { class: "key" });
  for (const entry of entries) {
    const svg = svgElement("svg", { width: 26, height: 12, "aria-hidden": "true" });
    svg.append(keyMark(entry));
    list.append(el("li", {}, svg, el("bdi", {}, entry.name)));
  }
  return list;
}

function keyMark({ colour, dash, shape }: KeyEntry): SVGElement {
  switch (shape ?? "line") {
    case "area":
      return svgElement("rect", { x: 1, y: 1, width: 24, height: 10, fill: colour, "fill-opacity": 0.35 });
    case "dot":
      return svgElement("circle", { cx: 13, cy: 6, r: 3.5, fill: colour });
    case "triangle":
      return svgElement("path", { d: "M13 1.5l4.4 8h-8.8z", fill: colour });
    case "square":
      return svgElement("rect", { x: 9.5, y: 2.5, width: 7, height: 7, fill: colour });
    case "diamond":
      return svgElement("path", { d: "M13 1l5 5-5 5-5-5z", fill: colour });
    case "ring":
      return svgElement("circle", { cx: 13, cy: 6, r: 3.5, fill: "none", stroke: colour, "stroke-width": 1.5 });
    case "cross":
      return svgElement("path", { d: "M9 2l8 8M17 2l-8 8", stroke: colour, "stroke-width": 1.8 });
    case "tick":
      return svgElement("path", { d: "M13 1v10", stroke: colour, "stroke-width": 2, "stroke-dasharray": dash ?? "" });
    case "star":
      return svgElement("path", { d: "M13 1v10M8.7 3.5l8.6 5M17.3 3.5l-8.6 5", stroke: colour, "stroke-width": 1.5 });
    default:
      return svgElement("path", { d: "M1 6h24", stroke: colour, "stroke-width": 2.5, "stroke-dasharray": dash ?? "" });
  }
}
