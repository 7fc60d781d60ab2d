-- What a language model took to read a turn: 0 where none was asked.
ALTER TABLE reading ADD COLUMN calls INTEGER NOT NULL DEFAULT 0;
ALTER TABLE reading ADD COLUMN prompt_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE reading ADD COLUMN completion_tokens INTEGER NOT NULL DEFAULT 0;
