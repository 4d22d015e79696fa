// What can be done with the views: hover, slide, choose, read as tables, print.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accessibility, drawEverything, launch, makeReports, openPage } from "./support.mjs";

let browser;
let reports;
before(async () => {
  reports = await makeReports();
  browser = await launch();
});
after(() => browser?.close());

test("the theme switch changes page and figures", async () => {
  const { page, context, faults } = await openPage(browser, reports.comparison, { colorScheme: "light" });
  await page.locator("#curves .canvas[data-drawn]").waitFor();
  const look = () => page.evaluate(() => [getComputedStyle(document.body).backgroundColor, document.querySelector("#curves .canvas svg").style.background]);
  const before = await look();
  await page.locator("#theme").click();
  await page.waitForFunction((old) => document.querySelector("#curves .canvas svg").style.background !== old, before[1]);
  const after = await look();
  assert.notEqual(after[0], before[0]);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  assert.deepEqual(faults, []);
  await context.close();
});

test("comparison: the paper's colours, and every trial on hover", async () => {
  const { page, context } = await openPage(browser, reports.comparison, { colorScheme: "light" });
  const figure = page.locator("#curves");
  await figure.locator(".canvas[data-drawn]").waitFor();
  const strokes = await figure.locator(".key li").evaluateAll((items) => items.map((i) => [i.textContent, i.querySelector("path").getAttribute("stroke")]));
  assert.deepEqual(strokes, [["random", "#0072b2"], ["latmi", "#b58900"], ["totmi", "#c8330f"]]);
  const box = await figure.locator("svg[role=img]").boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.waitForFunction(() => document.querySelector("#curves g.trials"));
  assert.equal(await figure.locator("g.trials path").count(), 4, "all trials of the strategy");
  assert.match(await figure.locator(".hover").textContent(), /^(random|latmi|totmi), trial [0-3], after [0-4] controls: /);
  await context.close();
});

test("comparison: strategies, systems and metrics can be chosen", async () => {
  const { page, context, faults } = await openPage(browser, reports.comparison);
  await page.locator("#curves .canvas[data-drawn]").waitFor();
  await page.locator("#show-latmi").uncheck();
  await page.waitForFunction(() => document.querySelectorAll("#curves .key li").length === 2);
  await page.locator("#metric").selectOption({ index: 1 });
  await page.waitForFunction(() => document.querySelector("#curves-title").textContent.startsWith("nlpd"));
  await page.locator("#curves .canvas[data-drawn]").waitFor();
  assert.equal(await page.locator("#curves .key li").count(), 2, "the choice of strategies stays");
  assert.ok((await page.locator("#tests table").count()) >= 2, "medians, and p values against random");
  assert.match(await page.locator("#saved").textContent(), /measurements saved/);
  assert.deepEqual(faults, []);
  await context.close();
});

test("study: the slider moves landscape and plan, by mouse and keyboard", async () => {
  const { page, context, faults } = await openPage(browser, reports.study);
  await page.locator("#landscape").scrollIntoViewIfNeeded();
  await page.locator("#landscape .canvas[data-drawn]").waitFor();
  const picture = () => page.locator("#landscape .canvas").innerHTML();
  const words = () => page.locator("#landscape output").textContent();
  const [first, said] = [await picture(), await words()];
  await page.locator("#decision").focus();
  await page.keyboard.press("ArrowLeft");
  await page.waitForFunction((old) => document.querySelector("#landscape .canvas").innerHTML !== old, first);
  assert.notEqual(await words(), said);
  await page.locator("#landscape button[aria-label='one ahead']").click();
  await page.waitForFunction((old) => document.querySelector("#landscape output").textContent === old, said);
  assert.deepEqual(faults, []);
  await context.close();
});

test("study: outputs one step ahead and in free run, voided rows marked, a tip on hover", async () => {
  const { page, context, faults } = await openPage(browser, reports.study);
  const figure = page.locator("#output-0");
  await figure.scrollIntoViewIfNeeded();
  await figure.locator(".canvas[data-drawn]").waitFor();
  assert.match(await figure.locator(".key").textContent(), /not learned from/);
  const before = await figure.locator(".canvas").innerHTML();
  await page.locator("#output-0-mode").selectOption("free");
  await page.waitForFunction((old) => document.querySelector("#output-0 .canvas").innerHTML !== old, before);
  const box = await figure.locator("svg[role=img]").boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.waitForFunction(() => /free run:/.test(document.querySelector("#output-0 g[aria-label=tip]")?.textContent ?? ""));
  assert.match(await page.locator("#events").textContent(), /sensor was loose/);
  assert.deepEqual(faults, []);
  await context.close();
});

test("study of two controls: a plane with its colours, limits, region, values off the scale, failed steps", async () => {
  const { page, context, faults } = await openPage(browser, reports.tanks);
  await drawEverything(page);
  const key = (id) => page.locator(`#${id} .key`).textContent();
  assert.match(await key("output-1"), /limits.*region.*new sequence.*step failed/);
  assert.match(await key("output-1"), /not learned from/, "the spike");
  assert.doesNotMatch(await key("output-0"), /not learned from/, "of the other sensor nothing was wrong");
  const ticks = await page.locator("#output-1 .canvas svg [data-mark='y-axis tick label'] text").allTextContents();
  assert.ok(ticks.length > 2 && ticks.every((text) => Math.abs(Number(text)) < 100), `a spike of 900 does not set the scale: ${ticks}`);
  assert.match(await key("control-0"), /asked, without a measurement/);
  assert.ok((await page.locator("#landscape .canvas svg rect").count()) > 300, "a cell for each pair of controls");
  assert.match(await page.locator("#landscape .bar-key").textContent(), /criterion: [-\d.e]+ +[-\d.e]+/);
  assert.equal(await page.locator("#plan .canvas svg svg").count(), 3, "the output, and each control below it");
  assert.match(await page.locator("#events").textContent(), /900 cm is not plausible.*overflow switch tripped/s);
  assert.match(await page.locator("#about").textContent(), /kept above 1 cm and below 16 cm with probability 0.95/);
  assert.deepEqual(await accessibility(page), []);
  assert.deepEqual(faults, []);
  await context.close();
});

test("tables stand for figures, and the page can be read by keyboard alone", async () => {
  const { page, context } = await openPage(browser, reports.model);
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
  const figure = page.locator("#autocorrelation");
  await figure.scrollIntoViewIfNeeded();
  await figure.locator("summary").focus();
  await page.keyboard.press("Enter");
  await figure.locator("table tbody tr").first().waitFor();
  assert.ok((await figure.locator("table tbody tr").count()) >= 10);
  assert.equal(await page.locator("figure:not([aria-labelledby])").count(), 0);
  assert.ok((await page.locator("figure svg[role=img][aria-label]").count()) > 2);
  await context.close();
});

test("paper: white, with every figure, without controls", async () => {
  const { page, context } = await openPage(browser, reports.study, { colorScheme: "dark" });
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  await page.emulateMedia({ media: "print" });
  assert.equal(await page.locator(".canvas:not([data-drawn])").count(), 0);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "light");
  assert.equal(await page.locator("button:visible").count(), 0);
  await context.close();
});
