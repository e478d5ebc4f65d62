"""The ranks and nodes of a job that is measured as a whole: one reader per node, one record of all."""
