// A study of 10,000 steps and a comparison of 4 systems x 8 strategies x 100 trials: small enough, and all of it works.
import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { drawEverything, launch, openPage, scratch } from "./support.mjs";
import { makeLargeComparison, makeLargeStudy } from "./large.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());
const kMost = 15e6;

test("a comparison of 3,200 trials", async () => {
  makeLargeComparison();
  const file = join(scratch, "large-comparison.html");
  assert.ok(statSync(file).size < kMost, `${statSync(file).size} bytes`);
  const { page, context, faults } = await openPage(browser, `file://${file}`);
  await drawEverything(page);
  assert.equal(await page.locator("#curves .key li").count(), 8);
  assert.equal(await page.locator("#system option").count(), 4);
  assert.deepEqual(faults, []);
  await context.close();
});

test("a study of 10,000 steps", async () => {
  makeLargeStudy();
  const file = join(scratch, "large-study.html");
  assert.ok(statSync(file).size < kMost, `${statSync(file).size} bytes`);
  const { page, context, faults } = await openPage(browser, `file://${file}`);
  await drawEverything(page);
  assert.ok((await page.locator("#output-0 svg *").count()) < 5000, "a picture has no more marks than can be seen");
  await page.locator("#output-0-window").selectOption("300");
  const before = await page.locator("#output-0 .canvas").innerHTML();
  await page.locator("#output-0-from").fill("50");
  await page.waitForFunction((old) => document.querySelector("#output-0 .canvas").innerHTML !== old, before);
  assert.deepEqual(faults, []);
  await context.close();
});
