-- Version 2: what a choice says about limits of outputs, and the plan that it is the beginning of.
ALTER TABLE steps ADD COLUMN violation REAL;      -- probability, under the model, that the plan leaves the limits
ALTER TABLE steps ADD COLUMN safe INTEGER NOT NULL DEFAULT 1 CHECK (safe IN (0, 1));   -- 0: no plan kept the limits
ALTER TABLE steps ADD COLUMN reference_sd REAL;   -- the model's sd where it will be used, before this step
ALTER TABLE steps ADD COLUMN plan TEXT;           -- the planned controls, a JSON array of them
