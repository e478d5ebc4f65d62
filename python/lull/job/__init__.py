"""The ranks and nodes of a job that is measured together: one reader for each node, one record of all."""
