import { el, named, sentence, shown } from "./dom.js";
import { drawAll, forgetFigures, redrawAll } from "./figure.js";
import { Live } from "./live.js";
import type { Report } from "./record.js";
import { applyTheme, printTheme, switchTheme, theme } from "./theme.js";
import { comparisonView } from "./views/comparison.js";
import { modelView } from "./views/model.js";
import { studyView } from "./views/study.js";

const kinds = { study: "Study", comparison: "Comparison", model: "Model" };

function view(record: Report, rebuild: () => void): HTMLElement[] {
  switch (record.kind) {
    case "study":
      return studyView(record);
    case "comparison":
      return comparisonView(record, rebuild);
    case "model":
      return modelView(record, rebuild);
  }
}

function byId(id: string): HTMLElement {
  return document.getElementById(id) as HTMLElement;
}

function themeButton(): HTMLElement {
  const button = el("button", { type: "button", id: "theme" });
  const say = () => {
    button.textContent = theme().dark ? "Light" : "Dark";
    button.setAttribute("aria-label", theme().dark ? "Switch to light colours" : "Switch to dark colours");
  };
  say();
  button.addEventListener("click", () => {
    switchTheme();
    say();
    redrawAll();
  });
  return button;
}

/** The page of a record; a newer one takes its place, with what the user had set. */
class Page {
  private readonly title = el("h1");
  private readonly source = el("p", { class: "source" });
  private readonly nav = el("nav", { "aria-label": "Parts of the report" });
  readonly head = byId("top");

  constructor() {
    applyTheme();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      applyTheme();
      redrawAll();
    });
    addEventListener("beforeprint", () => {
      printTheme(true);
      drawAll();
    });
    addEventListener("afterprint", () => {
      printTheme(false);
      redrawAll();
    });
    this.head.append(el("div", { class: "bar" }, this.title, themeButton()), this.source, this.nav);
  }

  show(record: Report): void {
    const focused = document.activeElement?.id ?? "";
    const place = scrollY;
    forgetFigures();
    const main = byId("content");
    // The height stays while figures are drawn anew, so that the page does not jump.
    main.style.minHeight = `${main.offsetHeight}px`;
    const parts = view(record, () => this.show(record));
    const notes = record.notes.map((note) => el("p", { class: "note" }, sentence(note)));
    main.replaceChildren(...notes, ...parts);
    scrollTo(0, place);
    requestAnimationFrame(() => requestAnimationFrame(() => main.style.removeProperty("min-height")));
    document.title = `${shown(record.title, 60)}: gpilot ${record.kind}`;
    this.title.replaceChildren(`${kinds[record.kind]} `, named(record.title));
    this.source.replaceChildren(named(record.source));
    this.nav.replaceChildren(
      ...parts
        .filter((part) => part.tagName === "SECTION")
        .map((part) => el("a", { href: `#${part.id}` }, part.querySelector("h2")?.textContent ?? part.id)),
    );
    byId("bottom").textContent = `Made by gpilot ${record.program} at ${record.made_at}.`;
    if (focused !== "") {
      document.getElementById(focused)?.focus({ preventScroll: true });
    }
  }
}

function start(): void {
  const page = new Page();
  const embedded = document.getElementById("record");
  if (!embedded) {
    new Live(page.head, (record) => page.show(record));
    return;
  }
  try {
    page.show(JSON.parse(embedded.textContent ?? "") as Report);
  } catch (error) {
    byId("content").replaceChildren(el("p", { role: "alert" }, `This report cannot be shown: ${String(error)}`));
    throw error;
  }
}

start();
