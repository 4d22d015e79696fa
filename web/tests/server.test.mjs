// The server of the live page refuses what it should, and goes on.
import assert from "node:assert/strict";
import net from "node:net";
import { after, before, test } from "node:test";
import { get, raw } from "./requests.mjs";
import { endAll, gpilot, launch, makeReports, openPage, serve } from "./support.mjs";

let browser;
before(async () => {
  await makeReports();
  browser = await launch();
});
after(() => endAll(browser));

test("every answer has the security headers, and there is nothing but the page", async () => {
  const server = await serve("rig.study");
  const { port } = server;
  for (const [path, status] of [["/", 200], ["/page.js", 200], ["/page.css", 200], ["/rig.study", 404], ["/../rig.study", 404], ["/%2e%2e/etc/passwd", 404], ["//etc/passwd", 404], ["/page.js/..", 404], ["/record.json\0", 404]]) {
    let answer;
    try {
      answer = await get(port, path);
    } catch (error) {
      assert.match(String(error), /unescaped/, path); // not even sent
      continue;
    }
    assert.equal(answer.status, status, path);
    assert.match(answer.headers["content-security-policy"], /default-src 'none'; script-src 'self'; style-src 'self'/);
    assert.equal(answer.headers["x-content-type-options"], "nosniff");
    assert.equal(answer.headers["x-frame-options"], "DENY");
    assert.equal(answer.headers["referrer-policy"], "no-referrer");
  }
  const post = await get(port, "/", {}, "POST");
  assert.equal(post.status, 405);
  assert.match(post.headers["content-security-policy"], /default-src 'none'/);
  const head = await get(port, "/", {}, "HEAD");
  assert.equal(head.status, 200);
  assert.equal(head.body, "");
  assert.equal((await get(port, "/", { host: "evil.example" })).status, 421, "a name that is not this machine's");
  assert.equal((await get(port, "/", { host: `evil.example:${port}` })).status, 421);
  assert.equal((await get(port, "/", { host: `localhost:${port}` })).status, 200);
  assert.match(await raw(port, "GET / HTTP/1.1\r\n\r\n"), /^HTTP\/1.1 421/, "no name at all");
  assert.match(await raw(port, `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${"a".repeat(20_000)}\r\n\r\n`), /^HTTP\/1.1 431/);
  assert.match(await raw(port, `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999\r\n\r\n${"a".repeat(5000)}`), /^HTTP\/1.1 413/);
  assert.match(await raw(port, "\x16\x03\x01 not http\r\n\r\n"), /^HTTP\/1.1 400/);
  assert.ok(server.alive());
  await server.stop();
});

test("a slow request is cut off, and holds nobody up", async () => {
  const server = await serve("rig.study");
  const begin = Date.now();
  const slow = raw(server.port, "GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", { slowly: true });
  assert.equal((await get(server.port, "/")).status, 200);
  assert.doesNotMatch(await slow, / 200 /);
  assert.ok(Date.now() - begin < 30_000, "cut off long before it ends by itself");
  assert.equal((await get(server.port, "/")).status, 200);
  await server.stop();
});

test("with a token: wrong or none is refused, right is let in once and for all", async () => {
  const token = "right-token-0123456789";
  const server = await serve("rig.study", "--token", token);
  const { port } = server;
  for (const [path, headers] of [["/", {}], ["/?token=wrong", {}], ["/record.json", { authorization: "Bearer wrong-token-0123456789" }], ["/events", { cookie: "gpilot_token=x" }], [`/?token=${token}x`, {}]]) {
    assert.equal((await get(port, path, headers)).status, 401, path);
  }
  assert.equal((await get(port, "/page.js", { authorization: `Bearer ${token}` })).status, 200);
  const let_in = await get(port, `/?token=${token}`);
  assert.equal(let_in.status, 303);
  assert.match(let_in.headers["set-cookie"][0], /HttpOnly; SameSite=Strict/);
  const { page, context, faults } = await openPage(browser, server.address);
  await page.locator("#output-0 .canvas[data-drawn]").waitFor();
  assert.ok(!page.url().includes(token), "the address no longer shows it");
  assert.deepEqual(faults, []);
  await context.close();
  await server.stop();
  assert.throws(() => gpilot("serve", "rig.study", "--host", "0.0.0.0", "--port", "0"), /--token is needed/);
  assert.throws(() => gpilot("serve", "rig.study", "--host", "0.0.0.0", "--port", "0", "--token", "short"), /at least 16/);
});

test("1,000 clients at once: served or refused, and the server goes on", async () => {
  const server = await serve("rig.study");
  const counts = new Map();
  const sockets = [];
  const done = [];
  for (let i = 0; i < 1000; ++i) {
    done.push(
      new Promise((resolve) => {
        const socket = net.connect(server.port, "127.0.0.1", () => socket.write("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"));
        sockets.push(socket);
        let first = "closed";
        const end = () => {
          counts.set(first, (counts.get(first) ?? 0) + 1);
          resolve();
        };
        socket.once("data", (part) => {
          first = String(part).slice(9, 12);
          end();
        });
        socket.once("error", () => first === "closed" && end());
        socket.once("close", () => first === "closed" && end());
      }),
    );
  }
  await Promise.all(done);
  assert.ok(server.alive());
  assert.ok((counts.get("200") ?? 0) > 0 && (counts.get("200") ?? 0) <= 64, JSON.stringify([...counts]));
  sockets.forEach((socket) => socket.destroy());
  for (let tries = 0; ; ++tries) {
    if ((await get(server.port, "/").catch(() => ({ status: 0 }))).status === 200) {
      break;
    }
    assert.ok(tries < 50, "once they are gone, there is room again");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await server.stop();
});
