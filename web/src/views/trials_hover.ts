import type * as Plot from "@observablehq/plot";
import { el, format } from "../dom.js";
import type { Figure } from "../figure.js";
import { svgElement } from "../marks.js";
import type { ComparisonRecord, Num } from "../record.js";
import { strategyLook } from "../theme.js";

type System = ComparisonRecord["systems"][number];

/** Which trial is under the pointer: shown in front of the others of its strategy, with its number in words. */
export function follow(
  svg: SVGSVGElement,
  figure: Figure,
  system: System,
  metric: number,
  visible: Set<number>,
): void {
  const x = (svg as unknown as { scale(n: string): Plot.Scale }).scale?.("x");
  const y = (svg as unknown as { scale(n: string): Plot.Scale }).scale?.("y");
  if (!x || !y) {
    return;
  }
  let before = "";
  const show = (event: PointerEvent | null) => {
    const found = event ? nearest(svg, event, x, y, system, metric, visible) : null;
    const now = found ? `${found.strategy}/${found.trial}` : "";
    if (now === before) {
      return;
    }
    before = now;
    overlay(svg, found, system, metric, x, y);
    const words = found ? hoverWords(system, metric, found) : "";
    let note = figure.element.querySelector(".hover");
    if (!note) {
      note = el("p", { class: "hover note", "aria-live": "off" });
      figure.element.querySelector(".canvas")?.after(note);
    }
    note.textContent = words;
  };
  svg.addEventListener("pointermove", (event) => show(event));
  svg.addEventListener("pointerleave", () => show(null));
}

interface Hovered {
  strategy: number;
  trial: number;
  step: number;
}

function nearest(
  svg: SVGSVGElement,
  event: PointerEvent,
  x: Plot.Scale,
  y: Plot.Scale,
  system: System,
  metric: number,
  visible: Set<number>,
): Hovered | null {
  const rect = svg.getBoundingClientRect();
  const factor = (svg.viewBox.baseVal.width || rect.width) / rect.width;
  const px = (event.clientX - rect.left) * factor;
  const py = (event.clientY - rect.top) * factor;
  const step = Math.round(Number(x.invert?.(px)));
  let best: Hovered | null = null;
  let distance = Infinity;
  for (const strategy of visible) {
    (system.strategies[strategy]?.values[metric] ?? []).forEach((trial, k) => {
      const v = trial[step];
      if (v === null || v === undefined) {
        return;
      }
      const d = Math.abs(Number(y.apply(v)) - py);
      if (d < distance) {
        distance = d;
        best = { strategy, trial: k, step };
      }
    });
  }
  return best;
}

function hoverWords(system: System, metric: number, h: Hovered): string {
  const s = system.strategies[h.strategy]!;
  return `${s.name}, trial ${s.trials[h.trial]}, after ${h.step} controls: ${format(s.values[metric]?.[h.trial]?.[h.step])}`;
}

/** Drawn into the picture that is there, so that following the pointer costs next to nothing. */
function overlay(svg: SVGSVGElement, h: Hovered | null, system: System, metric: number, x: Plot.Scale, y: Plot.Scale): void {
  svg.querySelector("g.trials")?.remove();
  if (!h) {
    return;
  }
  const s = system.strategies[h.strategy]!;
  const { colour } = strategyLook(s.name, h.strategy);
  const group = svgElement("g", { class: "trials", fill: "none", stroke: colour, "pointer-events": "none" });
  const line = (trial: Num[], width: number, opacity: number) => {
    let d = "";
    trial.forEach((v, step) => {
      if (v !== null) {
        d += `${d === "" || trial[step - 1] === null ? "M" : "L"}${Number(x.apply(step)).toFixed(1)} ${Number(y.apply(v)).toFixed(1)}`;
      }
    });
    group.append(svgElement("path", { d, "stroke-width": width, "stroke-opacity": opacity }));
  };
  const trials = s.values[metric] ?? [];
  trials.forEach((trial, k) => k !== h.trial && line(trial, 0.5, 0.5));
  line(trials[h.trial] ?? [], 2.2, 1);
  svg.append(group);
}
