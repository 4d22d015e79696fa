import { changed, type Changes } from "./changes.js";
import { el } from "./dom.js";
import type { StudyRecord } from "./record.js";

interface Update {
  version: string;
  record?: StudyRecord;
  changes?: (Changes | null)[];
}

/** Follows a study that a server shows: takes what has changed, and says when there is nothing to be had. */
export class Live {
  private source: EventSource | null = null;
  private version = "";
  private wanted = "";
  private record: StudyRecord | null = null;
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
      this.wanted = news.version;
      void this.take();
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

  /** Until the page has what the server last spoke of: one request at a time. */
  private async take(): Promise<void> {
    if (this.fetching) {
      return;
    }
    this.fetching = true;
    try {
      let asked = "";
      while (this.wanted !== this.version && this.wanted !== asked) {
        asked = this.wanted; // the answer may be newer still: its event is on its way
        const answer = await fetch(`changes?since=${encodeURIComponent(this.version)}`, { cache: "no-store" });
        if (!answer.ok) {
          this.problem = `the server answers ${answer.status}`;
          break;
        }
        this.use((await answer.json()) as Update);
      }
    } catch {
      this.connected = false;
    } finally {
      this.fetching = false;
      this.tell();
    }
  }

  private use(update: Update): void {
    const before = this.record;
    this.record = null; // changes that cannot be applied leave nothing behind: the next answer is the whole record
    this.version = "";
    const record = update.record ?? (update.changes ?? []).reduce<unknown>((value, change) => changed(value, change), before);
    this.record = record as StudyRecord;
    this.version = update.version;
    this.moved = this.record.about.moved_at;
    this.show(this.record);
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
