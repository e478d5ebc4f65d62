"""Virtual hosts: network and UTS namespaces joined by links of limited rate, kept for any number of jobs."""
