import type { Column, Num } from "./record.js";

/** The rows [from, to) in at most about `most` buckets of equal width. */
export interface Bucket {
  from: number;
  to: number;
}

export function buckets(from: number, to: number, most: number): Bucket[] {
  const count = to - from;
  const width = Math.max(1, Math.ceil(count / most));
  const result: Bucket[] = [];
  for (let i = from; i < to; i += width) {
    result.push({ from: i, to: Math.min(i + width, to) });
  }
  return result;
}

export function fold(column: Column | undefined, bucket: Bucket, how: (a: number, b: number) => number): Num {
  let result: Num = null;
  for (let i = bucket.from; i < bucket.to; ++i) {
    const v = column?.[i];
    if (v !== null && v !== undefined) {
      result = result === null ? v : how(result, v);
    }
  }
  return result;
}

export const lowest = (column: Column | undefined, bucket: Bucket): Num => fold(column, bucket, Math.min);
export const highest = (column: Column | undefined, bucket: Bucket): Num => fold(column, bucket, Math.max);

export function average(column: Column | undefined, bucket: Bucket): Num {
  let sum = 0;
  let count = 0;
  for (let i = bucket.from; i < bucket.to; ++i) {
    const v = column?.[i];
    if (v !== null && v !== undefined) {
      sum += v;
      ++count;
    }
  }
  return count > 0 ? sum / count : null;
}

/** The rows of a bucket at which a column is lowest and highest: what must not be lost of measured points. */
export function extremes(column: Column | undefined, bucket: Bucket): number[] {
  if (!column) {
    return [];
  }
  let low = -1;
  let high = -1;
  for (let i = bucket.from; i < bucket.to; ++i) {
    const v = column[i];
    if (v === null || v === undefined) {
      continue;
    }
    if (low < 0 || v < column[low]!) {
      low = i;
    }
    if (high < 0 || v > column[high]!) {
      high = i;
    }
  }
  return low < 0 ? [] : low === high ? [low] : [Math.min(low, high), Math.max(low, high)];
}

/** Sorted copy without what is missing. */
export function sorted(values: Iterable<Num | undefined>): number[] {
  const result: number[] = [];
  for (const v of values) {
    if (v !== null && v !== undefined) {
      result.push(v);
    }
  }
  return result.sort((a, b) => a - b);
}

/** A quantile of values of which `missing` more are infinitely large; null if it is one of those. */
export function quantile(values: number[], q: number, missing = 0): Num {
  const n = values.length + missing;
  if (n === 0) {
    return null;
  }
  const at = q * (n - 1);
  const low = values[Math.floor(at)];
  const high = values[Math.ceil(at)];
  return low === undefined || high === undefined ? null : low + (at - Math.floor(at)) * (high - low);
}
