import * as Plot from "@observablehq/plot";
import { csvOf, download, el, format, remember, remembered, tableOf, type Child, type Table } from "./dom.js";
import type { Num } from "./record.js";
import { theme } from "./theme.js";

export interface FigureSpec {
  id: string;
  title: string;
  /** What is to be seen, in a sentence or two: for everybody, and for those who cannot see the picture. */
  description: string;
  controls?: Child[];
  legend?: () => Child;
  draw: (width: number) => Element;
  table: () => Table;
}

const kMostTableRows = 400;
const drawn = new Set<Figure>();

/** Options that all figures share; colours are written into the picture, so that a saved one stands alone. */
export function plot(width: number, options: Plot.PlotOptions): SVGSVGElement {
  const t = theme();
  const narrow = width < 480;
  const figure = Plot.plot({
    width,
    height: narrow ? 240 : 300,
    marginLeft: 56,
    marginRight: 16,
    marginBottom: 38,
    className: "plot",
    ...options,
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

export function axes(x: string, y: string): { x: Plot.ScaleOptions; y: Plot.ScaleOptions } {
  return { x: across(x), y: { label: y, grid: true, nice: true, tickFormat: format } };
}

/** Of steps and lags only whole ones have a name. */
export function across(label: string): Plot.ScaleOptions {
  const counts = /step|lag|controls chosen/.test(label);
  const tick = (v: number) => (!counts || Number.isInteger(v) ? format(v) : "");
  return { label, labelAnchor: "center", nice: false, tickFormat: tick };
}

/** A logarithmic axis upwards, with names at 1, 2 and 5 of every power of ten. */
export function logarithmic(label: string): Plot.ScaleOptions {
  const tick = (v: number) => (/^[125]/.test(v.toExponential()) && Math.abs(Number(v.toPrecision(1)) / v - 1) < 1e-9 ? format(v) : "");
  return { label, grid: true, type: "log", tickFormat: tick };
}

/** Many points as one path, which a browser draws many times faster than as many circles. */
export function manyDots(points: { x: Num | undefined; y: Num | undefined }[], colour: string, size: number): Plot.RenderFunction {
  return (_index, scales) => {
    const x = scales.x as unknown as (v: number) => number;
    const y = scales.y as unknown as (v: number) => number;
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    let d = "";
    for (const p of points) {
      if (p.x !== null && p.x !== undefined && p.y !== null && p.y !== undefined) {
        d += `M${x(p.x).toFixed(1)} ${y(p.y).toFixed(1)}h0`;
      }
    }
    path.setAttribute("d", d);
    path.setAttribute("fill", "none");
    path.setAttribute("stroke", colour);
    path.setAttribute("stroke-width", String(size));
    path.setAttribute("stroke-linecap", "round");
    return path;
  };
}

/** A picture under a title, with what it shows in words, as a table, as CSV and as SVG. Drawn when it comes into view. */
export class Figure {
  readonly element: HTMLElement;
  private readonly canvas: HTMLElement;
  private readonly legend: HTMLElement;
  private visible = false;
  private stale = true;

  constructor(private readonly spec: FigureSpec) {
    const { id, title, description } = spec;
    this.canvas = el("div", { class: "canvas" });
    this.legend = el("div", { class: "legend" });
    const csv = el("button", { type: "button", "data-action": "csv", "aria-label": `CSV: data of ${title}` }, "CSV");
    csv.addEventListener("click", () => download(`${id}.csv`, "text/csv", csvOf(spec.table())));
    const svg = el("button", { type: "button", "data-action": "svg", "aria-label": `SVG: picture of ${title}` }, "SVG");
    svg.addEventListener("click", () => this.save());
    const details = el("details", {}, el("summary", {}, "As a table")) as HTMLDetailsElement;
    details.open = remembered(`${id}-table`, "0") === "1";
    const fill = () => {
      details.querySelector(".scroll")?.remove();
      if (details.open) {
        details.append(tableOf(spec.table(), title, kMostTableRows));
      }
      remember(`${id}-table`, details.open ? "1" : "0");
    };
    details.addEventListener("toggle", fill);
    this.element = el(
      "figure",
      { id, "aria-labelledby": `${id}-title`, "aria-describedby": `${id}-words` },
      el("h3", { id: `${id}-title` }, title),
      el("p", { id: `${id}-words`, class: "words" }, description),
      spec.controls && spec.controls.length > 0 ? el("div", { class: "controls" }, ...spec.controls) : null,
      this.legend,
      this.canvas,
      el("div", { class: "tools" }, csv, svg, details),
    );
    this.observe();
    drawn.add(this);
  }

  redraw(): void {
    this.stale = true;
    if (this.visible) {
      this.draw();
    }
  }

  draw(): void {
    const width = Math.max(260, Math.floor(this.canvas.clientWidth || 640));
    this.stale = false;
    const picture = this.spec.draw(width);
    picture.setAttribute("role", "img");
    picture.setAttribute("aria-label", `${this.spec.title}. ${this.spec.description}`);
    this.canvas.replaceChildren(picture);
    this.canvas.dataset["drawn"] = "1";
    this.legend.replaceChildren();
    const legend = this.spec.legend?.();
    if (legend) {
      this.legend.append(legend);
    }
    const details = this.element.querySelector("details");
    if (details?.open) {
      details.querySelector(".scroll")?.remove();
      details.append(tableOf(this.spec.table(), this.spec.title, kMostTableRows));
    }
  }

  private observe(): void {
    let width = 0;
    new ResizeObserver((entries) => {
      const now = Math.floor(entries[0]?.contentRect.width ?? 0);
      if (Math.abs(now - width) > 2) {
        width = now;
        this.redraw();
      }
    }).observe(this.canvas);
    new IntersectionObserver(
      (entries) => {
        this.visible = entries.some((entry) => entry.isIntersecting);
        if (this.visible && this.stale) {
          this.draw();
        }
      },
      { rootMargin: "300px" },
    ).observe(this.element);
  }

  private save(): void {
    if (this.stale) {
      this.draw();
    }
    const svg = this.canvas.querySelector("svg");
    if (!svg) {
      return;
    }
    const copy = svg.cloneNode(true) as SVGSVGElement;
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy.querySelectorAll("[aria-label=tip]").forEach((tip) => tip.remove());
    const title = document.createElementNS("http://www.w3.org/2000/svg", "title");
    title.textContent = this.spec.title;
    copy.prepend(title);
    download(`${this.spec.id}.svg`, "image/svg+xml", new XMLSerializer().serializeToString(copy));
  }
}

export function redrawAll(): void {
  drawn.forEach((figure) => figure.redraw());
}

/** All of them, seen or not: for paper. */
export function drawAll(): void {
  drawn.forEach((figure) => figure.draw());
}

export function forgetFigures(): void {
  drawn.clear();
}

/** Small marks with their names. */
export function key(entries: { colour: string; dash?: string; shape?: "line" | "area" | "dot" | "cross" | "ring"; name: string }[]): HTMLElement {
  const list = el("ul", { class: "key" });
  for (const entry of entries) {
    const ns = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(ns, "svg");
    svg.setAttribute("width", "26");
    svg.setAttribute("height", "12");
    svg.setAttribute("aria-hidden", "true");
    const add = (tag: string, attributes: Record<string, string | number>) => {
      const node = document.createElementNS(ns, tag);
      Object.entries(attributes).forEach(([name, v]) => node.setAttribute(name, String(v)));
      svg.append(node);
    };
    const { colour } = entry;
    switch (entry.shape ?? "line") {
      case "area":
        add("rect", { x: 1, y: 1, width: 24, height: 10, fill: colour, "fill-opacity": 0.35 });
        break;
      case "dot":
        add("circle", { cx: 13, cy: 6, r: 3.5, fill: colour });
        break;
      case "ring":
        add("circle", { cx: 13, cy: 6, r: 3.5, fill: "none", stroke: colour, "stroke-width": 1.5 });
        break;
      case "cross":
        add("path", { d: "M9 2l8 8M17 2l-8 8", stroke: colour, "stroke-width": 1.8 });
        break;
      default:
        add("path", { d: "M1 6h24", stroke: colour, "stroke-width": 2.5, "stroke-dasharray": entry.dash ?? "" });
    }
    list.append(el("li", {}, svg, el("bdi", {}, entry.name)));
  }
  return list;
}
