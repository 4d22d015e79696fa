// An exploration as a moving picture, from the record of a study: node exploration.mjs RECORD.json OUTPUT.svg
// Frame by frame: what was measured, what the model expects of its plan, and what each control would have taught.
import { readFileSync, writeFileSync } from "node:fs";

const [input, output] = process.argv.slice(2);
const record = JSON.parse(readFileSync(input, "utf8"));
const { about, steps } = record;
const decisions = record.decisions.filter((d) => d.landscape && d.plan && d.landscape.controls.length === 1);
if (decisions.length === 0) {
  console.error(`${input}: no decision with a landscape of one control and a plan`);
  process.exit(1);
}

const kSeconds = 0.7; // a frame
const width = 860;
const height = 300;
const left = { x: 62, y: 34, w: 470, h: 214 };
const right = { x: 575, y: 34, w: 270, h: 214 };
const total = (decisions.length + 2) * kSeconds; // the last frame stays a little
const escape = (text) => String(text).replace(/[<>&"']/g, (c) => `&#${c.charCodeAt(0)};`);
const n = (v) => Number(v.toFixed(1));
const scale = (low, high, from, to) => (v) => n(from + ((v - low) / (high - low || 1)) * (to - from));
const path = (points) => points.map(([x, y], i) => `${i === 0 ? "M" : "L"}${x} ${y}`).join("");

const lastStep = Math.max(...decisions.map((d) => d.step + d.plan.mean[0].length - 1), steps.sequence.length);
const bounds = [about.limits?.low?.[0], about.limits?.high?.[0]].filter((v) => v !== null && v !== undefined);
const seen = steps.outputs[0].filter((v) => v !== null);
const [low, high] = [Math.min(...seen, ...bounds), Math.max(...seen, ...bounds)];
const margin = 0.25 * (high - low);
const x = scale(0, lastStep, left.x, left.x + left.w);
const y = scale(low - margin, high + margin, left.y + left.h, left.y);
const clip = (v) => Math.max(low - margin, Math.min(high + margin, v));
const cx = scale(about.box.low[0], about.box.high[0], right.x, right.x + right.w);

function frame(d, k) {
  const parts = [];
  const band = d.plan.mean[0].map((m, i) => ({ step: d.step + i, m, sd: d.plan.sd[0][i] })).filter((p) => p.m !== null);
  const edge = (f) => band.map((p) => [x(p.step), y(clip(p.m + f * p.sd))]);
  parts.push(`<path class="band" d="${path([...edge(1.96), ...edge(-1.96).reverse()])}Z"/>`);
  parts.push(`<path class="mean" d="${path(edge(0))}"/>`);
  const measured = steps.outputs[0].slice(0, d.step - 1).map((v, i) => [i + 1, v]).filter(([, v]) => v !== null);
  parts.push(...measured.map(([s, v]) => `<circle class="dot" cx="${x(s)}" cy="${y(clip(v))}" r="2.6"/>`));
  const { controls, values } = d.landscape;
  const finite = values.filter((v) => v !== null);
  const cy = scale(Math.min(...finite), Math.max(...finite), right.y + right.h, right.y + 14);
  parts.push(`<path class="mean" d="${path(controls[0].map((c, i) => [cx(c), values[i]].concat()).filter(([, v]) => v !== null).map(([a, v]) => [a, cy(v)]))}"/>`);
  const chosen = steps.asked[0][d.step - 1];
  const value = Math.max(Math.min(...finite), Math.min(Math.max(...finite), steps.criterion[d.step - 1] ?? finite[0]));
  parts.push(`<path class="chosen" d="M${cx(chosen)} ${right.y}V${right.y + right.h}"/><circle class="pick" cx="${cx(chosen)}" cy="${cy(value)}" r="4.5"/>`);
  parts.push(`<text x="${left.x}" y="20">step ${d.step}: ${d.step - 1} measurements, and what is planned next</text>`);
  const begin = ((100 * k * kSeconds) / total).toFixed(3);
  const end = k === decisions.length - 1 ? 100 : ((100 * (k + 1) * kSeconds) / total).toFixed(3);
  // Discrete steps of visibility: one frame at a time.
  const times = k === 0 ? `0;${end / 100}` : end === 100 ? `0;${begin / 100}` : `0;${begin / 100};${end / 100}`;
  const states = k === 0 ? "visible;hidden" : end === 100 ? "hidden;visible" : "hidden;visible;hidden";
  const still = k === decisions.length - 1 ? "visible" : "hidden"; // where nothing moves, the end is shown
  return `<g visibility="${still}"><animate attributeName="visibility" calcMode="discrete" dur="${total.toFixed(1)}s" repeatCount="indefinite" keyTimes="${times}" values="${states}"/>${parts.join("")}</g>`;
}

const unit = (name, u) => escape(u ? `${name}, ${u}` : name);
/** Round numbers between two, about so many. */
function ticks(from, to, most) {
  const least = (to - from) / most;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((k) => k * power).find((k) => k >= least);
  const first = Math.ceil(from / step);
  return Array.from({ length: Math.floor(to / step) - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(6)));
}
const below = (box, at, values) =>
  values.map((v) => `<path class="axis" d="M${at(v)} ${box.y + box.h}v4"/><text x="${at(v)}" y="${box.y + box.h + 17}" text-anchor="middle">${v}</text>`).join("");
const beside = ticks(low - margin, high + margin, 5)
  .map((v) => `<path class="axis" d="M${left.x - 4} ${y(v)}h4"/><text x="${left.x - 7}" y="${y(v) + 4}" text-anchor="end">${v}</text>`)
  .join("");
const marks = `<g transform="translate(${left.x + 8} ${left.y + 6})"><circle class="dot" cx="6" cy="5" r="2.6"/><text x="16" y="9">measured</text><rect class="band" x="96" width="20" height="10"/><path class="mean" d="M96 5h20"/><text x="122" y="9">expected of the plan, 95 %</text></g>`;

const limits = bounds.map((v) => `<path class="limit" d="M${left.x} ${y(v)}H${left.x + left.w}"/>`).join("");
const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="t d" font-family="system-ui, sans-serif" font-size="13">
<title id="t">An exploration of ${escape(about.name)}, step by step</title>
<desc id="d">Left: the measured output and what the model expects of the controls it has planned. Right: what each control would teach, and the one that was chosen. Made by gpilot from a study of ${steps.sequence.length} steps.</desc>
<style>text{fill:#1b1f24}.back{fill:#fff}.axis{stroke:#8c959f;fill:none}.band{fill:#0072b2;fill-opacity:.18}.mean{stroke:#0072b2;stroke-width:2;fill:none}.dot{fill:#1b1f24}.limit{stroke:#b3420a;stroke-dasharray:5 4}.chosen{stroke:#c8330f;stroke-width:1.5}.pick{fill:#c8330f}</style>
<rect class="back" width="${width}" height="${height}"/>
<path class="axis" d="M${left.x} ${left.y}v${left.h}h${left.w}M${right.x} ${right.y}v${right.h}h${right.w}"/>${limits}
<text x="${left.x + left.w / 2}" y="${height - 8}" text-anchor="middle">step</text>
<text transform="translate(14 ${left.y + left.h / 2}) rotate(-90)" text-anchor="middle">${unit(about.outputs[0], about.output_units[0])}</text>
<text x="${right.x}" y="20">what each control would teach</text>
<text x="${right.x + right.w / 2}" y="${height - 8}" text-anchor="middle">${unit(about.inputs[0], about.input_units[0])}</text>
${below(left, x, ticks(0, lastStep, 8))}${beside}${below(right, cx, ticks(about.box.low[0], about.box.high[0], 6))}${marks}
${decisions.map(frame).join("\n")}
</svg>
`;
writeFileSync(output, svg);
