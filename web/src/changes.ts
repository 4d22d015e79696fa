// What src/gpilot/report/changes.cpp writes: how a record that the page holds becomes the newer one.
export interface Changes {
  "="?: unknown;
  "-"?: string[];
  "."?: Record<string, Changes>;
  n?: number;
  "#"?: [number, Changes][];
  "+"?: unknown[];
}

/** The newer value. Lists and objects are changed in place. */
export function changed(value: unknown, changes: Changes | null): unknown {
  if (changes === null) {
    return value;
  }
  if ("=" in changes) {
    return changes["="];
  }
  if (Array.isArray(value)) {
    value.length = changes.n ?? value.length;
    changes["#"]?.forEach(([i, change]) => (value[i] = changed(value[i], change)));
    changes["+"]?.forEach((item) => value.push(item));
    return value;
  }
  // A key may be any text: only own properties are set and read.
  const object = value as Record<string, unknown>;
  changes["-"]?.forEach((key) => delete object[key]);
  for (const [key, change] of Object.entries(changes["."] ?? {})) {
    const old = Object.prototype.hasOwnProperty.call(object, key) ? object[key] : undefined;
    Object.defineProperty(object, key, { value: changed(old, change), enumerable: true, configurable: true, writable: true });
  }
  return value;
}
