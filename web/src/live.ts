import { el } from "./dom.js";
import type { StudyRecord } from "./record.js";

/** Follows a study that a server shows: takes every new record, and says when there is none to be had. */
export class Live {
  private source: EventSource | null = null;
  private version = "";
  private retry = 500;
  private moved = "";
  private fetching = false;
  private readonly line: HTMLElement;

  constructor(
    host: HTMLElement,
    private readonly show: (record: StudyRecord) => void,
  ) {
    this.line = el("p", { class: "live", role: "status" }, "Connecting…");
    host.append(this.line);
    setInterval(() => this.tell(), 1000);
    this.connect();
  }

  private problem = "";
  private connected = false;

  private connect(): void {
    this.source?.close();
    const source = new EventSource("events");
    this.source = source;
    source.addEventListener("open", () => {
      this.connected = true;
      this.retry = 500;
      this.tell();
    });
    source.addEventListener("study", (event) => {
      const news = JSON.parse((event as MessageEvent<string>).data) as { version: string; problem: string };
      this.problem = news.problem;
      this.tell();
      if (news.version !== this.version && news.version !== "") {
        void this.take(news.version);
      }
    });
    source.addEventListener("error", () => {
      this.connected = false;
      source.close();
      this.tell();
      // The browser's own repeats end with some errors: these do not.
      setTimeout(() => this.connect(), this.retry);
      this.retry = Math.min(2 * this.retry, 5000);
    });
  }

  private async take(version: string): Promise<void> {
    if (this.fetching) {
      return; // the next event comes soon
    }
    this.fetching = true;
    try {
      const answer = await fetch("record.json", { cache: "no-store" });
      if (answer.ok) {
        const record = (await answer.json()) as StudyRecord;
        this.version = version;
        this.moved = record.about.moved_at;
        this.show(record);
      } else {
        this.problem = `the server answers ${answer.status}`;
      }
    } catch {
      this.connected = false;
    } finally {
      this.fetching = false;
      this.tell();
    }
  }

  private tell(): void {
    const when = this.moved === "" ? "" : ` The study last moved ${ago(this.moved)} (${this.moved}).`;
    const state = !this.connected
      ? "The server cannot be reached: trying again."
      : this.problem !== ""
        ? `The study cannot be read: ${this.problem}. What is shown is the last that was read.`
        : "Live.";
    const text = state + when;
    if (this.line.textContent !== text) {
      this.line.textContent = text;
    }
    this.line.dataset["state"] = !this.connected ? "lost" : this.problem !== "" ? "problem" : "live";
  }
}

export function ago(stamp: string, now = Date.now()): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(stamp)) / 1000));
  if (seconds < 90) {
    return `${seconds} s ago`;
  }
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) {
    return `${minutes} min ago`;
  }
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h ago` : `${Math.round(hours / 24)} days ago`;
}
