// Each kind of report, opened from the disk in a browser.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { accessibility, drawEverything, launch, makeReports, openPage, scratch } from "./support.mjs";

let browser;
let reports;
before(async () => {
  reports = await makeReports();
  browser = await launch();
});
after(() => browser?.close());

const wantedFigures = {
  comparison: ["curves", "times"],
  study: ["output-0", "control-0", "criterion", "landscape", "plan", "sure-figure", "calibration", "state-0", "state-1", "slices", "parameters", "timings"],
  model: ["output-0", "calibration", "residuals-figure", "autocorrelation", "crosscorrelation", "phase-figure", "held-out", "trace"],
};

for (const kind of ["comparison", "study", "model"]) {
  test(`${kind}: every figure is drawn, without errors or requests`, async () => {
    const { page, context, faults } = await openPage(browser, reports[kind]);
    await drawEverything(page);
    for (const id of wantedFigures[kind]) {
      const marks = await page.locator(`#${id} .canvas svg`).locator("path, circle, line, rect").count();
      assert.ok(marks > 3, `${id} has ${marks} marks`);
    }
    assert.deepEqual(faults, []);
    await context.close();
  });

  for (const colorScheme of ["light", "dark"]) {
    test(`${kind}: axe finds nothing in ${colorScheme} colours`, async () => {
      const { page, context, faults } = await openPage(browser, reports[kind], { colorScheme });
      await drawEverything(page);
      await page.locator("figure details summary").first().click();
      assert.deepEqual(await accessibility(page), []);
      assert.deepEqual(faults, []);
      await context.close();
    });
  }

  test(`${kind}: a phone needs no sideways scrolling`, async () => {
    const { page, context } = await openPage(browser, reports[kind], { viewport: { width: 360, height: 740 } });
    await drawEverything(page);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= 360, `${wide} px wide`);
    assert.deepEqual(await accessibility(page), []);
    await context.close();
  });

  test(`${kind}: CSV and SVG of every figure`, async () => {
    const { page, context, faults } = await openPage(browser, reports[kind]);
    const elsewhere = await context.newPage(); // the report's own policy would not let the styles of a picture be read
    await drawEverything(page);
    for (const id of wantedFigures[kind]) {
      const save = async (action) => {
        const [file] = await Promise.all([page.waitForEvent("download"), page.locator(`#${id} button[data-action=${action}]`).click()]);
        const path = join(scratch, file.suggestedFilename());
        await file.saveAs(path);
        return { name: file.suggestedFilename(), file: path, text: readFileSync(path, "utf8") };
      };
      const csv = await save("csv");
      assert.equal(csv.name, `${id}.csv`);
      const lines = csv.text.trim().split("\r\n");
      assert.ok(lines.length > 1, `${id}.csv has rows`);
      const svg = await save("svg");
      assert.equal(svg.name, `${id}.svg`);
      const whole = await elsewhere.evaluate((text) => {
        const picture = new DOMParser().parseFromString(text, "image/svg+xml"); // by itself, as for somebody who was sent the file
        return picture.documentElement.tagName === "svg" && picture.querySelector("parsererror, script, foreignObject") === null && picture.querySelector("title") !== null;
      }, svg.text);
      assert.ok(whole, `${id}.svg stands alone`);
      assert.ok(!/var\(--(text|back|line)/.test(svg.text), `${id}.svg names its colours`);
    }
    assert.deepEqual(faults, []);
    await context.close();
  });
}
