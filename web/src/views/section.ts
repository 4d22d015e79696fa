import { el, type Child } from "../dom.js";

/** A part of the page under a heading; the navigation lists them. */
export function section(id: string, title: string, ...children: Child[]): HTMLElement {
  return el("section", { id, "aria-labelledby": `${id}-heading` }, el("h2", { id: `${id}-heading` }, title), ...children);
}
