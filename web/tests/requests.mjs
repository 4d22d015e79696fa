// Requests as no browser sends them.
import http from "node:http";
import net from "node:net";

export const get = (port, path, headers = {}, method = "GET") =>
  new Promise((resolve, reject) => {
    const request = http.request({ host: "127.0.0.1", port, path, method, headers, agent: false, timeout: 20_000 }, (answer) => {
      let body = "";
      answer.on("data", (part) => (body += part));
      answer.on("end", () => resolve({ status: answer.statusCode, headers: answer.headers, body }));
    });
    request.on("error", reject);
    request.end();
  });

/** Sends bytes as they are; resolves with what came back once the other side closes. */
export const raw = (port, text, { slowly = false } = {}) =>
  new Promise((resolve) => {
    let answer = "";
    const socket = net.connect(port, "127.0.0.1", () => {
      if (!slowly) {
        socket.write(text);
        return;
      }
      let i = 0;
      const drip = setInterval(() => (i < text.length && !socket.destroyed ? socket.write(text[i++]) : clearInterval(drip)), 500);
    });
    socket.on("data", (part) => (answer += part));
    socket.on("error", () => resolve(answer));
    socket.on("close", () => resolve(answer));
  });
