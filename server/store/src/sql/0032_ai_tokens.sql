-- Of the tokens used, those that were bought: the others were included in the plan.
ALTER TABLE ai_usage ADD COLUMN purchased INTEGER NOT NULL DEFAULT 0;
