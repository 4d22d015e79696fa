// What the page computes, without a browser.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./support.mjs";

test("decimation keeps the extremes and the order", async () => {
  const { buckets, extremes, highest, lowest, average } = await load("decimate.ts");
  const column = Array.from({ length: 1000 }, (_, i) => (i === 537 ? 9 : i === 211 ? -9 : Math.sin(i)));
  column[3] = null;
  const pieces = buckets(0, 1000, 50);
  assert.equal(pieces.length, 50);
  const kept = pieces.flatMap((b) => extremes(column, b));
  assert.ok(kept.includes(537) && kept.includes(211));
  assert.deepEqual(kept, [...kept].sort((a, b) => a - b));
  assert.equal(Math.max(...pieces.map((b) => highest(column, b))), 9);
  assert.equal(Math.min(...pieces.map((b) => lowest(column, b))), -9);
  assert.equal(average([1, null, 3], { from: 0, to: 3 }), 2);
  assert.deepEqual(extremes([null, null], { from: 0, to: 2 }), []);
});

test("a missing value is infinitely bad in quantiles", async () => {
  const { quantile } = await load("decimate.ts");
  assert.equal(quantile([1, 2, 3], 0.5), 2);
  assert.equal(quantile([1, 2, 3, 4], 0.25), 1.75);
  assert.equal(quantile([1, 2], 0.75, 2), null);
  assert.equal(quantile([1, 2], 0.25, 1), 1.5);
  assert.equal(quantile([], 0.5), null);
});

test("CSV quotes what needs it, and disarms formulas", async () => {
  const { csvOf } = await load("dom.ts");
  const text = csvOf({ columns: ["a", 'b "c"'], rows: [[1.5, "x,y"], [null, "=1+1"], [-2, "-2"]] });
  assert.equal(text, 'a,"b ""c"""\r\n1.5,"x,y"\r\n,\'=1+1\r\n-2,\'-2\r\n');
});

test("long names are cut by letters, not by halves of them", async () => {
  const { shown } = await load("dom.ts");
  assert.equal(shown("short"), "short");
  assert.equal([...shown("🙂".repeat(500))].length, 120);
  assert.ok(!shown("🙂".repeat(500)).includes("\uFFFD"));
});

test("the normal distribution, where it is known", async () => {
  const { normalBelow } = await load("views/study_figures.ts");
  for (const [z, p] of [[0, 0.5], [1.959964, 0.975], [-1.644854, 0.05], [0.67449, 0.75]]) {
    assert.ok(Math.abs(normalBelow(z) - p) < 1e-6, `${z}`);
  }
});

test("expectations are compared with what was measured, but for what was set aside", async () => {
  const { surprises, rolling } = await load("views/study_figures.ts");
  const expected = (mean) => ({ mean: [[mean]], sd: [[0.5]] });
  const record = {
    steps: { outputs: [[1, 2, 3, null]], set_aside: [[2]] },
    decisions: [
      { step: 1, expected: expected(0) },
      { step: 2, expected: expected(0) },
      { step: 3, expected: expected(3.5) },
      { step: 4, expected: expected(0) },
    ],
  };
  assert.deepEqual(surprises(record, 0).map((s) => [s.step, s.z]), [[1, 2], [3, -1]]);
  assert.deepEqual(rolling([{ step: 1, v: 3 }, { step: 2, v: 4 }], 5)[1], { step: 2, v: Math.sqrt(12.5) });
});

test("rows of a study stand under their steps", async () => {
  const { rowsOf } = await load("views/study.ts");
  const rows = rowsOf({
    about: { outputs: ["y"] },
    rows: { step: [0, 1, 2, 0, 4], sequence: [1, 1, 1, 2, 2], first_outputs: [[null], [0.5]] },
    steps: { outputs: [[10, 20, null, 40]], set_aside: [[2]] },
  });
  assert.deepEqual(rows.x, [0, 1, 2, 3.5, 4]);
  assert.equal(rows.names.get(3), "start of sequence 2");
  assert.deepEqual(rows.outputs[0], [null, 10, 20, 0.5, 40]);
  assert.deepEqual([...rows.setAside[0]], [2]);
  assert.deepEqual(rows.breaks, [3]);
});

test("medians and quartiles of trials by step", async () => {
  const { quartiles } = await load("views/comparison.ts");
  const points = quartiles({ strategies: [{ name: "random", values: [[[1, 10], [2, null], [3, 30]]] }] }, 0);
  assert.deepEqual(points.map((p) => [p.step, p.median, p.low, p.high]), [[0, 2, 1.5, 2.5], [1, 30, 20, null]]);
});

test("times since are said in words", async () => {
  const { ago } = await load("live.ts");
  const now = Date.parse("2026-01-02T12:00:00Z");
  assert.equal(ago("2026-01-02T11:59:50Z", now), "10 s ago");
  assert.equal(ago("2026-01-02T11:00:00Z", now), "60 min ago");
  assert.equal(ago("2026-01-01T00:00:00Z", now), "36 h ago");
});

test("a logarithmic axis has names, however long it is", async () => {
  const { logarithmic } = await load("plot.ts");
  assert.deepEqual(logarithmic("s", [0.004, null, 1.3]).ticks, [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1]);
  assert.deepEqual(logarithmic("s", [1.1, 4.2]).ticks, [1.5, 2, 3, 4]);
  assert.deepEqual(logarithmic("s", [1e-4, 1e3]).ticks, [1e-4, 1e-3, 0.01, 0.1, 1, 10, 100, 1000]);
  assert.equal(logarithmic("s", [0, null]).type, undefined);
});

test("changes make the newer record", async () => {
  const { changed } = await load("changes.ts");
  const before = { a: [1, 2, 3], b: { c: "x", d: [[0], [1]] }, e: 1 };
  const changes = { "-": ["e"], ".": { a: { n: 2, "#": [[0, { "=": 9 }]], "+": [4] }, b: { ".": { d: { "#": [[1, { "+": [2] }]] } } }, __proto__x: { "=": 1 } } };
  assert.deepEqual(changed(before, changes), { a: [9, 2, 4], b: { c: "x", d: [[0], [1, 2]] }, __proto__x: 1 });
  assert.equal(changed(before, null), before);
  const named = changed({}, JSON.parse('{".": {"__proto__": {"=": {"polluted": 1}}}}'));
  assert.equal({}.polluted, undefined);
  assert.equal(Object.getPrototypeOf(named), Object.prototype);
});
