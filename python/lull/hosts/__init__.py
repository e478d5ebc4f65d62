"""Virtual hosts: network and UTS namespaces joined by links of limited rate, usable by any number of jobs."""
