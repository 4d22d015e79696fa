// Elements are made from text and attributes alone: nothing in a record is ever read as markup.
type Attributes = Record<string, string | number | boolean | undefined>;
export type Child = Node | string | null | undefined;

// Names may be of any length and may turn the direction of writing: they are isolated, and cut for the eye.
const kLongest = 120;

export function shown(text: string, longest = kLongest): string {
  const letters = [...text];
  return letters.length <= longest ? text : `${letters.slice(0, longest - 1).join("")}…`;
}

export function el(tag: string, attributes: Attributes = {}, ...children: Child[]): HTMLElement {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) {
      element.setAttribute(name, "");
    } else if (value !== undefined && value !== false) {
      element.setAttribute(name, String(value));
    }
  }
  element.append(...children.filter((child): child is Node | string => child !== null && child !== undefined));
  return element;
}

/** A name of somebody's: as text, isolated from the writing around it, whole on hover if it was cut. */
export function named(text: string, longest = kLongest): HTMLElement {
  const cut = shown(text, longest);
  return el("bdi", cut === text ? {} : { title: text }, cut);
}

/** A sentence, in which names of somebody's may stand. */
export function sentence(text: string): HTMLElement {
  return named(text, kLongestSentence);
}
const kLongestSentence = 1500;

const state = new Map<string, string>();

/** What a control was set to by the user, across updates of a live page. */
export function remembered(id: string, otherwise: string): string {
  return state.get(id) ?? otherwise;
}

export function remember(id: string, value: string): void {
  state.set(id, value);
}

export interface Choice {
  value: string;
  label: string;
}

/** A labelled list to choose from; `changed` is called with the value. */
export function select(id: string, label: string, choices: Choice[], initial: string, changed: (value: string) => void): HTMLElement {
  const list = el("select", { id }) as HTMLSelectElement;
  for (const choice of choices) {
    list.append(el("option", { value: choice.value }, shown(choice.label, 60)));
  }
  const before = remembered(id, initial);
  list.value = choices.some((c) => c.value === before) ? before : initial;
  list.addEventListener("change", () => {
    remember(id, list.value);
    changed(list.value);
  });
  return el("span", { class: "control" }, el("label", { for: id }, label), list);
}

export function value(id: string, choices: Choice[], initial: string): string {
  const before = remembered(id, initial);
  return choices.some((c) => c.value === before) ? before : initial;
}

export function checkbox(id: string, label: Child, initial: boolean, changed: (on: boolean) => void): HTMLElement {
  const box = el("input", { type: "checkbox", id }) as HTMLInputElement;
  box.checked = remembered(id, initial ? "1" : "0") === "1";
  box.addEventListener("change", () => {
    remember(id, box.checked ? "1" : "0");
    changed(box.checked);
  });
  return el("span", { class: "control" }, box, el("label", { for: id }, label));
}

export function isOn(id: string, initial: boolean): boolean {
  return remembered(id, initial ? "1" : "0") === "1";
}

/** A slider over whole numbers that says what it stands at. `follow`: it stays at its end when more is added. */
export function slider(
  id: string,
  label: string,
  last: number,
  describe: (index: number) => string,
  changed: (index: number) => void,
): HTMLElement {
  const start = sliderValue(id, last);
  const input = el("input", { type: "range", id, min: 0, max: last, step: 1, value: start }) as HTMLInputElement;
  const output = el("output", { for: id });
  const say = (index: number) => {
    output.textContent = describe(index);
    input.setAttribute("aria-valuetext", describe(index));
  };
  say(start);
  let waiting = false;
  input.addEventListener("input", () => {
    remember(id, Number(input.value) === last ? "last" : input.value);
    if (waiting) {
      return;
    }
    waiting = true; // at most once a frame, however fast the slider moves
    requestAnimationFrame(() => {
      waiting = false;
      say(Number(input.value));
      changed(Number(input.value));
    });
  });
  const step = (by: number, text: string, words: string) => {
    const button = el("button", { type: "button", class: "step", "aria-label": words }, text);
    button.addEventListener("click", () => {
      input.value = String(Number(input.value) + by);
      input.dispatchEvent(new Event("input"));
    });
    return button;
  };
  return el(
    "span",
    { class: "control slider" },
    el("label", { for: id }, label),
    step(-1, "‹", "one back"),
    input,
    step(1, "›", "one ahead"),
    output,
  );
}

export function sliderValue(id: string, last: number): number {
  const before = remembered(id, "last");
  return before === "last" ? last : Math.min(Number(before), last);
}

export interface Table {
  columns: string[];
  rows: (string | number | null | undefined)[][];
}

export function format(value: string | number | null | undefined): string {
  if (value === null || value === undefined) {
    return "–";
  }
  if (typeof value === "string") {
    return value;
  }
  if (Number.isInteger(value)) {
    return String(value);
  }
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-3 || size >= 1e6) ? value.toExponential(2) : String(Number(value.toPrecision(4)));
}

/** Texts such as "12 %", "≥ 3", "> 10" stand like numbers. */
const isNumeric = (cell: string | number | null | undefined) => typeof cell !== "string" || /^[<>≥≤–-]?\s?[\d.]*(e[+-]?\d+)?( %)?$/.test(cell);
const kLong = 60; // rows of a table that scrolls by itself
const kShort = 32; // a text that is not broken into lines
const kBold = /^(< )?0\.0[0-4]\d* /; // a p value below 0.05 with its direction

function looks(numeric: boolean | undefined, text: string): string | undefined {
  const classes = [numeric ? "number" : "", text.length <= kShort ? "short" : "", kBold.test(text) ? "bold" : ""];
  return classes.filter((c) => c !== "").join(" ") || undefined;
}

export function tableOf(table: Table, caption: string, most = Infinity): HTMLElement {
  const numeric = table.columns.map((_, k) => table.rows.length > 0 && table.rows.every((row) => isNumeric(row[k])));
  const head = el(
    "tr",
    {},
    ...table.columns.map((name, k) => el("th", { scope: "col", class: looks(numeric[k], name) }, named(name))),
  );
  const body = el("tbody");
  for (const row of table.rows.slice(0, most)) {
    body.append(
      el(
        "tr",
        {},
        ...row.map((cell, k) => {
          const text = typeof cell === "string" ? cell : format(cell);
          return el("td", { class: looks(numeric[k], text) }, typeof cell === "string" ? sentence(cell) : text);
        }),
      ),
    );
  }
  const left = table.rows.length - most;
  return el(
    "div",
    { class: table.rows.length > kLong ? "scroll long" : "scroll", tabindex: 0, role: "region", "aria-label": caption },
    el("table", {}, el("caption", {}, caption), el("thead", {}, head), body),
    left > 0 ? el("p", {}, `${left} more rows are in the CSV file.`) : null,
  );
}

export function csvOf(table: Table): string {
  const field = (cell: string | number | null | undefined) => {
    const text = cell === null || cell === undefined ? "" : String(cell);
    // A spreadsheet would take a text that begins like this for a formula.
    const safe = typeof cell === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return [table.columns, ...table.rows].map((row) => row.map(field).join(",")).join("\r\n") + "\r\n";
}

export function download(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = el("a", { href: url, download: name }) as HTMLAnchorElement;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
