// Names that would like to be markup, scripts or directions of writing: they appear as text and as nothing else.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { drawEverything, gpilot, launch, makeReports, openPage, scratch } from "./support.mjs";

const names = [
  "</script><script>globalThis.hacked=1</script>",
  "<img src=x onerror=globalThis.hacked=1>\"'`",
  "\u202Eright to left\u202C 🙂\u2028 & <b>bold</b>",
  "{{record}} @gpilot-record@ <!-- ${1}",
];
const long = `<svg onload=globalThis.hacked=1>${"long ".repeat(2000)}`;

let browser;
before(async () => {
  await makeReports();
  browser = await launch();
});
after(() => browser?.close());

async function expectHarmless(url, wanted) {
  const { page, context, faults } = await openPage(browser, url);
  await drawEverything(page);
  assert.equal(await page.evaluate(() => globalThis.hacked), undefined);
  assert.deepEqual(faults, []);
  // The page has no element that it does not make itself.
  assert.equal(await page.locator("main script, main img, main iframe, main b, main object, main svg[onload]").count(), 0);
  for (const text of wanted) {
    assert.ok((await page.locator("body").innerText()).includes(text.replace(/[\u2028\n]/g, "").slice(0, 20)), `shows ${text.slice(0, 30)}`);
  }
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 1100, "a long name makes no wide page");
  await context.close();
}

test("a study with hostile names, from its configuration to the page", async () => {
  const text = (s) => JSON.stringify(s).replace(/\u2028/g, "\\u2028");
  const config = `[study]\ndt = 0.1\nname = ${text("</title><h1>study")}\ninitial = 3\nstrategy = "totmi"\n
[[input]]\nname = ${text(names[0])}\nlow = -1\nhigh = 1\n
[[output]]\nname = ${text(names[1])}\nunit = "</svg>"\nlow = -1\nhigh = 1\n
[[state]]\nname = ${text(names[2])}\n
[model]\ninducing = 5\n`;
  writeFileSync(join(scratch, "hostile.toml"), config);
  const quoted = (s) => `"${s.replaceAll('"', '""')}"`;
  const rows = Array.from({ length: 12 }, (_, i) => `${i / 10},${Math.sin(i)},${0.5 * Math.sin(i - 1)}`);
  writeFileSync(join(scratch, "hostile.csv"), `t,${quoted(names[0])},${quoted(names[1])}\n${rows.join("\n")}\n`);
  gpilot("import", "hostile.study", "hostile.csv", "--config", "hostile.toml");
  gpilot("ask", "hostile.study");
  gpilot("tell", "hostile.study", "--step", "12", "--y", "0.1");
  gpilot("void", "hostile.study", "--step", "5", "--why", long);
  gpilot("report", "hostile.study", "-o", "hostile.html");
  await expectHarmless(`file://${join(scratch, "hostile.html")}`, [names[0], names[1], "</title><h1>study", "step 5 was voided: <svg"]);
});

/** Every text of a record, replaced by a hostile one. */
function poisoned(value, key = "") {
  if (typeof value === "string") {
    const fixed = ["format", "kind", "made_at", "created_at", "moved_at", "at", "phase", "status", "origin"];
    return fixed.includes(key) ? value : `${value} ${names[value.length % names.length]}${value.length % 7 === 0 ? long : ""}`;
  }
  if (Array.isArray(value)) {
    return value.map((item) => poisoned(item, key));
  }
  return value && typeof value === "object" ? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, poisoned(v, k)])) : value;
}

for (const kind of ["comparison", "study", "model"]) {
  test(`${kind}: every text of the record is hostile`, async () => {
    const page = readFileSync(join(scratch, `${kind}.html`), "utf8");
    const start = page.indexOf(">", page.indexOf('<script id="record"')) + 1;
    const end = page.indexOf("</script>", start);
    const record = poisoned(JSON.parse(page.slice(start, end)));
    const escaped = JSON.stringify(record).replace(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
    const file = join(scratch, `poisoned-${kind}.html`);
    writeFileSync(file, page.slice(0, start) + escaped + page.slice(end));
    await expectHarmless(`file://${file}`, []);
  });
}
