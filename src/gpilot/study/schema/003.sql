-- Version 3: corrections of what was told, and a checksum of every row that results depend on: CRC-32 of its other
-- columns (src/gpilot/study/store_checksums.cpp).
ALTER TABLE steps ADD COLUMN voided INTEGER NOT NULL DEFAULT 0 CHECK (voided IN (0, 1));       -- 1: not learned from
ALTER TABLE steps ADD COLUMN fallback INTEGER NOT NULL DEFAULT 0 CHECK (fallback IN (0, 1));   -- 1: drawn after a failure

-- What was on record before a correction; what holds now stands in the step, or in the sequence.
CREATE TABLE corrections (
  id        INTEGER PRIMARY KEY,
  step      INTEGER REFERENCES steps (id),          -- one of the two
  sequence  INTEGER REFERENCES sequences (id),      -- the outputs of its first row
  voids     INTEGER NOT NULL CHECK (voids IN (0, 1)),   -- 0: other values were told
  why       TEXT NOT NULL,
  trainings INTEGER NOT NULL,          -- how many there were: those of them that knew the step decide no more
  voided    INTEGER NOT NULL CHECK (voided IN (0, 1)),  -- before
  applied   TEXT,                      -- before
  outputs   TEXT,                      -- before
  rig_time  REAL,                      -- before
  made_at   TEXT NOT NULL
) STRICT;

ALTER TABLE study ADD COLUMN checksum TEXT;
ALTER TABLE sequences ADD COLUMN checksum TEXT;
ALTER TABLE trainings ADD COLUMN checksum TEXT;
ALTER TABLE steps ADD COLUMN checksum TEXT;
ALTER TABLE late_tells ADD COLUMN checksum TEXT;
ALTER TABLE corrections ADD COLUMN checksum TEXT;
