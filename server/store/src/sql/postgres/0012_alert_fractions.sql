-- The share of a budget that raises its alert, in hundredths of a percent.
ALTER TABLE spending_alerts RENAME COLUMN threshold_percent TO threshold;
UPDATE spending_alerts SET threshold = threshold * 100;
