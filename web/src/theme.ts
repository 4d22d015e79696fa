// Colours that people with any kind of colour vision can tell apart (after Okabe and Ito), dark enough on white and
// light enough on black; strategies keep the paper's: latMI yellow, totMI red, random blue, locAL green.
export interface Theme {
  dark: boolean;
  text: string;
  faint: string;
  grid: string;
  background: string;
  accent: string;
  measured: string;
  warn: string;
  good: string;
  second: string;
}

const light: Theme = {
  dark: false,
  text: "#1b1f24",
  faint: "#57606a",
  grid: "#d8dee4",
  background: "#ffffff",
  accent: "#0072b2",
  measured: "#1b1f24",
  warn: "#b3420a",
  good: "#00795a",
  second: "#a6761d",
};
const dark: Theme = {
  dark: true,
  text: "#e6edf3",
  faint: "#a0a9b4",
  grid: "#363d47",
  background: "#12161c",
  accent: "#56b4e9",
  measured: "#f0f3f6",
  warn: "#ff9257",
  good: "#3ddbb0",
  second: "#e0b050",
};

let chosen: "light" | "dark" | null = null;

export function theme(): Theme {
  const wanted = chosen ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  return wanted === "dark" ? dark : light;
}

export function applyTheme(): void {
  document.documentElement.dataset["theme"] = theme().dark ? "dark" : "light";
}

export function switchTheme(): void {
  chosen = theme().dark ? "light" : "dark";
  applyTheme();
}

/** Paper is white, whatever the screen is. */
export function printTheme(on: boolean): void {
  beforePrint = on ? (chosen === null ? "auto" : chosen) : beforePrint;
  chosen = on ? "light" : beforePrint === "auto" ? null : beforePrint;
  applyTheme();
}
let beforePrint: "auto" | "light" | "dark" = "auto";

interface Look {
  light: string;
  dark: string;
  dash: string;
}

const looks: Record<string, Look> = {
  latmi: { light: "#b58900", dark: "#f0d94a", dash: "" },
  "latmi-x0": { light: "#b58900", dark: "#f0d94a", dash: "2 3" },
  totmi: { light: "#c8330f", dark: "#ff7b54", dash: "" },
  "totmi-sampled": { light: "#c8330f", dark: "#ff7b54", dash: "2 3" },
  random: { light: "#0072b2", dark: "#56b4e9", dash: "" },
  local: { light: "#00805f", dark: "#35d6a8", dash: "" },
  randext: { light: "#0072b2", dark: "#56b4e9", dash: "6 3" },
  auto: { light: "#1b1f24", dark: "#f0f3f6", dash: "" },
  imse: { light: "#1b1f24", dark: "#f0f3f6", dash: "6 3" },
  prbs: { light: "#6b6b6b", dark: "#b0b0b0", dash: "8 3 2 3" },
  multisine: { light: "#6b6b6b", dark: "#b0b0b0", dash: "2 3" },
  entropy: { light: "#aa3d86", dark: "#e68fc4", dash: "" },
  "entropy-plan": { light: "#aa3d86", dark: "#e68fc4", dash: "6 3" },
  infogain: { light: "#6a4fb3", dark: "#b39df0", dash: "" },
};
const others: Look[] = [
  { light: "#8c510a", dark: "#dfa76a", dash: "4 2" },
  { light: "#35608d", dark: "#8fb8e8", dash: "4 2 1 2" },
  { light: "#7a4b00", dark: "#c9a05f", dash: "1 2" },
];

export function strategyLook(name: string, index: number): { colour: string; dash: string } {
  const look = looks[name] ?? others[index % others.length]!;
  return { colour: theme().dark ? look.dark : look.light, dash: look.dash };
}
