import { csvOf, download, el, remember, remembered, tableOf, type Child, type Table } from "./dom.js";
import { kNamespace, svgElement } from "./marks.js";

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

/** A picture under a title, with what it shows in words, as a table, as CSV and as SVG. Drawn when it comes into view. */
export class Figure {
  readonly element: HTMLElement;
  private readonly canvas: HTMLElement;
  private readonly legend: HTMLElement;
  private width = 640;
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
    this.width = this.canvas.clientWidth || this.width; // while a page is hidden, it has none
    const width = Math.max(260, Math.floor(this.width));
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
      if (now > 0 && Math.abs(now - width) > 2) {
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
    copy.setAttribute("xmlns", kNamespace);
    copy.querySelectorAll("[aria-label=tip]").forEach((tip) => tip.remove());
    const title = svgElement("title", {});
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
