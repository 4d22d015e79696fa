-- Version 1 of a study's file (PRAGMA user_version). Controls and outputs are JSON arrays, null = missing, with digits
-- that read back to the same bits. Times are UTC, ISO 8601. What each table is for stands in docs/studies.md.
CREATE TABLE study (
  id         INTEGER PRIMARY KEY CHECK (id = 1),
  config     TEXT NOT NULL,            -- the TOML text
  seed       TEXT NOT NULL,            -- 64 bits without sign
  version    TEXT NOT NULL,            -- of the library that made the file
  created_at TEXT NOT NULL
) STRICT;

-- Every process that opened the study to write.
CREATE TABLE sessions (
  id       INTEGER PRIMARY KEY,
  pid      INTEGER NOT NULL,
  host     TEXT NOT NULL,
  version  TEXT NOT NULL,
  begun_at TEXT NOT NULL,
  ended_at TEXT,                       -- NULL: still running, or died
  note     TEXT NOT NULL               -- e.g. whose lock it found
) STRICT;

-- Rows that follow from one another. A sequence that a reset began starts from the declared p(x_0), any other anywhere.
CREATE TABLE sequences (
  id       INTEGER PRIMARY KEY,
  origin   TEXT NOT NULL CHECK (origin IN ('first', 'reset', 'broken', 'imported')),
  broad    INTEGER NOT NULL CHECK (broad IN (0, 1)),
  outputs  TEXT NOT NULL,              -- of its first row
  reason   TEXT NOT NULL,              -- why it was begun
  begun_at TEXT NOT NULL,
  ended    INTEGER NOT NULL DEFAULT 0 CHECK (ended IN (0, 1))
) STRICT;

CREATE TABLE trainings (
  id          INTEGER PRIMARY KEY,
  after_step  INTEGER NOT NULL,        -- trained on all steps told up to this one
  status      TEXT NOT NULL,           -- 'failed' has no model
  message     TEXT NOT NULL,
  chosen      TEXT NOT NULL,
  bound       REAL,
  version     TEXT NOT NULL,
  model       TEXT,                    -- a model file; NULL once it is old
  seconds     REAL NOT NULL,
  finished_at TEXT NOT NULL
) STRICT;

CREATE TABLE steps (
  id          INTEGER PRIMARY KEY,
  sequence    INTEGER NOT NULL REFERENCES sequences (id),
  phase       TEXT NOT NULL CHECK (phase IN ('random', 'chosen', 'safe', 'imported')),
  status      TEXT NOT NULL CHECK (status IN ('asked', 'told', 'failed', 'unsafe', 'unknown')),
  asked       TEXT NOT NULL,
  applied     TEXT,                    -- NULL until told
  outputs     TEXT,                    -- NULL until told
  rig_time    REAL,                    -- the rig's own clock, s
  training    INTEGER REFERENCES trainings (id),   -- whose model chose the control
  criterion   REAL,
  evaluations INTEGER NOT NULL,
  reason      TEXT NOT NULL,           -- of a failure
  asked_at    TEXT NOT NULL,
  closed_at   TEXT                     -- told, or given up
) STRICT;
-- At most one step waits for its outputs.
CREATE UNIQUE INDEX pending_step ON steps (status) WHERE status = 'asked';

-- Outputs told for a step that had been given up: kept, not learned from.
CREATE TABLE late_tells (
  step     INTEGER NOT NULL REFERENCES steps (id),
  applied  TEXT NOT NULL,
  outputs  TEXT NOT NULL,
  rig_time REAL,
  told_at  TEXT NOT NULL,
  UNIQUE (step, applied, outputs)
) STRICT;
