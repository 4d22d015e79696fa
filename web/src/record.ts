// What src/gpilot/report writes. A number that is not finite is null.
export type Num = number | null;
export type Column = Num[];

export interface Head {
  format: "gpilot-report";
  version: number;
  title: string;
  source: string;
  made_at: string;
  program: string;
  notes: string[];
}

export interface Prediction {
  mean: Column[];
  q025: Column[];
  q25: Column[];
  q75: Column[];
  q975: Column[];
  beyond: number[];
}

export interface Slices {
  inputs: string[];
  functions: string[];
  rest: Column;
  pairs: { x: number; y: number; n: number; range: [number, number, number, number]; sd: Column[] }[];
  points?: Column[];
  stride?: number;
  what?: string;
  failure?: string;
}

export interface ModelState {
  name: string;
  kind: string;
  equation: string;
  process_sd: Num;
  process_sd_fixed: boolean;
  function_sd?: Num;
  length_scales?: Record<string, Num>;
  relative_length_scales?: Record<string, Num>;
  weights?: Record<string, Num>;
  offset?: Num;
  explained?: Num;
}

export interface ModelDescription {
  library: string;
  rows: number;
  sequences: number;
  dt: number;
  kernel: string;
  inducing: number;
  inputs: string[];
  knowledge: string[];
  parameters: { name: string; unit: string; value: Num; sd: Num; low: Num; high: Num; determined: Num }[];
  warnings: string[];
  outputs: { name: string; words: string; noise_sd: Num; noise_sd_fixed: boolean }[];
  states: ModelState[];
  training: {
    status: string;
    message: string;
    bound: Num;
    chosen: string;
    reason: string;
    structure: string;
    calibration: string;
    explanation: string;
    held_out_words?: string;
    held_out: { runs: number; model: Column; linear: Column; hold: Column };
    candidates: { name: string; bound: Num; predictive_density: Num; validation: Num }[];
    evaluations: number;
  };
}

export interface Decision {
  training: number;
  after_step: number;
  step?: number;
  expected?: { mean: Column[]; sd: Column[] };
  plan?: { mean: Column[]; sd: Column[] };
  landscape?: { controls: Column[]; values: Column; reach: [Column, Column] };
  failure?: string;
}

export interface Training {
  training: number;
  after_step: number;
  status: string;
  bound: Num;
  seconds: Num;
  held_out?: Num;
  held_out_linear?: Num;
  parameters?: Record<string, Num>;
}

export interface StudyRecord extends Head {
  kind: "study";
  about: {
    name: string;
    created_at: string;
    moved_at: string;
    strategy: string;
    initial: number;
    steps: number;
    seed: string;
    dt: number;
    inputs: string[];
    outputs: string[];
    states: string[];
    input_units: string[];
    output_units: string[];
    box: { low: Column; high: Column };
    safe: Column;
    slew: Column;
    state_units: string[];
    state_outputs: (number | null)[]; // the output that measures a state
    until_sd: Num;
    limits: { low: Column; high: Column; delta: Num } | null;
    region: { name: string; low: Num; high: Num }[];
    words: [string, string][];
  };
  steps: {
    sequence: number[];
    phase: string[];
    status: string[];
    training: number[];
    set_aside: number[][]; // steps not learned from, by output
    asked: Column[];
    applied: Column[];
    outputs: Column[];
    criterion: Column;
    reference_sd: Column;
    violation: Column;
    asked_s: Column;
    closed_s: Column;
    plans: Record<string, Column[]>;
  };
  rows: { step: number[]; sequence: number[]; first_outputs: Column[] };
  one_step?: Prediction;
  free_run?: Prediction;
  states?: { mean: Column[]; sd: Column[] };
  slices?: Slices | null;
  model?: ModelDescription;
  trainings: Training[];
  decisions: Decision[];
  events: { at: string; step: number | null; kind: string; text: string }[];
  sequences: { id: number; origin: string; broad: boolean; reason: string }[];
}

export interface PairedTest {
  reference: string;
  lower: number;
  higher: number;
  median_difference: Num;
  median_ratio: Num;
  direction: number;
  p: Num;
  p_holm: Num;
}

export interface Statistics {
  mean: Num;
  sd: Num;
  median: Num;
  tests: PairedTest[];
}

export interface ComparisonSummary {
  trials: number;
  last_step: number;
  systems: {
    system: string;
    metrics: {
      metric: string;
      strategies: {
        strategy: string;
        steps: ({ step: number } & Statistics)[];
        area: Statistics;
        steps_to_random?: number;
      }[];
    }[];
    trainings: { strategy: string; statuses: Record<string, number>; chosen: Record<string, number> }[];
    violations?: {
      strategy: string;
      share: Num;
      low: Num;
      high: Num;
      initial: Num;
      expected: Num;
      no_safe_plan: Num;
    }[];
  }[];
  seconds_per_step: { system: string; strategy: string; choose: Num; train: Num; evaluate: Num }[];
}

export interface ComparisonRecord extends Head {
  kind: "comparison";
  about: {
    systems: string[];
    strategies: string[];
    trials: number;
    steps: number;
    initial: number;
    done: number;
    total: number;
    complete: number;
  };
  settings: Record<string, unknown>;
  systems: {
    name: string;
    metrics: string[];
    strategies: {
      name: string;
      trials: number[];
      failed: number;
      values: Column[][];
      choose_s: Column;
      train_s: Column;
    }[];
  }[];
  summary: ComparisonSummary | null;
}

export interface Score {
  count: number[];
  rmse: Column;
  nlpd: Column;
  coverage: Column[];
  pit: Column[];
}

export interface CorrelationTest {
  correlation: Column;
  statistic: Num;
  degrees: number;
  p: Num;
}

export interface ModelRecord extends Head {
  kind: "model";
  inputs: string[];
  outputs: string[];
  dt: number;
  warmup: number;
  draws: number;
  model?: ModelDescription;
  trace: Column;
  slices?: Slices | null;
  recordings: {
    name: string;
    rows: number;
    t: Column;
    controls: Column[];
    outputs: Column[];
    free_run: Prediction;
    one_step: Prediction;
    residuals: Column[];
    scores: Record<string, Score>;
    diverged: number;
    beyond: number;
  }[];
  residual_tests?: { count: number; whiteness: CorrelationTest; inputs: CorrelationTest[] }[];
}

export type Report = StudyRecord | ComparisonRecord | ModelRecord;
